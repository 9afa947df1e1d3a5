internal import PushModel
internal import PushSupport

/// Makes the world of the rows of an export, which come in any order.
final class ZulipWorld {
  private let world: ImportedWorld
  private let isZone: (String) -> Bool
  /// Messages and who was mentioned in them, by the message's id.
  private let sorter: RunSorter
  private var files: [String] = []
  private var realm = ""
  private var sequences: [Int: UInt64] = [:]
  private var flagCount: UInt64 = 0

  private var users: [ZulipRows.User] = []
  private var userIndices: [Int64: Int] = [:]
  private var others: [Int64: Bool] = [:]
  private var streams: [Int64: UInt32] = [:]
  private var recipients: [Int64: (type: Int64, typeID: Int64)] = [:]
  private var subscriptions: [ZulipRows.Subscription] = []
  private var topics: [ZulipRows.Topic] = []
  private var muted: [Int64: [Int64]] = [:]
  private var alertWords: [(user: Int64, line: Int)] = []

  /// The conversation of a group direct message's recipient.
  private var groups: [Int64: UInt32] = [:]
  /// The thread of a topic: the channel, and the name in lower case.
  private var threads: [TopicKey: UInt32] = [:]
  /// What members have set for channels, and people for topics, by the number of the record.
  private var settings: [ZulipChannelSettings] = []
  private var policies: [Int: ZulipPolicy] = [:]
  /// Pairs that write to each other, and the place of their first message (I-33).
  private var pairs: [Pair: UInt64] = [:]

  private struct TopicKey: Hashable {
    let channel: UInt32
    let name: String
  }

  private struct Pair: Hashable {
    let first: Int64
    let second: Int64

    init(_ one: Int64, _ other: Int64) { (first, second) = (min(one, other), max(one, other)) }

    var people: [Int64] { first == second ? [first] : [first, second] }
  }

  init(_ world: ImportedWorld, _ sorter: RunSorter, _ isZone: @escaping (String) -> Bool) {
    self.world = world
    self.sorter = sorter
    self.isZone = isZone
  }

  // MARK: Collecting

  /// - Parameters:
  ///   - name: the file.
  ///   - number: that of a file of messages, by which they are in order.
  func add(_ rows: ZulipRows, of name: String, _ number: Int) throws {
    for user in rows.users {
      if let index = userIndices[user.id] {
        users[index] = user
      } else {
        userIndices[user.id] = users.count
        users.append(user)
      }
    }
    if !rows.users.isEmpty || !rows.subscriptions.isEmpty { realm = name }
    for other in rows.others {
      others[other.id] = other.isBot
      count(other.isBot ? .bot : .inactiveUser, "\(name):\(other.line)")
    }
    for stream in rows.streams {
      streams[stream] = world.conversation("stream/\(stream)", .group)
    }
    for recipient in rows.recipients {
      recipients[recipient.id] = (recipient.type, recipient.typeID)
    }
    subscriptions += rows.subscriptions
    topics += rows.topics
    for (user, other) in rows.muted { muted[user, default: []].append(other) }
    alertWords += rows.alertWords
    try addMessages(rows, name, number)
  }

  private func addMessages(
    _ rows: ZulipRows, _ name: String, _ file: Int
  ) throws(ImportProblem) {
    if !rows.messages.isEmpty, files.last != name { files.append(name) }
    for message in rows.messages {
      let sequence = sequences[file, default: UInt64(file & 0x3F_FFFF) << 40]
      sequences[file] = sequence + 1
      try sorter.add(
        RunSorter.Key(first: message.id, second: sequence), Self.packed(message, files.count - 1))
    }
    for (message, user, mask) in rows.flags {
      flagCount += 1
      try sorter.add(
        RunSorter.Key(first: message, second: 1 << 63 | flagCount), Self.packed([user, mask]))
    }
  }

  private static func packed(_ numbers: [Int64]) -> [UInt8] {
    numbers.flatMap { number in (0..<8).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) } }
  }

  private static func packed(_ message: ZulipRows.Message, _ file: Int) -> [UInt8] {
    packed(
      [
        message.sender, message.recipient, message.at, message.isEdited ? 1 : 0, Int64(file),
        Int64(message.line),
      ]) + Array(message.topic.utf8)
  }

  private static func numbers(_ text: ArraySlice<UInt8>, _ count: Int) -> [Int64] {
    (0..<count).map { index in
      let start = text.startIndex + 8 * index
      return text[start..<start + 8].reversed().reduce(0) { $0 << 8 | Int64($1) }
    }
  }

  private func count(
    _ kind: UnsaidKind, _ example: @autoclosure () -> String, _ person: UInt32? = nil
  ) {
    world.report.count(kind, person: person, example())
  }

  // MARK: Settings

  /// Makes the world, once all rows were added.
  func finish() throws {
    for user in users { add(user) }
    for (user, line) in alertWords {
      count(.alertWord, "\(realm):\(line)", world.userNumber("\(user)"))
    }
    addGroups()
    for subscription in subscriptions { add(subscription) }
    subscriptions = []
    for topic in topics { add(topic) }
    topics = []
    try addMessages()
    for (pair, _) in pairs.sorted(by: { $0.value < $1.value }) { addDirect(pair.people) }
  }

  private func add(_ user: ZulipRows.User) {
    let number = world.user("\(user.id)")
    let place = "\(realm):\(user.line)"
    var record = ImportedUser()
    if user.isBot {
      record.hasNoDevices = true
      world.setUser(number, record)
      return count(.bot, place, number)
    }
    let channel = ZulipChannelSettings()
    record.level = user.settings.level(channel)
    record.mutedAllow = user.settings.mutedAllow
    if !user.timeZone.isEmpty {
      if isZone(user.timeZone) {
        record.timeZone = user.timeZone
      } else {
        count(.unknownValue, place, number)
      }
    }
    let blocked = muted[user.id] ?? []
    if blocked.count > OpenLimits.senders { count(.sendersDropped, place, number) }
    record.blockedSenders = blocked.prefix(OpenLimits.senders).map { "\($0)" }
    world.setUser(number, record)
    if user.isQuietWhileOnline { count(.quietWhileOnline, place, number) }
    if !user.isActive { count(.inactiveUser, place, number) }
  }

  /// The person of a number, if there is one who is active.
  private func active(_ id: Int64) -> (number: UInt32, user: ZulipRows.User)? {
    guard let index = userIndices[id], users[index].isActive, let number = world.userNumber("\(id)")
    else { return nil }
    return (number, users[index])
  }

  /// Makes group direct conversations of their subscriptions (I-33).
  private func addGroups() {
    var people: [Int64: [Int64]] = [:]
    var order: [Int64] = []
    for subscription in subscriptions where recipients[subscription.recipient]?.type == 3 {
      if people[subscription.recipient] == nil { order.append(subscription.recipient) }
      people[subscription.recipient, default: []].append(subscription.user)
    }
    for recipient in order { groups[recipient] = addDirect(people[recipient]!) }
  }

  /// A direct conversation with its members, and its number.
  @discardableResult private func addDirect(_ people: [Int64]) -> UInt32 {
    let people = Set(people).sorted()
    let conversation = world.conversation(Self.directID(people), .private)
    for id in people {
      if let (number, _) = active(id) {
        world.setMember(number, of: conversation, ImportedMember())
      } else if userIndices[id] == nil, others[id] == nil {
        count(.unknownRecipient, world.shown("\(id)"))
      }
    }
    return conversation
  }

  private static func directID(_ people: [Int64]) -> String {
    "dm/" + people.map { "\($0)" }.joined(separator: ",")
  }

  private func add(_ row: ZulipRows.Subscription) {
    guard let recipient = recipients[row.recipient] else {
      return count(.unknownRecipient, "\(realm):\(row.line)")
    }
    guard recipient.type == 2, row.isActive else { return }
    guard let channel = streams[recipient.typeID] else {
      return count(.unknownRoom, "\(realm):\(row.line)")
    }
    guard let (number, user) = active(row.user) else {
      if userIndices[row.user] == nil, others[row.user] == nil {
        count(.unknownRecipient, "\(realm):\(row.line)")
      }
      return
    }
    let own = ZulipChannelSettings(
      pushes: row.pushes, wildcards: row.wildcards, isMuted: row.isMuted)
    var record = ImportedMember()
    if own.isSet { record.level = user.settings.level(own) }
    if own.isMuted { record.mutedUntil = ImportedMember.always }
    world.setMember(number, of: channel, record)
    keep(own, number, channel)
  }

  private func keep(_ own: ZulipChannelSettings, _ user: UInt32, _ channel: UInt32) {
    guard let index = world.memberships.index(channel, user) else { return }
    while settings.count <= index { settings.append(ZulipChannelSettings()) }
    settings[index] = own
  }

  private func channelSettings(_ user: UInt32, _ channel: UInt32) -> ZulipChannelSettings {
    guard let index = world.memberships.index(channel, user), index < settings.count else {
      return ZulipChannelSettings()
    }
    return settings[index]
  }

  private func add(_ row: ZulipRows.Topic) {
    if row.policy == 0 { return }
    guard let (number, user) = active(row.user) else { return }
    guard let policy = ZulipPolicy(rawValue: row.policy) else {
      return count(.unknownValue, "\(realm):\(row.line)", number)
    }
    let stream = row.stream ?? row.recipient.flatMap { recipients[$0] }.map { $0.typeID }
    guard let stream, let channel = streams[stream], world.isMember(number, of: channel),
      !user.isBot
    else { return }
    let key = TopicKey(channel: channel, name: row.name.lowercased())
    let thread =
      threads[key] ?? world.conversation("stream/\(stream)#\(row.name)", .thread, parent: channel)
    threads[key] = thread
    world.setMember(
      number, of: thread, policy.record(user.settings, channelSettings(number, channel)))
    if let index = world.memberships.index(thread, number) { policies[index] = policy }
  }

  // MARK: Messages

  private struct Message {
    let id: Int64
    let sequence: UInt64
    let numbers: [Int64]
    let topic: String
    var sender: Int64 { numbers[0] }
    var recipient: Int64 { numbers[1] }
  }

  /// Brings messages together with who was mentioned in them.
  private func addMessages() throws {
    var (messages, flags): ([Message], [(user: Int64, mask: Int64)]) = ([], [])
    var current: Int64?
    try sorter.drain { key, text in
      if current != key.first {
        for message in messages { try add(message, flags) }
        (messages, flags) = ([], [])
        current = key.first
      }
      if key.second >> 63 == 0 {
        let topic = String(decoding: text.dropFirst(48), as: UTF8.self)
        messages.append(
          Message(
            id: key.first, sequence: key.second, numbers: Self.numbers(text, 6), topic: topic))
      } else if !messages.isEmpty {
        let numbers = Self.numbers(text, 2)
        flags.append((numbers[0], numbers[1]))
      }
    }
    for message in messages { try add(message, flags) }
  }

  private func add(_ message: Message, _ flags: [(user: Int64, mask: Int64)]) throws {
    let place = "\(files[Int(message.numbers[4])]):\(message.numbers[5])"
    let sender = world.userNumber("\(message.sender)")
    guard let recipient = recipients[message.recipient] else {
      return count(.unknownRecipient, place, sender)
    }
    if message.numbers[3] == 1 { count(.editedMessage, place, sender) }
    var line: [UInt8] = []
    line.append("{\"id\":")
    world.append(id: Array("\(message.id)".utf8).span, to: &line)
    line.append(",\"conversation\":")
    var channel: UInt32?
    switch recipient.type {
    case 1:
      let pair = Pair(message.sender, recipient.typeID)
      pairs[pair] = min(pairs[pair] ?? .max, message.sequence)
      world.append(id: Array(Self.directID(pair.people).utf8).span, to: &line)
    case 2:
      guard let found = streams[recipient.typeID] else { return count(.unknownRoom, place, sender) }
      channel = found
      world.append(conversation: thread(message, found) ?? found, to: &line)
    default:
      guard let group = groups[message.recipient] else {
        return count(.unknownRecipient, place, sender)
      }
      world.append(conversation: group, to: &line)
    }
    line.append(",\"sender\":")
    world.append(id: Array("\(message.sender)".utf8).span, to: &line)
    line.append(",\"at\":")
    line.appendDecimal(Int(message.numbers[2]))
    if let channel { appendMentions(message, flags, channel, to: &line) }
    line.append("}\n")
    try world.messages.add(
      RunSorter.Key(first: message.numbers[2], second: message.sequence), line)
  }

  private func thread(_ message: Message, _ channel: UInt32) -> UInt32? {
    if threads.isEmpty { return nil }
    return threads[TopicKey(channel: channel, name: message.topic.lowercased())]
  }

  /// Who is mentioned in a message in a channel (I-35).
  private func appendMentions(
    _ message: Message, _ flags: [(user: Int64, mask: Int64)], _ channel: UInt32,
    to line: inout [UInt8]
  ) {
    var mentions: [UInt32] = []
    var seen: Set<UInt32> = []
    var isForAll = false
    let thread = thread(message, channel)
    for (id, mask) in flags {
      if mask & 16 != 0 { isForAll = true }
      guard id != message.sender, mask & (8 | 32) != 0, let (number, user) = active(id),
        world.isMember(number, of: channel)
      else { continue }
      let policy = thread.flatMap { world.memberships.index($0, number) }.flatMap { policies[$0] }
      let reaches =
        mask & 32 != 0
        && ZulipPolicy.pushesTopicMention(policy, user.settings, channelSettings(number, channel))
      if reaches { count(.topicWildcard, world.shown("\(message.id)"), number) }
      if mask & 8 != 0 || reaches, seen.insert(number).inserted { mentions.append(number) }
    }
    if mentions.count > OpenLimits.mentions {
      count(.mentionsDropped, world.shown("\(message.id)"))
      mentions.removeLast(mentions.count - OpenLimits.mentions)
    }
    world.append(mentions: mentions, all: isForAll, to: &line)
  }
}
