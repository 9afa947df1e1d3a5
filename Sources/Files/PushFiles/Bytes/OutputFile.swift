internal import CPushFiles
internal import Glibc
internal import PushSupport

/// Why a result could not be written.
public struct OutputProblem: Error, Hashable, Sendable, CustomStringConvertible {
  /// The path of the output, or what it is called.
  public let target: String
  /// The system's error message.
  public let reason: String

  public var description: String { "cannot write \(target): \(reason)" }

  /// Whether nobody reads standard output any more, as behind `| head`.
  public var isClosedPipe: Bool {
    target == OutputFile.standardOutput && reason == SystemError(EPIPE).message
  }
}

/// Where results go: standard output, or a file that appears under its name only when it is
/// complete.
///
/// A file is written under a temporary name beside its own and renamed by ``finish()``: it has all or
/// is not there. What is there already and is no regular file, like `/dev/null` or a pipe, is written
/// directly, as standard output is: what was made before an error has been written then.
public final class OutputFile {
  private let descriptor: Int32
  private let target: String
  private let isStandardOutput: Bool
  /// nil when it is written directly.
  private let file: AtomicFile?
  private var buffer: [UInt8] = []
  private var isOpen = true
  /// How many bytes were appended to the file, and how many of them the system has begun to
  /// write to the disk.
  private var (appended, writebackStarted) = (0, 0)

  fileprivate static let standardOutput = "standard output"
  private static let bufferSize = 256 * 1024
  /// So many bytes are written to the disk together, while the next ones are made: otherwise all of
  /// them are waited for at the end.
  private static let writebackSize = 8 << 20

  /// The name that is removed when the work is broken off; nil when there is none.
  public var temporaryName: String? { file?.temporary.path }

  /// The name that it gets when it is complete; nil when it is written directly.
  public var finalName: String? { file?.path }

  /// Standard output.
  public init() {
    descriptor = STDOUT_FILENO
    target = Self.standardOutput
    isStandardOutput = true
    file = nil
    buffer.reserveCapacity(Self.bufferSize + 4096)
  }

  /// A file; one of the same name is replaced by ``finish()``. A symbolic link stays one: the file
  /// that it leads to is replaced, or created when it is not there.
  public init(path: String) throws(OutputProblem) {
    target = path
    isStandardOutput = false
    var status = stat()
    let exists = unsafe stat(path, &status) == 0
    do throws(SystemError) {
      if exists, status.st_mode & S_IFMT != S_IFREG {
        descriptor = unsafe open(path, O_WRONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .last }
        file = nil
      } else {
        let final =
          if let real = FilePath.real(path) { real } else { try FilePath.end(ofLinks: path) }
        let file = try AtomicFile(
          final, temporary: TemporaryName(beside: final), mode: 0o666, syncsFolder: false)
        descriptor = file.descriptor
        self.file = file
      }
    } catch {
      throw OutputProblem(target: path, reason: error.message)
    }
    buffer.reserveCapacity(Self.bufferSize + 4096)
  }

  deinit { abandon() }

  /// Appends bytes. They may be held back until ``finish()``.
  public func write(_ bytes: some Sequence<UInt8>) throws(OutputProblem) {
    buffer.append(contentsOf: bytes)
    if buffer.count >= Self.bufferSize { try flush() }
  }

  /// Appends many bytes at once, without keeping large ones first.
  public func write(whole bytes: [UInt8]) throws(OutputProblem) {
    try write(whole: bytes[...])
  }

  /// The same for a part of an array.
  func write(whole bytes: ArraySlice<UInt8>) throws(OutputProblem) {
    if bytes.count < Self.bufferSize { return try write(bytes) }
    try flush()
    try writeAll(bytes)
  }

  /// Appends numbers, the lowest byte first.
  func write(numbers: [some FixedWidthInteger]) throws(OutputProblem) {
    try flush()
    try writeAll(numbers.map(\.littleEndian)[...])
  }

  /// Replaces the first bytes.
  func rewriteStart(_ bytes: [UInt8]) throws(OutputProblem) {
    try flush()
    try writeAll(bytes[...], at: 0)
  }

  /// Writes what was held back, to the disk: of several files that belong together, all before the
  /// first gets its name.
  public func sync() throws(OutputProblem) {
    try flush()
    try onSystem { () throws(SystemError) in try file?.sync() }
  }

  /// Writes what was held back and gives the file its name.
  public func finish() throws(OutputProblem) {
    try flush()
    try onSystem { () throws(SystemError) in try file?.finish() }
  }

  /// Drops a file that is not finished. What is written directly gets what was held back, unless
  /// that fails: an error is on its way already.
  public func abandon() {
    guard isOpen else { return }
    isOpen = false
    if let file { return file.abandon() }
    try? flush()
    if !isStandardOutput { close(descriptor) }
  }

  /// Writes what was held back.
  func flush() throws(OutputProblem) {
    // What could not be written is not tried again: part of it may be there.
    defer { buffer.removeAll(keepingCapacity: true) }
    try writeAll(buffer[...])
  }

  private func writeAll<Number: FixedWidthInteger>(
    _ numbers: ArraySlice<Number>, at offset: Int? = nil
  ) throws(OutputProblem) {
    // The standard library's method passes on no typed errors.
    let result = unsafe numbers.withUnsafeBytes { (bytes) -> Result<Void, SystemError> in
      do throws(SystemError) {
        return .success(try unsafe AtomicFile.write(bytes, to: descriptor, at: offset))
      } catch {
        return .failure(error)
      }
    }
    try onSystem { () throws(SystemError) in try result.get() }
    guard file != nil, offset == nil else { return }
    appended += numbers.count * MemoryLayout<Number>.stride
    if appended - writebackStarted >= Self.writebackSize {
      pf_start_writeback(descriptor, writebackStarted, appended - writebackStarted)
      writebackStarted = appended
    }
  }

  private func onSystem(_ body: () throws(SystemError) -> Void) throws(OutputProblem) {
    do throws(SystemError) { try body() } catch {
      throw OutputProblem(target: target, reason: error.message)
    }
  }
}
