internal import Glibc
internal import PushSupport

/// A folder of results that appears under its name only when all its files are complete.
public final class OutputFolder {
  private let path: String
  private let temporary: TemporaryName
  private let names: [String]
  private var files: [OutputFile] = []
  private var isOpen = true

  /// What is removed when the work is broken off: the files under the names that they have first
  /// and last, and the folder.
  public var temporaryNames: [String] {
    names.map(path(of:)).flatMap { [TemporaryName(beside: $0).path, $0] } + [temporary.path]
  }

  /// Makes room for a new folder.
  ///
  /// - Parameters:
  ///   - names: all files that it may get.
  ///   - replacesEmpty: whether an empty folder may be there, whose place it takes.
  /// - Throws: when there is something of that name, or the folder cannot be made.
  public init(
    path: String, names: [String], replacesEmpty: Bool = false
  ) throws(OutputProblem) {
    let path = FilePath.trimmed(path)
    self.path = path
    self.names = names
    var status = stat()
    // A link that leads nowhere is something, too.
    if unsafe lstat(path, &status) == 0, !replacesEmpty || !Self.isEmptyFolder(path) {
      throw OutputProblem(target: path, reason: "there is something of that name; name another")
    }
    temporary = TemporaryName(beside: path)
    do throws(SystemError) { try temporary.createFolder(mode: 0o777) } catch {
      throw OutputProblem(target: path, reason: error.message)
    }
  }

  deinit { abandon() }

  /// Begins a file, one of the names given at first.
  public func file(_ name: String) throws(OutputProblem) -> OutputFile {
    precondition(names.contains(name))
    let file = try OutputFile(path: path(of: name))
    files.append(file)
    return file
  }

  /// Gives the folder its name, once its files are finished.
  public func finish() throws(OutputProblem) {
    do throws(SystemError) { try temporary.replace(path) } catch {
      throw OutputProblem(target: path, reason: error.message)
    }
    isOpen = false
  }

  /// Drops a folder that is not finished.
  public func abandon() {
    guard isOpen else { return }
    isOpen = false
    for file in files { file.abandon() }
    for name in temporaryNames.dropLast() { _ = unsafe unlink(name) }
    temporary.removeFolder()
  }

  private static func isEmptyFolder(_ path: String) -> Bool {
    guard let folder = unsafe opendir(path) else { return false }
    defer { unsafe closedir(folder) }
    // Itself and the one that it is in.
    return unsafe readdir(folder) != nil && readdir(folder) != nil && readdir(folder) == nil
  }

  private func path(of name: String) -> String { "\(temporary.path)/\(name)" }
}
