public import PushContent
internal import PushFanout
public import PushModel
internal import PushSupport
public import QuietTime

/// What is wrong with a file that a user handed in: where, and what.
///
/// Printed it is one line, `FILE:LINE: what is wrong`. ``code`` is stable; the text may be
/// reworded.
public struct FileProblem: Error, Hashable, Sendable {
  /// The path of the file, or the name given to bytes.
  public let file: String
  /// The 1-based line, of a CSV record its first; nil where there is none, like in a missing file.
  public let line: Int?
  /// What is wrong, apart from where.
  public let problem: Problem

  /// A problem with a file, or with one of its lines (1-based).
  public init(file: String, line: Int?, problem: Problem) {
    self.file = file
    self.line = line
    self.problem = problem
  }

  /// What is wrong, apart from where.
  public enum Problem: Error, Hashable, Sendable {
    // The file
    /// The system refused to open the file; its words.
    case cannotOpen(String)
    /// Reading failed; the reason.
    case cannotRead(String)
    /// A folder where a file is expected.
    case isDirectory
    /// The file has no records.
    case isEmpty
    /// A CSV file has no header, as it has nothing but blank lines.
    case noHeader
    /// It is needed more than once, and is no regular file.
    case cannotBeReadAgain
    /// It was read twice, and not the same both times.
    case hasChanged
    /// The name ends in `.gz`, the content is not gzip.
    case notGzip
    /// The gzip data ends early.
    case gzipTruncated
    /// The gzip data does not pass its checks.
    case gzipCorrupt
    /// Bytes follow the gzip data.
    case gzipTrailing
    /// Neither name nor content identify the kind of file.
    case unknownFileKind
    /// An Arrow stream breaks the specification, or has a column that cannot be read; the reason.
    case arrow(String)
    /// By its first bytes the file is of a form that is not read.
    case otherForm(FileForm)
    /// A JSON array is not closed.
    case openArray
    // The line
    /// The line is over the limit.
    case tooLong
    /// The line is not valid UTF-8; the encoding that it is most likely in, as iconv calls it.
    case notUTF8(likely: String?)
    /// The JSON text ends early.
    case truncatedJSON
    /// The line is not JSON.
    case notJSON
    /// The first line of a file that is read as NDJSON, as its name says nothing else, is not JSON;
    /// the name by which the file is read as CSV.
    case notNDJSON(asCSV: String)
    /// The file is one JSON text over all its lines: an array, or else an object.
    case oneJSON(isArray: Bool)
    /// The first object is no record: it has neither a kind nor what a message has.
    case noRecord(UnknownRecord)
    /// JSON is nested too deeply.
    case tooDeep
    /// An object has this key twice.
    case repeatedKey(String)
    /// The line is JSON, but no object.
    case notAnObject
    /// A quote inside an unquoted CSV cell, or text behind a quoted one.
    case strayQuote
    /// A quoted CSV cell is not closed.
    case openQuote
    /// A carriage return without a line feed.
    case loneReturn
    /// The CSV header has unknown columns.
    case unknownColumns(UnknownColumns)
    /// The CSV header lacks a column that was named (``ColumnNames``); what it has.
    case noColumn(String, header: [String])
    /// The CSV header has this column twice.
    case repeatedColumn(String)
    /// The CSV header lacks this column.
    case missingColumn(String)
    /// An import has several CSV files of users, or of members, that have other columns.
    case otherColumns
    /// The row has another number of cells than the header.
    case cellCount(found: Int, expected: Int)
    // The record
    /// No kind of record has this name.
    case unknownKind(String)
    /// The record has an unknown field; the name that was most likely meant, if one is near.
    case unknownField(String, nearest: String?)
    /// The record lacks this field.
    case missingField(String)
    /// The field is of another JSON type than expected.
    case wrongType(String, expected: String)
    /// The field is an empty id.
    case emptyID(String)
    /// The field has none of the allowed values.
    case unknownValue(String, value: String, allowed: [String])
    /// The field, a level, holds no level; the rules whose levels are allowed, nil if they are not
    /// known.
    case unknownLevel(String, value: String, rules: RuleSet?)
    /// The field is outside of its range.
    case outOfRange(String, value: String, range: String)
    /// The field is not an instant.
    case notAnInstant(String, value: String)
    /// The field is a local time that a zone does not have, as clocks were put forward over it.
    case skippedTime(String, value: String, zone: String)
    /// A local time, where no time zone was given.
    case withoutOffset(String, value: String)
    /// Neither an instant nor a local time that is read.
    case notALocalTime(String, value: String)
    /// A local time that begins with the day or the month; whether a zone was given.
    case notYearFirst(String, value: String, hasZone: Bool)
    /// The field is not the name of a time zone.
    case unknownTimeZone(String, value: String)
    /// A message goes to users who are not decided for, as the system does not have their time zone.
    case unknownZones(UnknownZoneUsers)
    /// A time zone whose data cannot be used, or a system without a time-zone database.
    case timeZoneData(String, ZoneDataError)
    /// The rules refuse the value of the field.
    case refused(String, SettingsWriteError)
    /// Something that belongs to another rule set than the one whose rules apply.
    case fieldOfOtherRules(String, RuleSet, rules: RuleSet)
    /// Presence of users, where the rules have that of devices.
    case presenceOfUsers(RuleSet)
    /// Heartbeats of devices, where the rules have the presence of users.
    case presenceOfDevices(RuleSet)
    /// There is an app record already.
    case secondApp
    /// The user has two devices of this id.
    case repeatedDevice(String)
    /// The field is not a language tag.
    case notALanguage(String, value: String)
    /// There are two texts for this language.
    case repeatedLanguage(String)
    /// A record of this kind in a file of records of another.
    case wrongKind(String, expected: String)
    /// Two senders of a platform have this notifier, or none.
    case repeatedSender(String, notifier: String?)
    /// Two names of one field.
    case fieldTwice(String, String)
    /// What is wrong with a template, or with a field that names one.
    case template(String, TemplateProblem)
    // Between records
    /// The parent of the thread has no record.
    case parentMissing(String)
    /// The parent of the thread is not a group.
    case parentNotGroup(String)
    /// The parent of the thread is of a kind that has no threads.
    case parentWithoutThreads(String, ConversationKind)
    /// `follow`, in a conversation that is no thread.
    case followOutsideThread(String)
    /// `roles`, in a thread.
    case rolesInThread(String)
    /// A record in a thread that has no parent.
    case noParent(String)
    /// A thread or its members have `since`, which belongs to the parent.
    case sinceInThread(String)
    /// A member of a thread is not a member of its parent.
    case notInParent(user: String, parent: String)
    /// Levels of channels, in a conversation that is no ultra group.
    case channelsOutsideUltraGroup(String)
    /// The conversation is the parent of a thread.
    case parentOfThread(String, thread: String)
    /// A record that stays cannot be beside this one.
    case memberInTheWay(user: String, why: String)
    // Along time
    /// The record is earlier than the one before it.
    case outOfOrder(String)
    /// There is no conversation of this id.
    case unknownConversation(String)
    /// There is no user of this id.
    case unknownUser(String)
    /// The user has no such device.
    case unknownDevice(String, of: String)
    /// A change of the app names another rule set than the one that applies.
    case rulesChange(RuleSet)
    /// The change cannot be made; the reason.
    case cannotApply(String)
  }

  /// Whether reading can go on behind this line.
  public var isOfOneLine: Bool { problem.isOfOneLine }

  /// Whether another problem is of the same kind: what is wrong, apart from where and with which text.
  public func isLike(_ other: FileProblem) -> Bool { problem.name == other.problem.name }
}

extension FileProblem.Problem {
  /// The same where the rules are known.
  func under(_ rules: RuleSet) -> Self {
    guard case .unknownLevel(let name, let value, _) = self else { return self }
    return .unknownLevel(name, value: value, rules: rules)
  }

  /// An unknown field, and the field that was most likely meant.
  ///
  /// - Parameters:
  ///   - known: the fields that there are.
  ///   - object: the object in which they are, if it is not the record.
  static func unknownField(
    _ name: String, among known: [String], of object: String = ""
  ) -> Self {
    let prefix = object.isEmpty ? "" : object + "."
    let nearest =
      EditDistance.nearest(to: name, in: known) ?? ExportNames.column(of: name, in: known)
    return .unknownField(prefix + name, nearest: nearest.map { prefix + $0 })
  }

  /// The name of the case.
  fileprivate var name: String { Mirror(reflecting: self).children.first?.label ?? "\(self)" }

  /// Whether only one line is affected, and reading can go on behind it.
  var isOfOneLine: Bool { extent == .line }

  /// Where a problem that was found before the first record stands: on line 1, or on no line when
  /// the file could not even be opened.
  var lineAtOpening: Int? { extent == .wholeFile ? nil : 1 }

  /// What cannot be read because of a problem.
  private enum Extent { case wholeFile, fromHereOn, line }

  private var extent: Extent {
    switch self {
    case .cannotOpen, .isDirectory, .cannotBeReadAgain, .hasChanged, .unknownFileKind:
      .wholeFile
    case .cannotRead, .isEmpty, .notGzip, .gzipTruncated, .gzipCorrupt, .gzipTrailing, .openQuote,
      .noHeader, .notNDJSON, .oneJSON, .noRecord, .otherForm, .openArray, .unknownColumns,
      .noColumn, .repeatedColumn, .missingColumn, .otherColumns:
      .fromHereOn
    case .arrow, .tooLong, .notUTF8, .truncatedJSON, .notJSON, .tooDeep,
      .repeatedKey, .notAnObject, .strayQuote, .loneReturn, .cellCount, .unknownKind,
      .unknownField, .missingField, .wrongType, .emptyID, .unknownValue, .unknownLevel,
      .outOfRange, .notAnInstant, .skippedTime, .withoutOffset,
      .notALocalTime, .notYearFirst, .unknownTimeZone, .unknownZones, .timeZoneData,
      .refused, .fieldOfOtherRules, .presenceOfUsers, .presenceOfDevices, .secondApp,
      .repeatedDevice, .notALanguage, .repeatedLanguage, .wrongKind, .repeatedSender, .fieldTwice,
      .template,
      .parentMissing, .parentNotGroup, .parentWithoutThreads, .followOutsideThread, .rolesInThread,
      .noParent, .sinceInThread, .notInParent, .channelsOutsideUltraGroup, .parentOfThread,
      .memberInTheWay, .outOfOrder, .unknownConversation, .unknownUser, .unknownDevice,
      .rulesChange, .cannotApply:
      .line
    }
  }
}

extension FileProblem: CustomStringConvertible {
  public var description: String {
    "\(file):" + (line.map { "\($0):" } ?? "") + " \(problem)"
  }
}
