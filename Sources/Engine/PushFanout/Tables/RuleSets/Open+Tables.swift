internal import PushModel

extension TableWriter {
  /// - Throws: ``FanoutError/otherRules(_:)`` if settings have fields that the app's rules lack.
  func checkRules() throws(FanoutError) {
    guard tables.policies.hasOpen, !isBuilding else { return }
    switch tables.app.rules {
    case .easemob, .rongcloud: throw .otherRules(tables.app.rules)
    case .open: return
    }
  }

  func noteOpen() { if !tables.policies.hasOpen { tables.ownRare().policies.hasOpen = true } }

  /// The number of a member's policy; nil for no more than a vendor's level.
  @inline(__always)
  func policy(of member: borrowing MemberSettings) -> UInt32? {
    if member.level.isOfVendor, !member.hasRareFields { return nil }
    return tables.ownRare().policies.insert(member)
  }

  /// - Throws: ``FanoutError/otherRules(_:)`` for fields that no rules have together.
  func packed(_ user: UserSettings) throws(FanoutError) -> PackedUser {
    let packed = PackedUser(user)
    if user.level.isOfVendor, !user.hasOpenFields { return packed }
    guard let policy = tables.ownRare().policies.insert(user) else { return packed }
    guard packed.hasOnlyLevel else { throw .otherRules(.open) }
    return PackedUser(user, policy: policy)
  }

  /// When a device was last seen, or since when it is in the background.
  func seen(_ device: Device) throws(FanoutError) -> Int64 {
    guard let seen = device.seenAt else { return device.backgroundSince?.milliseconds ?? -1 }
    guard device.backgroundSince == nil else { throw .otherRules(.open) }
    noteOpen()
    return seen.milliseconds
  }

  /// Sets a user's keywords and senders.
  func setNames(_ user: UserSettings, of index: UInt32) throws(FanoutError) {
    let hasNames =
      !user.keywords.isEmpty || !user.importantSenders.isEmpty
      || !user.blockedSenders.isEmpty
    if !hasNames && tables.nameLists.isEmpty { return }
    replaced.names += 1
    var list = NameLists.List()
    for keyword in user.keywords {
      let written = try intern(name: Identifier(keyword))
      list.keywords.append((written: written, tokens: try intern(tokens: TextTokens(keyword))))
    }
    for id in user.importantSenders { list.important.append(try intern(name: id)) }
    for id in user.blockedSenders { list.blocked.append(try intern(name: id)) }
    guard tables.ownRare().nameLists.set(list, of: index, limit: limit, store) else {
      throw .tooMany("keywords and senders")
    }
    if hasNames { noteOpen() }
  }

  /// Moves together who has the same name.
  func groupNames() {
    if !tables.nameLists.isEmpty { tables.ownRare().nameLists.groupHolders(store) }
  }

  /// Tokens, and all that they begin with, so that a search in a text ends early.
  private func intern(tokens: TextTokens) throws(FanoutError) -> UInt32 {
    var index: UInt32 = 0
    for prefix in TokenText(tokens).prefixes { index = try intern(name: prefix) }
    return index
  }

  private func intern(name: Identifier) throws(FanoutError) -> UInt32 {
    guard tables.names.count + 1 < limit else { throw .tooMany("names") }
    return tables.names.insert(name, store)
  }
}

/// The UTF-8 of tokens, each behind a separator but the first.
struct TokenText {
  private static let separator: UInt8 = 0x1F

  private var bytes: [UInt8] = []
  private var starts: [Int] = []

  /// Of bytes as they are.
  init(_ text: Identifier) {
    bytes = Array(text.text.utf8)
    starts = [0] + bytes.indices.filter { bytes[$0] == Self.separator }.map { $0 + 1 }
  }

  init(_ tokens: TextTokens) {
    bytes.reserveCapacity(tokens.characters.count * 2 + tokens.ends.count)
    starts.reserveCapacity(tokens.ends.count)
    var first = 0
    for end in tokens.ends {
      if !starts.isEmpty { bytes.append(Self.separator) }
      starts.append(bytes.count)
      for character in tokens.characters[first..<end] {
        if character < 0x80 {
          bytes.append(UInt8(truncatingIfNeeded: character))
        } else if let scalar = Unicode.Scalar(character) {
          bytes.append(contentsOf: UTF8.encode(scalar)!)
        }
      }
      first = end
    }
  }

  /// The number of tokens.
  var count: Int { starts.count }

  /// What tokens begin with, all of them last.
  var prefixes: some Sequence<Identifier> {
    (0..<count).lazy.map { Identifier(String(decoding: self[0...$0], as: UTF8.self)) }
  }

  /// The bytes of successive tokens.
  subscript(tokens: ClosedRange<Int>) -> ArraySlice<UInt8> {
    let last = tokens.upperBound + 1
    return bytes[starts[tokens.lowerBound]..<(last < count ? starts[last] - 1 : bytes.count)]
  }
}

extension Tables {
  /// Adds keywords and senders.
  func addNames(to user: inout UserSettings, of index: UInt32) {
    guard let list = nameLists.list(of: index) else { return }
    user.keywords = list.keywords.map { names[$0.written].text }
    user.importantSenders = list.important.map { names[$0] }
    user.blockedSenders = list.blocked.map { names[$0] }
  }

  /// The indices of keywords in a text, as tokens (O-14).
  ///
  /// - Complexity: O(text): a keyword has few tokens.
  func keywords(in text: String) -> Set<UInt32> {
    let text = TokenText(TextTokens(ofMessage: text))
    let lookup = names.lookup
    var found: Set<UInt32> = []
    for first in 0..<text.count {
      for last in first..<text.count {
        let index = unsafe text[first...last].withUnsafeBytes { unsafe lookup.index(of: $0) }
        guard let index else { break }
        found.insert(index)
      }
    }
    return found
  }

  /// How an open rules' user can be reached (O-30, O-31).
  func openReach(
    of user: UInt32, at now: Int64, _ presence: UserPresence
  ) -> OpenMemberClass.Reach {
    guard presence == .foreground || hasOwnDevices(user) else { return .device }
    var isConnected = false
    var hasTarget = false
    var isEmpty = true
    var areKicked = true
    var areGone = true
    forEachDevice(of: user, presence) { device in
      isEmpty = false
      let state = Device.State.byOrdinal[Int(device.state)]
      if state == .kicked { return }
      areKicked = false
      if state == .loggedOut { return }
      areGone = false
      if isConnectedDevice(device, state, at: now) { isConnected = true }
      if device.hasToken { hasTarget = true }
    }
    if isConnected { return .online }
    if hasTarget { return .device }
    if isEmpty { return .noToken }
    return areKicked ? .kicked : areGone ? .loggedOut : .noToken
  }

  /// O-30.
  private func isConnectedDevice(
    _ device: DeviceRecord, _ state: Device.State, at now: Int64
  ) -> Bool {
    guard state == .foreground else { return false }
    let span = app.open.presenceMilliseconds
    return span == 0 || device.seen < 0 || device.seen > now || now - device.seen <= span
  }

  /// Calls `body` with the instants from which on devices count as offline (O-30).
  func forEachStaleness(of user: UInt32, _ body: (Int64) -> Void) {
    let span = app.open.presenceMilliseconds
    guard span > 0, hasOwnDevices(user) else { return }
    forEachDevice(of: user) { device in
      guard device.state == Device.State.foreground.ordinal, device.seen >= 0 else { return }
      body(device.seen + span + 1)
    }
  }
}

extension DeviceReader {
  /// Calls `body` with the listed devices that a push goes to (O-31).
  @inline(__always)
  func forEachOpenTarget<Failure: Error>(
    of user: UInt32, _ body: (DeviceRecord) throws(Failure) -> Void
  ) throws(Failure) {
    try forEachDevice(of: user) { (record) throws(Failure) -> Void in
      let isGone =
        record.state == Device.State.kicked.ordinal
        || record.state == Device.State.loggedOut.ordinal
      if !isGone, record.hasToken { try body(record) }
    }
  }
}
