import ArgumentParser
import Glibc
import PushStore

/// Two files of a command that are the same file, one of which would be written.
struct FileConflict: Error, CustomStringConvertible {
  let description: String
  /// Whether standard error is one of the two, so that no message may be written to it.
  let isOfStandardError: Bool

  /// Compares every file that a command writes, standard output and standard error too, with every
  /// other file that its arguments name, before any of them is opened.
  ///
  /// The arguments are found by their type, ``FileArgument``, wherever a command declares them.
  ///
  /// - Throws: for the same device and inode, and for the same name of files that are not there
  ///   yet. Pipes, terminals and devices like `/dev/null` may be named more than once.
  static func check(_ command: any ParsableCommand) throws(FileConflict) {
    var files: [Entry] = []
    collect(command, named: "", into: &files)
    for (index, output) in files.enumerated() where output.isOutput {
      for (otherIndex, other) in files.enumerated() where index != otherIndex {
        // Two outputs are compared once.
        if other.isOutput, otherIndex < index { continue }
        try compare(output, other)
      }
    }
    // Both of them may go to one file.
    for stream in [Entry.standardOutput, .standardError] where stream.identity != nil {
      for other in files { try compare(stream, other) }
    }
  }

  /// A file of a command.
  private struct Entry {
    enum Kind { case input, output, store, standardOutput, standardError }

    let option: String
    let path: String
    let kind: Kind
    let identity: FileIdentity?

    var isOutput: Bool { kind == .output }
    var text: String {
      kind == .standardOutput || kind == .standardError ? option : "\(option) \(path)"
    }

    static let standardOutput = Entry(
      option: "standard output", path: "/dev/stdout", kind: .standardOutput,
      identity: FileIdentity(descriptor: STDOUT_FILENO))
    static let standardError = Entry(
      option: "standard error", path: "/dev/stderr", kind: .standardError,
      identity: FileIdentity(descriptor: STDERR_FILENO))
  }

  private static func compare(_ output: Entry, _ other: Entry) throws(FileConflict) {
    if other.kind == .store {
      guard StoreReader.isFile(output.path, ofStore: other.path) else { return }
      throw FileConflict(
        description: "\(output.text) belongs to the store \(other.path); write somewhere else",
        isOfStandardError: output.kind == .standardError)
    }
    guard let identity = output.identity, identity == other.identity else { return }
    throw FileConflict(
      description: "\(output.text) and \(other.text) are the same file; write somewhere else",
      isOfStandardError: output.kind == .standardError)
  }

  private static func entry(_ file: NamedFile, _ option: String) -> Entry {
    switch file {
    case .input("-"):
      Entry(
        option: option, path: "-", kind: .input, identity: FileIdentity(descriptor: STDIN_FILENO))
    case .input(let path):
      Entry(option: option, path: path, kind: .input, identity: FileIdentity(path: path))
    case .output(let path):
      Entry(option: option, path: path, kind: .output, identity: FileIdentity(path: path))
    case .store(let path): Entry(option: option, path: path, kind: .store, identity: nil)
    }
  }

  private static func collect(_ value: Any, named option: String, into files: inout [Entry]) {
    if let argument = value as? any FileArgument {
      guard let file = argument.file else { return }
      files.append(entry(file, option))
      return
    }
    for child in Mirror(reflecting: value).children {
      let property = child.value as? any ParsedProperty
      let name = property.flatMap { property in child.label.map { property.shown($0) } }
      collect(child.value, named: name ?? option, into: &files)
    }
  }
}

/// A property that is read from the command line, and how its name is typed.
private protocol ParsedProperty {
  func shown(_ label: String) -> String
}

extension Option: ParsedProperty {
  /// `--time-zone` of `_timeZone`, the name that ArgumentParser makes of a property's.
  fileprivate func shown(_ label: String) -> String {
    "--"
      + label.drop { $0 == "_" }.map { $0.isUppercase ? "-\($0.lowercased())" : "\($0)" }.joined()
  }
}

extension Argument: ParsedProperty {
  fileprivate func shown(_ label: String) -> String { "<\(label.drop { $0 == "_" })>" }
}
