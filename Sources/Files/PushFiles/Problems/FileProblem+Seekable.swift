internal import Glibc

extension FileProblem {
  /// Checks that a file can be read more than once, as standard input and a pipe cannot.
  ///
  /// A missing file passes: opening it reports the error.
  ///
  /// - Parameter name: the path of the file, or `csv:` and the path.
  /// - Throws: ``Problem/cannotBeReadAgain``.
  public static func checkCanBeReadAgain(_ name: String) throws(FileProblem) {
    let path = FileKind.file(named: name)
    var status = stat()
    let isFound = unsafe path != "-" && stat(path, &status) == 0
    let kind = status.st_mode & S_IFMT
    guard path == "-" || (isFound && kind != S_IFREG && kind != S_IFDIR) else { return }
    throw FileProblem(file: path, line: nil, problem: .cannotBeReadAgain)
  }
}
