import ArgumentParser
import PushFanout
import PushFiles
import PushModel
import PushSupport
import QuietTime

/// Messages: NDJSON, or CSV by its name or with `csv:` in front.
struct MessagesPath: FileArgument {
  let name: String

  init(argument: String) { name = argument }

  var file: NamedFile? { .input(FileKind.file(named: name)) }
}

/// Files of messages, for commands that go through them once.
struct MessageInput: ParsableArguments {
  @Option(
    parsing: .upToNextOption,
    help: ArgumentHelp(
      "Messages, NDJSON or (by its name) CSV; - for NDJSON on standard input, csv:- for CSV. Several "
        + "are read one after the other.", valueName: "file"))
  var messages: [MessagesPath]

  @OptionGroup var form: MessageFormOptions

  @OptionGroup var slice: SliceOptions

  /// - Parameter users: those for whom messages are decided; none for all.
  func options(users: [String] = []) throws -> MessageOptions {
    try form.options(messages, slice, users: users)
  }

  /// Readers of the files.
  func readers(_ rules: RuleSet, _ options: MessageOptions) throws -> [MessageReader] {
    let names = messages.map(\.name)
    for (index, name) in names.enumerated() where names[..<index].contains(name) {
      try FileProblem.checkCanBeReadAgain(name)
    }
    return try names.map { try MessageReader(path: $0, rules: rules, options) }
  }

  func validate() throws { _ = try options() }
}

/// How CSV of messages is written that comes from elsewhere.
struct MessageFormOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "What separates the columns of CSV messages, like ';', or tab. Items of a list may then be "
        + "separated by commas. (default: a comma)", valueName: "character"))
  var delimiter: String?

  @Option(
    help: ArgumentHelp(
      "The names that CSV messages have for columns, like at=Timestamp,sender='Sent by'; "
        + "ignore=NAME leaves a column out, ignore=* all unknown ones.", valueName: "names"))
  var columns: String?

  @Option(
    help: ArgumentHelp(
      "The zone of local times in CSV messages, and of --from and --to. (default: UTC for --from "
        + "and --to; instants in files need an offset)", valueName: "zone"))
  var zone: String?

  /// How messages of these files are read, and which.
  func options(
    _ paths: [MessagesPath], _ slice: SliceOptions, users: [String]
  ) throws -> MessageOptions {
    var options = MessageOptions()
    if let delimiter { options.delimiter = try Self.delimiter(delimiter) }
    if let columns {
      do throws(ColumnNames.Mistake) {
        options.columns = try ColumnNames(ofMessages: columns)
      } catch {
        throw ValidationError("--columns \(columns): \(error.reason).")
      }
    }
    options.zone = try zone.map { try Self.table($0) }
    options.slice = try slice.slice(in: options.zone, users: users)
    let isForCSV = delimiter != nil || columns != nil || zone != nil && !slice.hasInstants
    if isForCSV, !paths.contains(where: { FileKind(path: $0.name) == .csv }) {
      throw ValidationError(
        "--delimiter, --columns and --zone are for CSV; for a file of another name write csv:FILE.")
    }
    return options
  }

  private static func delimiter(_ text: String) throws -> UInt8 {
    if text == "tab" || text == "\\t" { return UInt8(ascii: "\t") }
    let bytes = Array(text.utf8)
    let isTaken = "\"\r\n".contains(text) || text.contains { $0.isLetter || $0.isNumber }
    guard bytes.count == 1, bytes[0] < 0x80, !isTaken else {
      throw ValidationError(
        "--delimiter \(text) is not one character like ';' or '|', or the word tab.")
    }
    return bytes[0]
  }

  private static func table(_ name: String) throws -> ZoneTable {
    do throws(ZoneDataError) { return try ZoneTable(named: name) } catch {
      guard case .unknownName = error else { throw error }
      throw ValidationError("--zone \(name) is not a time zone; give an IANA name.")
    }
  }
}

/// Which messages count. Whatever reads or decides them goes by ``MessageSlice``.
struct SliceOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Only messages from this instant on: a day, a time, or Unix milliseconds.",
      valueName: "instant"))
  var from: String?

  @Option(
    help: ArgumentHelp("Only messages before this instant.", valueName: "instant"))
  var to: String?

  @Option(
    parsing: .upToNextOption,
    help: ArgumentHelp("Only messages of these conversations.", valueName: "id"))
  var conversation: [String] = []

  var hasInstants: Bool { from != nil || to != nil }

  func slice(in zone: ZoneTable?, users: [String]) throws -> MessageSlice {
    var slice = MessageSlice()
    slice.from = try from.map { try Self.instant("--from", $0, zone) }
    slice.to = try to.map { try Self.instant("--to", $0, zone) }
    if let from = slice.from, let to = slice.to, from >= to {
      throw ValidationError("--from \(self.from ?? "") is not before --to \(self.to ?? "").")
    }
    slice.conversations = Set(conversation.map { Identifier($0) })
    slice.users = Set(users.map { Identifier($0) })
    return slice
  }

  private static func instant(
    _ option: String, _ text: String, _ zone: ZoneTable?
  ) throws -> Instant {
    if let instant = Instant(text: text) { return instant }
    guard
      let local = Instant.localMilliseconds(text) ?? Instant.localMilliseconds(text + " 00:00")
    else {
      throw ValidationError(
        "\(option) \(text) is not an instant; give a day like 2024-06-03, a time like "
          + "2024-06-03T12:00 or 2024-06-03T12:00:00Z, or Unix milliseconds.")
    }
    guard let seconds = zone.map({ $0.firstSecond(ofLocal: local.seconds) }) ?? local.seconds,
      let instant = Instant(exactMilliseconds: seconds * 1000 + local.milliseconds)
    else {
      throw ValidationError("\(option) \(text) does not exist in \(zone?.name ?? "UTC").")
    }
    return instant
  }
}

/// For whom messages are decided.
struct UsersOption: ParsableArguments {
  @Option(
    parsing: .upToNextOption,
    help: ArgumentHelp(
      "Only decisions for these users; rooms keep their sizes.", valueName: "id"))
  var user: [String] = []
}
