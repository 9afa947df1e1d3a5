import ArgumentParser
import PushFiles
import PushReplay

/// An argument that names a file.
///
/// Every file that an option or an argument names has one of these types, by which ``FileConflict``
/// finds it before the command runs.
protocol FileArgument: ExpressibleByArgument {
  /// nil when the text names no file.
  var file: NamedFile? { get }
}

extension FileArgument {
  static var defaultCompletionKind: CompletionKind { .file() }
}

/// A file, and what a command does with it.
enum NamedFile {
  /// Read; `-` is standard input.
  case input(String)
  /// Written, or replaced; a folder too.
  case output(String)
  /// A store, with the files beside it.
  case store(String)
}

/// A file that a command reads.
struct InputPath: FileArgument {
  let path: String

  init(argument: String) { path = argument }

  var file: NamedFile? { .input(path) }
}

/// A file or folder that a command writes.
struct OutputPath: FileArgument {
  let path: String

  init(argument: String) { path = argument }

  var file: NamedFile? { .output(path) }

  /// Opens it as a file, which appears when it is complete.
  func open() throws(OutputProblem) -> OutputFile { try OutputFile(path: path) }
}

/// A store that a command reads or writes.
struct StorePath: FileArgument {
  let path: String

  init(argument: String) { path = argument }

  var file: NamedFile? { .store(path) }
}

/// A change of the initial settings, which may be a settings file.
struct ChangeArgument: FileArgument {
  let text: String

  init(argument: String) { text = argument }

  var change: WhatIf { WhatIf(text) }
  var file: NamedFile? { change.path.map { .input($0) } }
}
