internal import CPushKernels
internal import Glibc

/// A snapshot being written, under a temporary name until it is complete.
@safe struct SnapshotFile: ~Copyable {
  private let path: String
  private let temporary: String
  private let descriptor: Int32
  private let folder: Int32
  private var isFinished = false
  private var sections: [SnapshotSection] = []
  /// The offset of the section being written.
  private var start = SnapshotHeader.byteCount
  private var sums: [UInt64] = []
  /// The buffer for a block of the section.
  private let block: UnsafeMutableRawBufferPointer
  private var blockSize = 0
  private var filled = 0
  private var flushed = 0

  /// - Throws: ``SnapshotError``, if the file cannot be created.
  init(path: String) throws(SnapshotError) {
    var status = stat()
    if unsafe stat(path, &status) == 0, status.st_mode & S_IFMT != S_IFREG {
      throw SnapshotError(path: path, problem: .notAFile)
    }
    let parent = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
    let folder = unsafe open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard folder >= 0 else {
      throw SnapshotError(path: path, problem: .cannotWrite(Mapping.systemMessage))
    }
    let temporary = Fanout.temporaryName(ofSnapshot: path)
    // A process with the same id may have left a file behind.
    _ = unsafe unlink(temporary)
    // Readable by the owner only: it contains the seeds, with which colliding ids could be made.
    let descriptor = unsafe open(
      temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else {
      let problem = SnapshotError.Problem.cannotWrite(Mapping.systemMessage)
      close(folder)
      throw SnapshotError(path: path, problem: problem)
    }
    self.path = path
    self.temporary = temporary
    self.descriptor = descriptor
    self.folder = folder
    let size = SnapshotPart.allCases.map(\.blockSize).max() ?? 0
    unsafe block = .allocate(byteCount: size, alignment: SnapshotPart.alignment)
  }

  deinit {
    close(descriptor)
    close(folder)
    if !isFinished { _ = unsafe unlink(temporary) }
    unsafe block.deallocate()
  }

  // MARK: Sections

  mutating func begin(_ part: SnapshotPart) {
    sections.append(
      SnapshotSection(part: part, offset: start, byteCount: 0, elementCount: 0, checksum: 0))
    blockSize = part.blockSize
    filled = 0
    flushed = 0
    sums = []
  }

  mutating func append(_ bytes: UnsafeRawBufferPointer) throws(SnapshotError) {
    var rest = unsafe bytes
    while unsafe !rest.isEmpty {
      let count = min(rest.count, blockSize - filled)
      if let source = rest.baseAddress, let target = unsafe block.baseAddress {
        unsafe (target + filled).copyMemory(from: source, byteCount: count)
      }
      filled += count
      unsafe rest = UnsafeRawBufferPointer(rebasing: rest[count...])
      if filled == blockSize { try flush() }
    }
  }

  mutating func appendZeros(_ count: Int) throws(SnapshotError) {
    var rest = count
    while rest > 0 {
      let count = min(rest, blockSize - filled)
      if let target = unsafe block.baseAddress {
        unsafe (target + filled).initializeMemory(as: UInt8.self, repeating: 0, count: count)
      }
      filled += count
      rest -= count
      if filled == blockSize { try flush() }
    }
  }

  /// Pads the current page with zeros.
  mutating func appendPadding() throws(SnapshotError) {
    guard let page = sections[sections.count - 1].part.paging?.byteCount else { return }
    // Blocks consist of whole pages.
    let inPage = filled % page
    if inPage > 0 { try appendZeros(page - inPage) }
  }

  mutating func end(elementCount: Int) throws(SnapshotError) {
    let byteCount = flushed + filled
    try appendZeros(SnapshotPart.aligned(byteCount) - byteCount)
    try flush()
    sections[sections.count - 1].byteCount = byteCount
    sections[sections.count - 1].elementCount = elementCount
    sections[sections.count - 1].checksum = SnapshotSection.sum(sums)
    start += flushed
  }

  private mutating func flush() throws(SnapshotError) {
    guard filled > 0 else { return }
    let bytes = unsafe UnsafeRawBufferPointer(rebasing: block[..<filled])
    unsafe sums.append(
      pk_checksum(bytes.assumingMemoryBound(to: UInt8.self).baseAddress, bytes.count))
    try unsafe writeAll(bytes, at: start + flushed)
    flushed += filled
    filled = 0
  }

  // MARK: The file

  /// Writes the header, synchronizes the file and renames it to its final name.
  mutating func finish(_ identity: SnapshotIdentity, _ sequence: UInt64) throws(SnapshotError) {
    let header = SnapshotHeader(
      identity: identity, sequence: sequence, fileSize: start, sections: sections
    ).bytes
    guard unsafe pwrite(descriptor, header, header.count, 0) == header.count,
      fsync(descriptor) == 0, unsafe rename(temporary, path) == 0
    else { throw problem }
    isFinished = true
    // EINVAL: the file system does not support synchronizing a directory.
    guard fsync(folder) == 0 || errno == EINVAL else { throw problem }
  }

  private func writeAll(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(SnapshotError) {
    var written = 0
    while written < bytes.count, let memory = bytes.baseAddress {
      let count = unsafe pwrite(
        descriptor, memory + written, bytes.count - written, off_t(offset + written))
      if count > 0 {
        written += count
      } else if count == 0 || errno != EINTR {
        throw problem
      }
    }
  }

  private var problem: SnapshotError {
    SnapshotError(path: path, problem: .cannotWrite(Mapping.systemMessage))
  }
}
