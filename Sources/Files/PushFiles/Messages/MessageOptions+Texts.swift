package import PushModel
internal import QuietTime

/// What is wrong with an option, in a sentence without its end.
public struct OptionProblem: Error, Hashable, Sendable, CustomStringConvertible {
  /// The sentence.
  public let description: String

  /// A problem of a sentence.
  public init(_ description: String) { self.description = description }
}

/// Options as texts.
public struct MessageOptionTexts: Sendable {
  /// What separates the columns of CSV: one character, or `tab`.
  public var delimiter: String?
  /// The names of columns, like `at=Timestamp,ignore=*`.
  public var columns: String?
  /// The IANA zone of local times.
  public var zone: String?
  /// The first instant of messages.
  public var from: String?
  /// The first instant behind them.
  public var to: String?
  /// The conversations of the messages; none for all.
  public var conversations: [String] = []
  /// The users for whom they are decided; none for all.
  public var users: [String] = []

  private let prefix: String

  /// No options.
  ///
  /// - Parameter prefix: what problems write in front of the names of options.
  public init(prefix: String = "") { self.prefix = prefix }

  /// The options that the texts are.
  ///
  /// - Parameter hasCSV: whether some of the files are CSV.
  /// - Throws: ``OptionProblem``, or what is wrong with the machine's time zones.
  public func options(hasCSV: Bool) throws -> MessageOptions {
    var options = MessageOptions()
    if let delimiter { options.delimiter = try character(delimiter) }
    if let columns {
      do throws(ColumnNames.Mistake) {
        options.columns = try ColumnNames(ofMessages: columns)
      } catch {
        throw OptionProblem("\(prefix)columns \(columns): \(error.reason)")
      }
    }
    options.zone = try zone.map { try table($0) }
    options.slice = try slice(in: options.zone)
    let hasInstants = from != nil || to != nil
    if delimiter != nil || columns != nil || zone != nil && !hasInstants, !hasCSV {
      let names = "\(prefix)delimiter, \(prefix)columns and \(prefix)zone"
      throw OptionProblem("\(names) are for CSV; for a file of another name write csv:FILE")
    }
    return options
  }

  private func character(_ text: String) throws(OptionProblem) -> UInt8 {
    if text == "tab" || text == "\\t" { return UInt8(ascii: "\t") }
    let bytes = Array(text.utf8)
    let isTaken = text.contains { "\"\r\n".contains($0) || $0.isLetter || $0.isNumber }
    guard bytes.count == 1, bytes[0] < 0x80, !isTaken else {
      throw OptionProblem(
        "\(prefix)delimiter \(text) is not one character like ';' or '|', or the word tab")
    }
    return bytes[0]
  }

  private func table(_ name: String) throws -> ZoneTable {
    do throws(ZoneDataError) { return try ZoneTable(named: name) } catch {
      guard case .unknownName = error else { throw error }
      throw OptionProblem("\(prefix)zone \(name) is not a time zone; give an IANA name")
    }
  }

  private func slice(in zone: ZoneTable?) throws(OptionProblem) -> MessageSlice {
    var slice = MessageSlice()
    if let from { slice.from = try instant("from", from, zone) }
    if let to { slice.to = try instant("to", to, zone) }
    if let start = slice.from, let end = slice.to, start >= end {
      throw OptionProblem("\(prefix)from \(from ?? "") is not before \(prefix)to \(to ?? "")")
    }
    slice.conversations = Set(conversations.map { Identifier($0) })
    slice.users = Set(users.map { Identifier($0) })
    return slice
  }

  /// The instant of a day, of a time, or of Unix milliseconds, in UTC.
  package func instant(_ option: String, _ text: String) throws(OptionProblem) -> Instant {
    try instant(option, text, nil)
  }

  private func instant(
    _ option: String, _ text: String, _ zone: ZoneTable?
  ) throws(OptionProblem) -> Instant {
    if let instant = Instant(text: text) { return instant }
    let day = Instant.localMilliseconds(text + " 00:00")
    guard let local = Instant.localMilliseconds(text) ?? day else {
      throw OptionProblem(
        "\(prefix)\(option) \(text) is not an instant; give a day like 2024-06-03, a time like "
          + "2024-06-03T12:00 or 2024-06-03T12:00:00Z, or Unix milliseconds")
    }
    let second = zone.map {
      day == nil ? $0.firstSecond(ofLocal: local.seconds) : $0.firstSecond(ofDay: local.seconds)
    }
    guard let seconds = second ?? local.seconds,
      let instant = Instant(exactMilliseconds: seconds * 1000 + local.milliseconds)
    else {
      throw OptionProblem("\(prefix)\(option) \(text) does not exist in \(zone?.name ?? "UTC")")
    }
    return instant
  }
}
