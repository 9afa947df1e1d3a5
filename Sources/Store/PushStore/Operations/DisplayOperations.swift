public import PushContent
public import PushFanout
public import PushModel
public import QuietTime

/// Display settings: the vendors' operations.
///
/// They do not affect decisions, so the engine is not updated. An unknown user is created.
/// When nothing changes, nothing is written; a change stands in the feed as ``Change/display`` and
/// is not announced to the user's other devices.
///
/// - Complexity: O(remarks of the user).
extension StoreWrite {
  /// Sets the nickname that others see of a user, nil for none: Easemob's `updatePushDisplayName`
  /// (`updatePushNickname`).
  public mutating func updatePushDisplayName(_ name: String?, of user: Identifier) throws {
    try changeDisplay(of: user) { $0.name = name }
  }

  /// Sets how much of a message a user's pushes show, nil for the default: Easemob's
  /// `updatePushDisplayStyle`, RongCloud's `setPushContentShowStatus`.
  public mutating func updatePushDisplayStyle(_ style: DisplayStyle?, of user: Identifier) throws {
    try changeDisplay(of: user) { $0.style = style }
  }

  /// Sets the language of translations that a user is shown, nil for none: Easemob's
  /// `setPreferredNotificationLanguage`.
  ///
  /// - Throws: ``StoreError/otherRules(_:)`` under RongCloud.
  public mutating func setPreferredNotificationLanguage(
    _ language: LanguageTag?, of user: Identifier
  ) throws {
    try queries.require(.easemob)
    try changeDisplay(of: user) { $0.language = language }
  }

  /// Sets the template that a user has chosen, nil for none: Easemob's `setPushTemplate`. Whether
  /// there is one of that name is asked when a push is rendered.
  ///
  /// - Throws: ``StoreError/otherRules(_:)`` under RongCloud, or ``TemplateProblem/badName(_:)``.
  public mutating func setPushTemplate(_ name: String?, of user: Identifier) throws {
    try queries.require(.easemob)
    if let name, !PushTemplate.isName(name) { throw TemplateProblem.badName(name) }
    try changeDisplay(of: user) { $0.template = name }
  }

  /// Sets what a user calls another, nil for nothing of its own.
  public mutating func setRemark(
    _ remark: String?, for other: Identifier, by user: Identifier
  ) throws {
    try check(other)
    try changeDisplay(of: user) { $0.remarks[other] = remark }
  }

  /// Sets how many messages wait for a user, the one that is pushed among them: the badge.
  ///
  /// - Throws: ``SettingsWriteError/badgeOutOfRange(_:)`` for one that no file can represent.
  public mutating func setOfflineMessages(_ count: UInt32, of user: Identifier) throws {
    try SettingsQueries.check(badge: count)
    try changeDisplay(of: user) { $0.offlineMessages = count }
  }

  /// Changes what a user has set for how pushes look.
  private mutating func changeDisplay(
    of user: Identifier, _ body: (inout RecipientDisplay) -> Void
  ) throws {
    let rules = try queries.rules()
    guard rules.fields.contains(.display) else { throw StoreError.otherRules(rules) }
    try check(user)
    let before = try queries.display(of: user)
    var after = before
    body(&after)
    if after == before { return }
    // A user who is new to the store is new to the engine too.
    let isNew = try queries.user(user) == nil
    let values = ChangedValues(before.words, after.words, isWhole: true)
    if isNew { try set(user, UserSettings(), [.display], replacing: nil, values: values) }
    try queries.write(after, ofUser: try queries.number(user: user))
    steps.append(.display(user, after))
    if !isNew { try record(.display, user: user, values: values) }
  }
}

extension SettingsStore {
  /// All that a user has set for how pushes look; Easemob's `getPushNotificationOptionsFromServer`.
  public func pushDisplay(of user: Identifier) throws -> RecipientDisplay {
    try read { try $0.display(of: user) }
  }

  /// Easemob's `getPreferredNotificationLanguage`; nil for none.
  public func preferredNotificationLanguage(of user: Identifier) throws -> LanguageTag? {
    try pushDisplay(of: user).language
  }

  /// Easemob's `getPushTemplate`; nil for none.
  public func pushTemplate(of user: Identifier) throws -> String? {
    try pushDisplay(of: user).template
  }
}

extension StoreReader {
  /// Everything that the words of pushes depend on, as of one commit.
  ///
  /// - Complexity: O(conversations + users with settings).
  public func contentDirectory() throws -> ContentDirectory {
    try read { try $0.contentDirectory() }
  }

  /// An engine, and everything that the words of pushes depend on, both as of one commit.
  ///
  /// - Parameters:
  ///   - threads: how many threads the engine may use, nil for the cores that the process may use.
  ///   - unknownZones: as for opening a ``SettingsStore``.
  /// - Complexity: as for opening a ``SettingsStore``, and for ``contentDirectory()``.
  public func fanoutWithContent(
    threads: Int? = nil, unknownZones: UnknownZones = .refuse
  ) throws -> (
    fanout: Fanout, content: ContentDirectory, templates: TemplateCatalog, opening: StoreOpening
  ) {
    let (opened, content) = try StoreOpener(
      reader: self, threads: threads, unknownZones: unknownZones
    )
    .open { (try $0.contentDirectory(), try $0.templates()) }
    return (opened.fanout, content.0, content.1, opened.opening)
  }

  /// Everything as values, and what the words of pushes depend on, all as of one commit.
  ///
  /// - Complexity: O(settings).
  public func settingsWithContent() throws -> (
    settings: FanoutSettings, content: ContentDirectory, templates: TemplateCatalog
  ) {
    try read { (try $0.settings(), try $0.contentDirectory(), try $0.templates()) }
  }
}
