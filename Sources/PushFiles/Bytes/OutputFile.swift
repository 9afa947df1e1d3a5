internal import Glibc

/// Why a result could not be written.
public struct OutputProblem: Error, Hashable, Sendable, CustomStringConvertible {
  /// The path of the output, or what it is called.
  public let target: String
  /// The system's error message.
  public let reason: String

  public var description: String { "cannot write \(target): \(reason)" }
}

/// Where results go: standard output, or a file that appears under its name only when it is
/// complete.
///
/// A file is written under a temporary name beside its own and renamed by ``finish()``. What is
/// there already and is no regular file, like `/dev/null` or a pipe, is written directly.
public final class OutputFile {
  private let descriptor: Int32
  private let target: String
  private let isStandardOutput: Bool
  /// The temporary name, and the name it is to get; nil when it is written directly.
  private let names: (temporary: String, final: String)?
  private var buffer: [UInt8] = []
  private var isOpen = true

  private static let bufferSize = 256 * 1024

  /// The name that is removed when the work is broken off; nil when there is none.
  public var temporaryName: String? { names?.temporary }

  /// The name that it gets when it is complete; nil when it is written directly.
  public var finalName: String? { names?.final }

  /// Standard output.
  public init() {
    descriptor = STDOUT_FILENO
    target = "standard output"
    isStandardOutput = true
    names = nil
    buffer.reserveCapacity(Self.bufferSize + 4096)
  }

  /// A file; one of the same name is replaced by ``finish()``.
  public init(path: String) throws(OutputProblem) {
    target = path
    isStandardOutput = false
    var status = stat()
    let exists = unsafe stat(path, &status) == 0
    if exists, status.st_mode & S_IFMT != S_IFREG {
      descriptor = unsafe open(path, O_WRONLY | O_CLOEXEC)
      names = nil
    } else {
      let final = exists ? Self.resolved(path) : path
      let temporary = Self.temporaryName(for: final)
      descriptor = unsafe open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
      names = (temporary, final)
    }
    if descriptor < 0 {
      throw OutputProblem(target: path, reason: ByteReader.systemMessage())
    }
    buffer.reserveCapacity(Self.bufferSize + 4096)
  }

  deinit { abandon() }

  /// What a file is called until it is complete.
  static func temporaryName(for final: String) -> String { "\(final).\(getpid()).part" }

  /// Appends bytes. They may be held back until ``finish()``.
  public func write(_ bytes: some Sequence<UInt8>) throws(OutputProblem) {
    buffer.append(contentsOf: bytes)
    if buffer.count >= Self.bufferSize { try flush() }
  }

  /// Appends many bytes at once, without keeping large ones first.
  public func write(whole bytes: [UInt8]) throws(OutputProblem) {
    if bytes.count < Self.bufferSize { return try write(bytes) }
    try flush()
    try writeAll(bytes)
  }

  /// Appends numbers, the lowest byte first.
  func write(numbers: [UInt32]) throws(OutputProblem) {
    try flush()
    try writeAll(numbers.map(\.littleEndian))
  }

  /// Replaces the first bytes.
  func rewriteStart(_ bytes: [UInt8]) throws(OutputProblem) {
    try flush()
    let count = unsafe pwrite(descriptor, bytes, bytes.count, 0)
    guard count == bytes.count else { throw problem() }
  }

  /// Writes what was held back, to the disk: of several files that belong together, all before the
  /// first gets its name.
  public func sync() throws(OutputProblem) {
    try flush()
    guard names == nil || fsync(descriptor) == 0 else { throw problem() }
  }

  /// Writes what was held back and gives the file its name.
  public func finish() throws(OutputProblem) {
    try sync()
    guard let names else { return }
    guard close(descriptor) == 0 else { throw problem() }
    isOpen = false
    guard unsafe rename(names.temporary, names.final) == 0 else {
      let problem = problem()
      _ = unsafe unlink(names.temporary)
      throw problem
    }
  }

  /// Drops a file that is not finished.
  public func abandon() {
    guard isOpen, !isStandardOutput, descriptor >= 0 else { return }
    isOpen = false
    close(descriptor)
    if let names { _ = unsafe unlink(names.temporary) }
  }

  private func flush() throws(OutputProblem) {
    try writeAll(buffer)
    buffer.removeAll(keepingCapacity: true)
  }

  private func writeAll<Number: FixedWidthInteger>(_ numbers: [Number]) throws(OutputProblem) {
    let size = numbers.count * MemoryLayout<Number>.stride
    var written = 0
    while written < size {
      let count = unsafe numbers.withUnsafeBytes { bytes in
        unsafe Glibc.write(descriptor, bytes.baseAddress! + written, size - written)
      }
      if count >= 0 {
        written += count
      } else if errno != EINTR {
        throw problem()
      }
    }
  }

  private func problem() -> OutputProblem {
    OutputProblem(target: target, reason: ByteReader.systemMessage())
  }

  private static func resolved(_ path: String) -> String {
    guard let real = unsafe realpath(path, nil) else { return path }
    defer { unsafe free(real) }
    return unsafe String(cString: real)
  }
}
