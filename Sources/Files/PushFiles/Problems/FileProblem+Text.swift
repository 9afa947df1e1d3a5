internal import PushModel
internal import PushSupport

extension FileProblem.Problem: CustomStringConvertible {
  public var description: String {
    switch self {
    case .cannotOpen(let why): "cannot be opened: \(why)"
    case .cannotRead(let why): "cannot be read: \(why)"
    case .isDirectory: "is a directory; name a file"
    case .isEmpty: "the file is empty"
    case .noHeader: "has no header; the first line of CSV names the columns"
    case .cannotBeReadAgain: "is read twice; give a file that can be read again"
    case .hasChanged: "has changed while it was read"
    case .notGzip: "is not gzip data, although its name ends in .gz"
    case .gzipTruncated: "the gzip data ends too early; the file was cut off"
    case .gzipCorrupt: "the gzip data is damaged"
    case .gzipTrailing: "the gzip data is followed by bytes that are not gzip"
    case .unknownFileKind:
      "is neither NDJSON nor CSV by its name; it must end in .ndjson, .jsonl, .json or .csv, "
        + "with or without .gz"
    case .arrow(let why): printable(why, limit: 240)
    case .otherForm(let form): form.text
    case .openArray: "the JSON array is never closed; the file was cut off"
    case .tooLong: "the line is longer than \(PieceReader.maximumLineBytes) bytes"
    case .notUTF8(let likely):
      "the line is not UTF-8" + (likely.map { "; is it \($0)? iconv -f \($0) -t UTF-8" } ?? "")
    case .oneJSON(isArray: true):
      "the file is one JSON array; one object a line is needed: jq -c '.[]'"
    case .oneJSON(isArray: false):
      "the file is JSON over several lines; one object a line is needed: jq -c . (of a list in it jq -c "
        + "'.NAME[]')"
    case .noRecord(let record): record.text
    case .truncatedJSON: "the JSON ends too early; the line was cut off"
    case .notJSON: "the line is not JSON"
    case .notNDJSON(let name):
      "the line is not JSON; by its name it is read as NDJSON, for CSV write \(printable(name))"
    case .tooDeep: "the JSON is nested too deeply"
    case .repeatedKey(let key): "the key \(quoted(key)) is repeated in one object"
    case .notAnObject: "the line is not a JSON object"
    case .strayQuote: "a misplaced quote; quote the whole cell and double its quotes"
    case .openQuote: "a quoted cell is never closed"
    case .loneReturn: "a carriage return without a line feed ends a row"
    case .unknownColumns(let columns): columns.text
    case .noColumn(let name, let header):
      "there is no column \(quoted(name)), which --columns names; "
        + (EditDistance.nearest(to: name, in: header).map { "did you mean \(quoted($0))? " } ?? "")
        + "The file has \(header.map { quoted($0) }.joined(separator: ", "))"
    case .repeatedColumn(let name): "the column \(quoted(name)) is repeated"
    case .missingColumn(let name): "the column \(quoted(name)) is missing"
    case .otherColumns:
      "has other columns than the file before; import the files one after the other"
    case .cellCount(let found, let expected):
      "\(found) cells in a row of \(expected) columns"
    case .unknownKind(let kind):
      "unknown kind \(quoted(kind)); the kinds are app, user, conversation and member"
    case .unknownField(let name, let nearest):
      "unknown field \(quoted(name))" + (nearest.map { "; did you mean \(quoted($0))?" } ?? "")
    case .missingField(let name): "the field \(quoted(name)) is missing"
    case .wrongType(let name, let expected): "\(quoted(name)) must be \(expected)"
    case .emptyID(let name): "\(quoted(name)) must not be empty"
    case .unknownLevel(let name, let value, let rules):
      FileProblem.Problem.unknownValue(
        name, value: value,
        allowed: rules?.levelNames ?? NotificationLevel.ofVendors.map(\.name)
      ).description
    case .unknownValue(let name, let value, let allowed):
      "\(quoted(name)) cannot be \(quoted(value)); "
        + (EditDistance.nearest(to: value, in: allowed).map { "did you mean \($0)? It" } ?? "it")
        + " is one of \(allowed.joined(separator: ", "))"
    case .outOfRange(let name, let value, let range):
      "\(quoted(name)): \(printable(value)) is not in \(range)"
    case .withoutOffset(let name, let value):
      "\(quoted(name)): \(printable(value)) has no offset; say its time zone, like --zone Europe/Berlin"
    case .notALocalTime(let name, let value):
      "\(quoted(name)): \(printable(value)) is no time; give one like 2024-06-03 23:30:00 or "
        + "2024/6/3 23:30 (year first, 24 hours, in --zone), an RFC 3339 time, or Unix milliseconds"
        + excel(value)
    case .notYearFirst(let name, let value, let hasZone):
      "\(quoted(name)): \(printable(value)) \(WrittenDate.order(of: value) ?? "is not year first"); "
        + (hasZone ? "with --zone write year first" : "write year first and name its --zone")
        + ", or convert: \(UnknownColumns.guide)"
    case .notAnInstant(let name, let value):
      "\(quoted(name)): \(printable(value)) is not an instant; give Unix milliseconds, 0 to 9007199254740991, "
        + "or an RFC 3339 time with an offset or Z"
        + excel(value)
    case .skippedTime(let name, let value, let zone):
      "\(quoted(name)): \(printable(value)) does not exist in \(printable(zone)), where clocks were "
        + "put forward over it"
    case .unknownTimeZone(let name, let value):
      "\(quoted(name)): \(quoted(value)) is not a time zone of the IANA database"
    case .unknownZones(let users): "it goes to \(users)"
    case .timeZoneData(let name, let error): "\(quoted(name)): \(error)"
    case .refused(let name, let error): "\(quoted(name)): \(printable("\(error)"))"
    case .fieldOfOtherRules(let name, let owner, let rules):
      "\(printable(name)) belongs to \(owner.rawValue), but the rules are \(rules.rawValue)"
    case .presenceOfUsers(let rules):
      "rows say which users are online; under the rules \(rules.rawValue) devices are: give "
        + "heartbeats, a file presence.ndjson of {user, device, state, seenAt}"
    case .presenceOfDevices(let rules):
      "heartbeats are of open rules; under the rules \(rules.rawValue) presence is of users: give a "
        + "file presence.csv of ts, conversation, user, online"
    case .secondApp: "a second app; there is at most one"
    case .repeatedDevice(let id): "the device \(quoted(id)) is listed twice"
    case .notALanguage(let name, let value):
      "\(quoted(name)): \(quoted(value)) is not a language tag, like en or zh-Hans"
    case .repeatedLanguage(let tag): "the language \(quoted(tag)) is repeated"
    case .wrongKind(let kind, let expected):
      "the kind \(quoted(kind)) does not belong into a file of \(expected)s; its kind is \(expected)"
    case .repeatedSender(let platform, let notifier):
      "a second sender of \(platform) "
        + (notifier.map { "for the notifier \(quoted($0))" } ?? "without a notifier")
    case .fieldTwice(let name, let other):
      "\(quoted(name)) and \(quoted(other)) are the same field; give one of them"
    case .template(let name, let error):
      "\(quoted(name)): \(printable("\(error)", limit: 240))"
    case .parentMissing(let parent): "the parent \(quoted(parent)) is not a known conversation"
    case .parentNotGroup(let parent): "the parent \(quoted(parent)) is not a group"
    case .parentWithoutThreads(let parent, let kind):
      "the parent \(quoted(parent)) is a \(kind.rawValue); threads are below groups and private "
        + "conversations"
    case .followOutsideThread(let conversation):
      "\"follow\" is not allowed in \(quoted(conversation)), which is not a thread"
    case .rolesInThread(let conversation):
      "\"roles\" is not allowed in \(quoted(conversation)), a thread: those of its parent count"
    case .noParent(let conversation):
      "a record in \(quoted(conversation)), a thread without a parent, which has no members"
    case .sinceInThread(let conversation):
      "\"since\" is not allowed in \(quoted(conversation)), a thread: its recipients are its parent's"
    case .notInParent(let user, let parent):
      "\(quoted(user)) is not a member of \(quoted(parent)), the thread's parent"
    case .channelsOutsideUltraGroup(let conversation):
      "\"channels\" is not allowed in \(quoted(conversation)), which is not an ultra group"
    case .parentOfThread(let id, let thread):
      "\(quoted(id)) is the parent of the thread \(quoted(thread)), so it must be a group"
    case .memberInTheWay(let user, let why):
      "the record of the member \(quoted(user)) conflicts with it: \(why)"
    case .outOfOrder(let what): "the instant is earlier than that of the \(what) before"
    case .unknownConversation(let id): "there is no conversation \(quoted(id)) in the settings"
    case .unknownUser(let id): "there is no user \(quoted(id)) in the settings"
    case .unknownDevice(let device, let user):
      "the user \(quoted(user)) has no device \(quoted(device)) in the settings"
    case .cannotApply(let why): "cannot be applied: \(printable(why))"
    case .rulesChange(let rules): "the rules cannot change; they are \(rules.rawValue)"
    }
  }
}

/// What a text that is no instant is in Excel, as the end of a sentence; nothing if it is no day.
private func excel(_ text: String) -> String {
  WrittenDate.excelDay(text).map { "; Excel's day \(printable(text)) is \($0)" } ?? ""
}

/// A user's text in quotes, on one line and not too long.
func quoted(_ text: String) -> String { "\"\(printable(text))\"" }

/// A user's text on one line and not too long.
func printable(_ text: String, limit: Int = 120) -> String {
  var shown = ""
  for scalar in text.unicodeScalars.prefix(limit) {
    let isControl = scalar.properties.generalCategory == .control || scalar == "\u{2028}"
    shown += isControl ? scalar.escaped(asASCII: true) : String(scalar)
  }
  return text.unicodeScalars.count > limit ? shown + "…" : shown
}
