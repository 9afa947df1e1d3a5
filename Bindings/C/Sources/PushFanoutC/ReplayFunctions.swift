// swift-format-ignore-file: AlwaysUseLowerCamelCase
internal import CPushFanoutABI
internal import PushContent
internal import PushFanout
internal import PushFiles
internal import PushModel
internal import PushReplay
internal import PushReport
internal import PushService
internal import QuietTime

/// What a replay or a comparison came to.
final class ResultObject: HandleObject, Sendable {
  let content: ReplayFile.Content

  init(_ content: ReplayFile.Content) { self.content = content }

  var json: [UInt8] {
    get throws {
      switch content {
      case .replay(let result): try ReplayFile.bytes(result)
      case .comparison(let result): try ReplayFile.bytes(result)
      }
    }
  }
}

// MARK: Input

/// The options of a call, a JSON object by the names of the command's options.
private struct CallOptions {
  private let object: JSONObject?

  /// - Parameter known: the names that there are.
  init(_ bytes: UnsafePointer<CChar>?, _ size: Int, known: [String]) throws {
    let text = try unsafe PushFanoutC.bytes(bytes, size, "options are")
    do throws(FileProblem.Problem) {
      object = isBlank(text) ? nil : try JSONObject(text)
    } catch {
      throw CallError("options: \(error)", status: PF_INVALID)
    }
    for name in object?.names ?? [] where !known.contains(name) {
      throw CallError(
        "there is no option \"\(name)\"; there are \(known.sorted().joined(separator: ", "))")
    }
  }

  /// Reads an option, whose type may be wrong.
  private func read<Value>(
    _ body: (JSONObject) throws(FileProblem.Problem) -> Value?
  ) throws -> Value? {
    guard let object else { return nil }
    do throws(FileProblem.Problem) { return try body(object) } catch {
      throw CallError("options: \(error)", status: PF_INVALID)
    }
  }

  func text(_ name: String) throws -> String? {
    try read { (object) throws(FileProblem.Problem) in try object.text(name) }
  }

  func texts(_ name: String) throws -> [String]? {
    try read { (object) throws(FileProblem.Problem) in try object.texts(name) }
  }

  func flag(_ name: String) throws -> Bool {
    try read { (object) throws(FileProblem.Problem) in try object.flag(name) } ?? false
  }

  func whole(_ name: String) throws -> Int? {
    try read { (object) throws(FileProblem.Problem) in try object.whole(name) }.map { Int($0) }
  }

  /// A file that rows go to, by an option with its path.
  func output(_ name: String) throws -> OutputFile? {
    guard let path = try text(name) else { return nil }
    guard path != "-", !path.isEmpty else {
      throw CallError("\(name) is \"\(path)\"; name a file")
    }
    return try OutputFile(path: path)
  }

  func rateLimit() throws -> Int? {
    try text("rate-limit").map { text in
      guard let rate = PushRate(text) else {
        throw OptionProblem("rate-limit \(text) is not a rate like 10000/s")
      }
      return rate.perSecond
    }
  }

  func changes(_ name: String) throws -> [WhatIf]? {
    try texts(name)?.map { text in
      let change = WhatIf(text)
      if let mistake = change.mistake { throw OptionProblem("\(name) \(text) is \(mistake)") }
      if let path = change.path { try checkNotStandardInput(path) }
      return change
    }
  }

  /// Those that replays and comparisons have in common.
  static let common = [
    "time-zone", "rate-limit", "from", "to", "conversation", "user", "delimiter", "columns", "zone",
  ]
}

/// Gives files that are complete their names, after all are on the disk.
private func finish(_ files: [OutputFile?]) throws {
  for file in files { try file?.sync() }
  for file in files { try file?.finish() }
}

/// Standard input is the host's.
func checkNotStandardInput(_ path: String) throws {
  guard FileKind.file(named: path) != "-" else {
    throw CallError("a path is \"\(path)\"; name a file")
  }
}

extension ReplayFiles {
  /// What a caller gives.
  fileprivate init(
    _ traffic: UnsafePointer<pf_traffic>?, _ options: CallOptions, of engine: OpaquePointer?
  ) throws {
    guard let traffic = unsafe traffic,
      unsafe traffic.pointee.struct_size >= MemoryLayout<pf_traffic>.stride
    else { throw CallError("traffic is NULL, or its struct_size is not that of pf_traffic") }
    var contents: [String: [UInt8]] = [:]
    func names(_ files: UnsafePointer<pf_file>?, _ count: Int) throws -> [String] {
      guard unsafe files != nil || count == 0 else {
        throw CallError("files are NULL, but their count is not 0")
      }
      return try (0..<count).compactMap { index in
        let file = unsafe files.unsafelyUnwrapped[index]
        let name = try unsafe text(file.name.bytes, file.name.size, "the name of a file")
        guard unsafe file.content.bytes != nil else {
          try checkNotStandardInput(name)
          return name
        }
        guard contents[name] == nil else {
          throw CallError("the content of \"\(name)\" is given twice")
        }
        let content = try unsafe bytes(file.content.bytes, file.content.size, "content is")
        if isBlank(content) { return nil }
        contents[name] = content
        return name
      }
    }
    let given = unsafe traffic.pointee
    self.init(
      messages: try unsafe names(given.messages, given.message_count),
      presence: try unsafe names(given.presence, given.presence_count),
      changes: try unsafe names(given.changes, given.change_count))
    self.contents = contents
    for index in unsafe 0..<given.read_count {
      guard let list = unsafe given.read else {
        throw CallError("read messages are NULL, but their count is not 0")
      }
      read.append(("messages", try unsafe MessagesObject.at(list[index], of: engine).messages))
    }
    unknownZones = unsafe EngineObject.of(engine).unknownZones
    var texts = MessageOptionTexts()
    texts.delimiter = try options.text("delimiter")
    texts.columns = try options.text("columns")
    texts.zone = try options.text("zone")
    (texts.from, texts.to) = (try options.text("from"), try options.text("to"))
    texts.conversations = try options.texts("conversation") ?? []
    texts.users = try options.texts("user") ?? []
    self.options = try texts.options(hasCSV: messages.contains { FileKind(path: $0) == .csv })
  }
}

/// Threads read and decide, which do not exist in some children.
private func checkHasThreads() throws {
  guard pf_lost_threads() == 0 else {
    throw CallError(
      "this is a child of a fork, which has not the threads that a replay works on; replay in a "
        + "process that was started", status: PF_FORKED)
  }
  pf_note_threads()
}

// MARK: Functions

@c @implementation
func pf_swift_replay(
  _ engine: OpaquePointer?, _ traffic: UnsafePointer<pf_traffic>?,
  _ options: UnsafePointer<CChar>?, _ size: Int, _ watch: UnsafePointer<pf_watch>?,
  _ result: UnsafeMutablePointer<OpaquePointer?>?, _ error: ErrorText
) -> Int32 {
  unsafe answering(error) {
    let output = try unsafe PushFanoutC.result(result)
    let given = try unsafe CallOptions(
      options, size,
      known: CallOptions.common + [
        "hold", "held", "people", "per-person", "skip-invalid", "follow-user",
        "follow-conversation", "top",
      ])
    let object = unsafe EngineObject.of(engine)
    let files = try unsafe ReplayFiles(traffic, given, of: engine)
    var options = ReplayOptions()
    options.holds = try given.flag("hold")
    if let path = try given.text("held"), try path == given.text("people") {
      throw OptionProblem("held and people are one file, \(path)")
    }
    options.timeZone = try given.text("time-zone")
    options.rateLimit = try given.rateLimit()
    options.followedUser = try given.text("follow-user").map { Identifier($0) }
    options.followedConversation = try given.text("follow-conversation").map { Identifier($0) }
    options.nanoseconds = { UInt64(Watch.now) }
    let skips = try given.flag("skip-invalid")
    try checkHasThreads()
    let names = try object.service.content
    let (held, people) = (try given.output("held"), try given.output("people"))
    let top = try given.whole("top")
    if let top, top < 0 { throw OptionProblem("top \(top) is negative") }
    options.countsPeople = try given.flag("per-person") || people != nil || (top ?? 0) > 0
    options.userLimit = top ?? options.userLimit
    let heldText = HeldText(path: try given.text("held") ?? "")
    var watch = unsafe Watch(watch)
    var replayed = try Replayer.replay(
      files, on: object.engine.fork(), options, skipped: skips ? { _ in } : nil,
      heldRows: held.map { file in
        Replayer.HeldRows(heldText) { try file.write(whole: $0) }
      },
      people: people.map { file in PeopleRows { try file.write(whole: $0) } }
    ) { done, _, _ in try watch.ask(done.messages) }
    replayed.nameConversations { names.name(of: Identifier($0)) }
    try finish([held, people])
    unsafe output.pointee = try ResultObject(.replay(replayed)).handle(PF_KIND_result, of: engine)
  }
}

@c @implementation
func pf_swift_compare(
  _ engine: OpaquePointer?, _ traffic: UnsafePointer<pf_traffic>?,
  _ options: UnsafePointer<CChar>?, _ size: Int, _ watch: UnsafePointer<pf_watch>?,
  _ result: UnsafeMutablePointer<OpaquePointer?>?, _ error: ErrorText
) -> Int32 {
  unsafe answering(error) {
    let output = try unsafe PushFanoutC.result(result)
    let given = try unsafe CallOptions(
      options, size, known: CallOptions.common + ["a", "b", "name-a", "name-b", "people", "top"])
    let object = unsafe EngineObject.of(engine)
    let files = try unsafe ReplayFiles(traffic, given, of: engine)
    guard files.changes.isEmpty else {
      throw CallError("a comparison has no changes of settings along time")
    }
    // A world may have other rules, which read a message otherwise.
    guard files.read.isEmpty else {
      throw CallError("a comparison reads messages itself; give what they are of")
    }
    guard let b = try given.changes("b"), !b.isEmpty else {
      throw CallError("there is no option \"b\", or it is empty: what is compared with what is")
    }
    var options = CompareOptions()
    options.timeZone = try given.text("time-zone")
    options.rateLimit = try given.rateLimit()
    options.names = (try given.text("name-a"), try given.text("name-b"))
    options.userLimit = try given.whole("top") ?? options.userLimit
    if options.userLimit < 0 { throw OptionProblem("top \(options.userLimit) is negative") }
    options.nanoseconds = { UInt64(Watch.now) }
    try checkHasThreads()
    let names = try object.service.content
    let people = try given.output("people")
    var watch = unsafe Watch(watch)
    var compared = try Comparer.compare(
      files, a: try given.changes("a") ?? [], b: b, options, skipped: nil,
      people: people.map { file in PeopleRows { try file.write(whole: $0) } }
    ) { done, _ in
      try watch.ask(done.messages)
    } world: {
      object.engine.fork()
    }
    compared.nameConversations { names.name(of: Identifier($0)) }
    try finish([people])
    unsafe output.pointee = try ResultObject(.comparison(compared)).handle(
      PF_KIND_result, of: engine)
  }
}

@c @implementation
func pf_swift_result_json(
  _ result: OpaquePointer?, _ json: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?,
  _ size: UnsafeMutablePointer<Int>?, _ error: ErrorText
) -> Int32 {
  unsafe answering(error) {
    let output = try unsafe PushFanoutC.result(json)
    let bytes = try unsafe ResultObject.at(result).json
    unsafe output.pointee = copy(bytes)
    unsafe size?.pointee = bytes.count
  }
}

@c @implementation
func pf_swift_result_html(
  _ result: OpaquePointer?, _ options: UnsafePointer<CChar>?, _ size: Int,
  _ html: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?,
  _ htmlSize: UnsafeMutablePointer<Int>?, _ error: ErrorText
) -> Int32 {
  unsafe answering(error) {
    let output = try unsafe PushFanoutC.result(html)
    let given = try unsafe CallOptions(
      options, size, known: ["title", "note", "price-per-million", "print-figures"])
    let price = try given.text("price-per-million").map { text in
      guard let price = PushPrice(text) else {
        throw OptionProblem("price-per-million \(text) is not a price like 0.50, $0.50 or 0.50 EUR")
      }
      return price
    }
    let page = try unsafe ResultObject.at(result).content.html(
      title: given.text("title"), price: price, note: given.text("note"),
      printsFigures: given.flag("print-figures"))
    unsafe output.pointee = copy(page.utf8)
    unsafe htmlSize?.pointee = page.utf8.count
  }
}
