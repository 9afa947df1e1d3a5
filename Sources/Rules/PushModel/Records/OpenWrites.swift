// What open rules check when settings are written (O-10 to O-16). Lists keep what was written: an id
// that repeats counts once in its effect only.

extension MessageClasses {
  /// The classes of a list of names (O-2).
  ///
  /// - Throws: ``SettingsWriteError`` for another name, and for one that repeats.
  public init(names: [String]) throws(SettingsWriteError) {
    self = []
    for name in names {
      guard let found = MessageClasses(className: name) else { throw .unknownClass(name) }
      guard insert(found).inserted else { throw .repeatedClass(name) }
    }
  }

  /// The classes of a word, or of names with commas between them, as they are typed.
  ///
  /// - Throws: as ``init(names:)``.
  public init(typed text: String) throws(SettingsWriteError) {
    if let classes = MessageClasses(word: text) {
      self = classes
    } else {
      let names = text.split(separator: ",", omittingEmptySubsequences: false)
      try self.init(names: names.map { String($0) })
    }
  }
}

extension UserSettings {
  /// Replaces the keywords (O-14).
  ///
  /// - Throws: ``SettingsWriteError`` for too many, for one that is too long, and for one without a
  ///   token; then nothing has changed.
  public mutating func setKeywords(_ keywords: [String]) throws(SettingsWriteError) {
    try Self.check(keywords: keywords)
    self.keywords = keywords
  }

  /// - Throws: as ``setKeywords(_:)``.
  @usableFromInline package static func check(keywords: [String]) throws(SettingsWriteError) {
    try checkCount(keywords.count, "keywords", OpenLimits.keywords)
    for keyword in keywords {
      try checkName("keyword", bytes: keyword.utf8.count, OpenLimits.keywordBytes)
      if TextTokens(keyword).tokens.isEmpty { throw .keywordWithoutToken(keyword) }
    }
  }

  /// Replaces the important and the blocked senders (O-15).
  ///
  /// - Throws: ``SettingsWriteError`` for too many, an empty id, and an id in both lists; then
  ///   nothing has changed.
  public mutating func setSenders(
    important: [Identifier], blocked: [Identifier]
  ) throws(SettingsWriteError) {
    try checkCount(important.count, "important senders", OpenLimits.senders)
    try checkCount(blocked.count, "blocked senders", OpenLimits.senders)
    for id in important + blocked {
      try checkName("sender's id", bytes: id.text.utf8.count, Int.max)
    }
    if !important.isEmpty, !blocked.isEmpty {
      let ids = Set(important)
      if let id = blocked.first(where: { ids.contains($0) }) {
        throw .importantAndBlocked(id.text)
      }
    }
    (importantSenders, blockedSenders) = (important, blocked)
  }
}

extension MemberSettings {
  /// Replaces the roles (O-10).
  ///
  /// - Throws: ``SettingsWriteError`` for too many, and for one that is empty or too long; then
  ///   nothing has changed.
  public mutating func setRoles(_ roles: [Identifier]) throws(SettingsWriteError) {
    try Self.check(roles: roles)
    self.roles = roles
  }

  /// - Throws: as ``setRoles(_:)``.
  @usableFromInline package static func check(roles: [Identifier]) throws(SettingsWriteError) {
    try checkCount(roles.count, "roles", OpenLimits.roles)
    for role in roles { try checkName("role", bytes: role.text.utf8.count, OpenLimits.roleBytes) }
  }
}

private func checkCount(_ count: Int, _ what: String, _ limit: Int) throws(SettingsWriteError) {
  if count > limit { throw .tooMany(what, count, limit: limit) }
}

private func checkName(_ what: String, bytes: Int, _ limit: Int) throws(SettingsWriteError) {
  if bytes == 0 { throw .emptyName(what) }
  if bytes > limit { throw .tooLong(what, bytes: bytes, limit: limit) }
}
