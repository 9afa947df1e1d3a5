internal import PushModel

/// What the export leaves out and the server's API says (section 2).
struct MattermostOverlays {
  struct User {
    var props = MattermostUserProps()
    var firstName: String?
    var timeZone: String?
    var mutedUntil: Int64 = 0
  }

  private(set) var users: [String: User] = [:]
  /// By `TEAM/CHANNEL` and the user's name.
  private(set) var members: [[String]: MattermostMemberProps] = [:]
  private(set) var groups: [String: [String]] = [:]
  private var names: [String: String] = [:]
  /// Whether there are users at all.
  private(set) var hasUsers = false

  init(_ options: MattermostOptions) throws(ImportProblem) {
    let reader = JSONReader()
    if let path = options.users {
      hasUsers = true
      try Self.read(path, reader) { (row) throws(RecordProblem) in try addUser(row) }
    }
    if let path = options.statuses {
      try Self.read(path, reader) { (row) throws(RecordProblem) in try addStatus(row) }
    }
    names = [:]
    if let path = options.members {
      try Self.read(path, reader) { (row) throws(RecordProblem) in try addMember(row) }
    }
    if let path = options.groups {
      try Self.read(path, reader) { (row) throws(RecordProblem) in
        guard let name = row["name"] else { throw .missing("name") }
        guard let members = row["members"] else { throw .missing("members") }
        var found: [String] = []
        for member in try members.array("members") { found.append(try member.id("members")) }
        groups[try name.id("name").lowercased()] = found
      }
    }
  }

  private static func read(
    _ path: String, _ reader: JSONReader, _ add: (JSONNode) throws(RecordProblem) -> Void
  ) throws(ImportProblem) {
    let input = try InputFile(path)
    guard try input.next() else { return }
    let pieces = try LinePieces(input, takesArray: true)
    while let piece = try pieces.next() {
      try unsafe piece.forEachLine { (line, number) throws(ImportProblem) in
        do throws(RecordProblem) { try add(try unsafe reader.parseObject(line)) } catch {
          throw ImportProblem(piece.file, line: number, error.text)
        }
      }
    }
  }

  private mutating func addUser(_ row: JSONNode) throws(RecordProblem) {
    guard let username = row["username"] else { throw .missing("username") }
    let name = try username.id("username")
    var user = User()
    if let props = row["notify_props"] {
      user.props = try MattermostUserProps(try props.object("notify_props"), isOverlay: true)
    }
    user.firstName = try row["first_name"]?.text("first_name")
    if let zone = try row["timezone"]?.object("timezone") {
      let isAutomatic = zone["useAutomaticTimezone"].map { "true" ~= $0 || $0.isTrue } ?? false
      let field = isAutomatic ? zone["automaticTimezone"] : zone["manualTimezone"]
      if let text = try field?.text("timezone"), !text.isEmpty { user.timeZone = text }
    }
    if let id = row["id"] { names[try id.id("id")] = name }
    users[name] = user
  }

  /// Status dnd or ooo is a mute (I-25).
  private mutating func addStatus(_ row: JSONNode) throws(RecordProblem) {
    guard let id = row["user_id"] else { throw .missing("user_id") }
    guard let status = row["status"] else { throw .missing("status") }
    let end = try row["dnd_end_time"]?.whole("dnd_end_time") ?? 0
    let (name, text) = (try id.id("user_id"), try status.text("status"))
    guard text == "dnd" || text == "ooo", let name = names[name] else { return }
    let isEnding = text == "dnd" && end > 0
    users[name]?.mutedUntil =
      isEnding
      ? min(end.multipliedReportingOverflow(by: 1000).partialValue, ImportedMember.always)
      : ImportedMember.always
  }

  private mutating func addMember(_ row: JSONNode) throws(RecordProblem) {
    // Direct channels have no team.
    guard let team = try row["team"]?.text("team"), !team.isEmpty else { return }
    guard let channel = row["channel"] else { throw .missing("channel") }
    guard let username = row["username"] else { throw .missing("username") }
    guard let props = row["notify_props"] else { return }
    members[["\(team)/\(try channel.id("channel"))", try username.id("username")]] =
      try MattermostMemberProps(try props.object("notify_props"), isOverlay: true)
  }
}
