internal import CPushKernels
internal import Glibc
internal import PushSupport

/// A snapshot being written, under a temporary name until it is complete.
@safe struct SnapshotFile: ~Copyable {
  private let file: AtomicFile
  private var sections: [SnapshotSection] = []
  /// What is written in place of some elements.
  var replaced: ReplacedElements?
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
    let temporary = TemporaryName(ofSnapshot: path)
    // A process with the same id may have left a file behind.
    temporary.remove()
    do throws(SystemError) {
      // Readable by the owner only: it contains the seeds, with which colliding ids could be made.
      file = try AtomicFile(path, temporary: temporary, mode: 0o600, syncsFolder: true)
    } catch {
      throw SnapshotError(path: path, problem: .cannotWrite(error.message))
    }
    let size = SnapshotPart.allCases.map(\.blockSize).max() ?? 0
    unsafe block = .allocate(byteCount: size, alignment: SnapshotPart.alignment)
  }

  deinit { unsafe block.deallocate() }

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
    let result = unsafe header.withUnsafeBytes { (bytes) -> Result<Void, SnapshotError> in
      do throws(SnapshotError) { return .success(try unsafe writeAll(bytes, at: 0)) } catch {
        return .failure(error)
      }
    }
    try result.get()
    do throws(SystemError) { try file.finish() } catch { throw problem(error) }
  }

  private func writeAll(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(SnapshotError) {
    do throws(SystemError) {
      try unsafe AtomicFile.write(bytes, to: file.descriptor, at: offset)
    } catch {
      throw problem(error)
    }
  }

  private func problem(_ error: SystemError) -> SnapshotError {
    SnapshotError(path: file.path, problem: .cannotWrite(error.message))
  }
}

/// The checksum of bytes in memory.
func checksum(_ bytes: [UInt8]) -> UInt64 { unsafe pk_checksum(bytes, bytes.count) }
