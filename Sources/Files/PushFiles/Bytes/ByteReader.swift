internal import CPushFiles
internal import Glibc
internal import PushSupport

/// The bytes of a file, unpacked if its name ends in `.gz`; `-` is standard input, and there may be
/// bytes in memory instead.
@safe
final class ByteReader {
  let path: String
  /// -1 where the bytes are in memory.
  private let descriptor: Int32
  private let memory: [UInt8]
  private let gzip: OpaquePointer?
  private let packed: UnsafeMutableRawBufferPointer
  private var packedRange = 0..<0
  private var reachedEnd = false
  /// Whether the bytes read so far end where a gzip member ends.
  private var atMemberEnd = false
  /// Bytes of the file itself that have been read.
  private var bytesRead: Int64 = 0
  /// Bytes of the file itself; nil when it is not a regular file.
  let byteCount: Int64?
  /// Bytes that were handed out, unpacked.
  private var unpackedCount: Int64 = 0

  private static let packedCapacity = 256 * 1024

  convenience init(_ source: FileSource) throws(FileProblem.Problem) {
    switch source {
    case .path(let path): try self.init(path: path)
    case .bytes(let bytes, let name): self.init(bytes, name: name)
    }
  }

  init(_ bytes: [UInt8], name: String) {
    path = name
    descriptor = -1
    memory = bytes
    byteCount = Int64(bytes.count)
    unsafe gzip = FilePath.has(name, extension: ".gz") ? pf_gzip_create() : nil
    unsafe packed = .allocate(byteCount: gzip == nil ? 0 : Self.packedCapacity, alignment: 64)
  }

  init(path: String) throws(FileProblem.Problem) {
    self.path = path
    memory = []
    descriptor = path == "-" ? STDIN_FILENO : unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw .cannotOpen(SystemError.last.message) }
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0 else {
      throw .cannotOpen(SystemError.last.message)
    }
    let kind = status.st_mode & S_IFMT
    if kind == S_IFDIR {
      if path != "-" { close(descriptor) }
      throw .isDirectory
    }
    guard !FilePath.has(path, extension: ".parquet") else {
      close(descriptor)
      throw .isParquet
    }
    byteCount = kind == S_IFREG ? Int64(status.st_size) : nil
    unsafe gzip = FilePath.has(path, extension: ".gz") ? pf_gzip_create() : nil
    unsafe packed = .allocate(byteCount: Self.packedCapacity, alignment: 64)
  }

  deinit {
    if descriptor >= 0, path != "-" { close(descriptor) }
    unsafe packed.deallocate()
    if let gzip = unsafe gzip { unsafe pf_gzip_destroy(gzip) }
  }

  /// The share of the file that is done when so many of the bytes that were handed out are not,
  /// 0...1; nil when the file's size is not known.
  func share(waiting: Int) -> Double? {
    guard let byteCount, byteCount > 0, unpackedCount > 0 else { return nil }
    return Double(bytesRead) / Double(byteCount) * (1 - Double(waiting) / Double(unpackedCount))
  }

  /// Reads up to the whole of `buffer`.
  ///
  /// - Returns: how many bytes; 0 at the end of the file.
  func read(into buffer: UnsafeMutableRawBufferPointer) throws(FileProblem.Problem) -> Int {
    let count = try unsafe unpack(into: buffer)
    if unpackedCount == 0, count > 1 { try unsafe TextEncoding.refuseUTF16(buffer) }
    unpackedCount += Int64(count)
    return count
  }

  private func unpack(
    into buffer: UnsafeMutableRawBufferPointer
  ) throws(FileProblem.Problem) -> Int {
    guard let gzip = unsafe gzip else { return try unsafe readFile(into: buffer) }
    guard let output = buffer.baseAddress else { return 0 }
    while true {
      if packedRange.isEmpty, !reachedEnd {
        let count = try unsafe readFile(into: packed)
        packedRange = 0..<count
        reachedEnd = count == 0
      }
      var inputUsed = 0
      var outputUsed = 0
      let range = packedRange
      let input = unsafe packed.baseAddress! + range.lowerBound
      let status = unsafe pf_gzip_inflate(
        gzip, input.assumingMemoryBound(to: UInt8.self), range.count, &inputUsed,
        output.assumingMemoryBound(to: UInt8.self), buffer.count, &outputUsed)
      packedRange = (range.lowerBound + inputUsed)..<range.upperBound
      switch status {
      case PF_GZIP_MORE: atMemberEnd = false
      case PF_GZIP_AT_END: atMemberEnd = true
      case PF_GZIP_NOT_GZIP: throw .notGzip
      case PF_GZIP_TRAILING: throw .gzipTrailing
      case PF_GZIP_NO_MEMORY: throw .cannotRead("out of memory")
      default: throw .gzipCorrupt
      }
      if outputUsed > 0 { return outputUsed }
      if reachedEnd {
        if bytesRead == 0 { throw .isEmpty }
        guard atMemberEnd else { throw .gzipTruncated }
        return 0
      }
    }
  }

  private func readFile(
    into buffer: UnsafeMutableRawBufferPointer
  ) throws(FileProblem.Problem) -> Int {
    if descriptor < 0 {
      let start = Int(bytesRead)
      let count = min(buffer.count, memory.count - start)
      unsafe memory[start..<start + count].withUnsafeBytes { unsafe buffer.copyMemory(from: $0) }
      bytesRead += Int64(count)
      return count
    }
    while true {
      let count = unsafe Glibc.read(descriptor, buffer.baseAddress, buffer.count)
      if count >= 0 {
        bytesRead += Int64(count)
        return count
      }
      if errno != EINTR { throw .cannotRead(SystemError.last.message) }
    }
  }
}
