import Glibc

/// The arguments of the program as they were given.
enum CommandArguments {
  /// An argument whose bytes are not UTF-8. Swift's own list of arguments would replace them, so
  /// that another id or another file is meant.
  struct NotUTF8: Error, CustomStringConvertible {
    let argument: [UInt8]

    var description: String {
      let text = argument.map { byte in
        (0x20..<0x7F).contains(byte)
          ? String(UnicodeScalar(byte))
          : "\\x" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
      }
      return "the argument \(text.joined()) is not UTF-8; ids and names of files have to be"
    }
  }

  /// No argument can be read, not even the program's name.
  struct Unreadable: Error, CustomStringConvertible {
    let description = "no arguments can be read, as /proc is not mounted"
  }

  /// What follows the program's name, in the form that ArgumentParser takes.
  static func read() throws -> [String] {
    // Swift's runtime reads /proc/self/cmdline.
    if CommandLine.argc == 0 { throw Unreadable() }
    var arguments: [String] = []
    for index in 0..<Int(CommandLine.argc) {
      guard let bytes = unsafe CommandLine.unsafeArgv[index] else { break }
      guard let text = unsafe String(validatingCString: bytes) else {
        let count = unsafe strlen(bytes)
        throw NotUTF8(argument: (0..<count).map { unsafe UInt8(bitPattern: bytes[$0]) })
      }
      arguments.append(text)
    }
    return joiningValues(withoutOutput(separatingEmptyValues(Array(arguments.dropFirst()))))
  }

  /// Without `--output -`: results go to standard output where no output is named.
  static func withoutOutput(_ arguments: [String]) -> [String] {
    var kept: [String] = []
    for (index, argument) in arguments.enumerated() {
      if argument == "--" { return kept + arguments[index...] }
      if argument == "--output=-" { continue }
      if argument == "-", let option = kept.last, option == "-o" || option == "--output" {
        kept.removeLast()
      } else {
        kept.append(argument)
      }
    }
    return kept
  }

  /// The letters of options that may be typed with one dash.
  static let shortOptions = "hoq"

  /// `--user`, `-100123` as `--user=-100123`: what begins with one dash behind an option is its value,
  /// unless it is one of ``shortOptions``. ArgumentParser takes it for options of one letter.
  static func joiningValues(_ arguments: [String]) -> [String] {
    var joined: [String] = []
    for (index, argument) in arguments.enumerated() {
      if argument == "--" { return joined + arguments[index...] }
      guard argument.hasPrefix("-"), !argument.hasPrefix("--"), argument.count > 1,
        !argument.dropFirst().allSatisfy({ shortOptions.contains($0) }),
        let option = joined.last, option.hasPrefix("--"), !option.contains("=")
      else {
        joined.append(argument)
        continue
      }
      joined[joined.count - 1] = "\(option)=\(argument)"
    }
    return joined
  }

  /// `--option=` as `--option` and an empty value, which ArgumentParser takes for no value at all.
  static func separatingEmptyValues(_ arguments: [String]) -> [String] {
    let end = arguments.firstIndex(of: "--") ?? arguments.endIndex
    return arguments[..<end].flatMap { argument in
      let bytes = Array(argument.utf8)
      guard argument.hasPrefix("--"), bytes.count > 3,
        bytes.firstIndex(of: UInt8(ascii: "=")) == bytes.count - 1
      else { return [argument] }
      return [String(argument.dropLast()), ""]
    } + arguments[end...]
  }
}
