internal import CPushFiles
internal import Glibc
internal import PushSupport

/// The bytes of a file, unpacked if its name or its first bytes say that it is gzip; `-` is standard
/// input, and there may be bytes in memory instead. The items of JSON arrays are lines.
@safe
final class ByteReader {
  let path: String
  /// -1 where the bytes are in memory.
  private let descriptor: Int32
  private let memory: [UInt8]
  private var gzip: OpaquePointer?
  /// What was read of the file and is not used yet: packed, or the first bytes of another file.
  private let packed: UnsafeMutableRawBufferPointer
  private var packedRange = 0..<0
  private let takesArrays: Bool
  /// What of the text was read, where it may be arrays.
  private var text: JSONText?
  private var hasBegun = false
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
  /// The first bytes of gzip.
  private static let gzipMark: [UInt8] = [0x1F, 0x8B]

  /// - Parameter takesArrays: whether the file has lines of JSON, for which JSON arrays stand too.
  convenience init(
    _ source: FileSource, takesArrays: Bool = false
  ) throws(FileProblem.Problem) {
    switch source {
    case .path(let path): try self.init(path: path, takesArrays: takesArrays)
    case .bytes(let bytes, let name): self.init(bytes, name: name, takesArrays: takesArrays)
    }
  }

  init(_ bytes: [UInt8], name: String, takesArrays: Bool = false) {
    self.takesArrays = takesArrays
    path = name
    descriptor = -1
    memory = bytes
    byteCount = Int64(bytes.count)
    let isPacked = FilePath.has(name, extension: ".gz") || bytes.starts(with: Self.gzipMark)
    unsafe gzip = isPacked ? pf_gzip_create() : nil
    unsafe packed = .allocate(byteCount: isPacked ? Self.packedCapacity : 0, alignment: 64)
  }

  init(path: String, takesArrays: Bool = false) throws(FileProblem.Problem) {
    self.takesArrays = takesArrays
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
    let count: Int
    if takesArrays {
      if text == nil { text = try beginText() }
      guard let text else { return 0 }
      count = try unsafe text.read(into: buffer) { (input) throws(FileProblem.Problem) in
        try unsafe unpack(into: input)
      }
    } else {
      count = try unsafe unpack(into: buffer)
      if unpackedCount == 0 {
        try unsafe FileForm.check(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
      }
    }
    unpackedCount += Int64(count)
    return count
  }

  private func beginText() throws(FileProblem.Problem) -> JSONText {
    let isPacked = unsafe gzip != nil
    return try unsafe JSONText(size: descriptor < 0 && !isPacked ? memory.count : .max) {
      (first) throws(FileProblem.Problem) in
      let count = try unsafe unpack(into: first)
      try unsafe FileForm.check(UnsafeRawBufferPointer(rebasing: first[..<count]))
      return count
    }
  }

  /// Checks that the file has no form that is not read, without reading more of it.
  func checkForm() throws(FileProblem.Problem) {
    let first = UnsafeMutableRawBufferPointer.allocate(byteCount: 64, alignment: 1)
    defer { unsafe first.deallocate() }
    _ = try unsafe read(into: first)
  }

  /// The first bytes of a file say whether it is packed, whatever its name is.
  private func begin() throws(FileProblem.Problem) {
    hasBegun = true
    guard descriptor >= 0 else { return }
    let count = try unsafe readFile(into: packed)
    packedRange = 0..<count
    reachedEnd = count == 0
    if unsafe gzip == nil, unsafe packed[..<count].starts(with: Self.gzipMark) {
      unsafe gzip = pf_gzip_create()
    }
  }

  private func unpack(
    into buffer: UnsafeMutableRawBufferPointer
  ) throws(FileProblem.Problem) -> Int {
    if !hasBegun { try begin() }
    guard let gzip = unsafe gzip else {
      if packedRange.isEmpty { return try unsafe readFile(into: buffer) }
      let count = min(buffer.count, packedRange.count)
      unsafe buffer.copyBytes(from: packed[packedRange.prefix(count)])
      packedRange.removeFirst(count)
      return count
    }
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

/// A text of lines of JSON, for which the items of JSON arrays may stand.
@safe private final class JSONText {
  /// The state of the reading of arrays; nil for a text of lines.
  private var arrays: pf_json_arrays?
  private let input: UnsafeMutableRawBufferPointer
  /// What of the input is not used yet.
  private var range = 0..<0
  private var reachedEnd = false

  /// Whether a text is arrays is seen in so many bytes of it.
  private static let inputSize = 64 * 1024

  /// - Parameters:
  ///   - size: how many bytes there are at most.
  ///   - more: reads the first of them.
  init(
    size: Int, _ more: (UnsafeMutableRawBufferPointer) throws(FileProblem.Problem) -> Int
  ) throws(FileProblem.Problem) {
    unsafe input = .allocate(byteCount: min(max(size, 1), Self.inputSize), alignment: 64)
    range = 0..<(try unsafe more(input))
    let first = unsafe input.baseAddress?.assumingMemoryBound(to: UInt8.self)
    if unsafe pf_json_is_arrays(first, range.count) { arrays = pf_json_arrays() }
  }

  deinit { unsafe input.deallocate() }

  /// Reads bytes of lines; 0 at the end.
  ///
  /// - Parameter more: reads more of the text.
  func read(
    into buffer: UnsafeMutableRawBufferPointer,
    _ more: (UnsafeMutableRawBufferPointer) throws(FileProblem.Problem) -> Int
  ) throws(FileProblem.Problem) -> Int {
    if arrays != nil { return try unsafe readItems(into: buffer, more) }
    if range.isEmpty { return try unsafe more(buffer) }
    let count = min(buffer.count, range.count)
    unsafe buffer.copyBytes(from: input[range.prefix(count)])
    range.removeFirst(count)
    return count
  }

  private func readItems(
    into buffer: UnsafeMutableRawBufferPointer,
    _ more: (UnsafeMutableRawBufferPointer) throws(FileProblem.Problem) -> Int
  ) throws(FileProblem.Problem) -> Int {
    let text = unsafe input.baseAddress!.assumingMemoryBound(to: UInt8.self)
    let output = unsafe buffer.baseAddress!.assumingMemoryBound(to: UInt8.self)
    while true {
      var used = 0
      let count = unsafe pf_json_items(
        &arrays!, text + range.lowerBound, range.count, &used, output, buffer.count)
      range.removeFirst(used)
      if count > 0 || reachedEnd { return count }
      range = 0..<(try unsafe more(input))
      reachedEnd = range.isEmpty
      let state = arrays!.state
      if reachedEnd, state != PF_ARRAY_OUTSIDE, state != PF_ARRAY_LINE { throw .openArray }
    }
  }
}
