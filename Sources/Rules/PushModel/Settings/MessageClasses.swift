/// The classes of a message for one recipient.
///
/// For the vendors a message that mentions nobody is `plain` (§1); open rules have nine classes
/// (O-1).
@frozen public struct MessageClasses: OptionSet, Sendable, Hashable {
  /// A bit for each class.
  public let rawValue: UInt16
  /// The classes of a bit mask.
  @inlinable public init(rawValue: UInt16) { self.rawValue = rawValue }

  /// The recipient is not mentioned.
  @inlinable public static var plain: Self { Self(rawValue: 1) }
  /// The recipient is mentioned by id: `me` in files.
  @inlinable public static var mentionsMe: Self { Self(rawValue: 2) }
  /// Everyone in the conversation is mentioned: `everyone` in files.
  @inlinable public static var mentionsEveryone: Self { Self(rawValue: 4) }
  /// A role of the recipient is mentioned. Open rules' (O-1), like all that follow.
  @inlinable public static var role: Self { Self(rawValue: 8) }
  /// In a thread that the recipient follows.
  @inlinable public static var thread: Self { Self(rawValue: 16) }
  /// In a private conversation or one of its threads.
  @inlinable public static var `private`: Self { Self(rawValue: 32) }
  /// An answer to a message of the recipient.
  @inlinable public static var reply: Self { Self(rawValue: 64) }
  /// The text has a keyword of the recipient (O-14).
  @inlinable public static var keyword: Self { Self(rawValue: 128) }
  /// The sender is important to the recipient.
  @inlinable public static var sender: Self { Self(rawValue: 256) }

  /// Every class.
  @inlinable public static var all: Self { Self(rawValue: 511) }
  /// Every class but `plain`: the level `mentions` of open rules (O-2).
  @inlinable public static var mentions: Self { Self(rawValue: 510) }
  /// What concerns the recipient in person: the level `direct` of open rules (O-2).
  @inlinable public static var direct: Self { [.mentionsMe, .private, .reply, .sender] }

  /// Whether the recipient is mentioned, by name or with everyone.
  ///
  /// The rules ask hundreds of thousands of times when an engine's tables are built, and a set
  /// literal is expensive in debug builds.
  public var isMention: Bool { rawValue & 6 != 0 }
}

// MARK: - Names

extension MessageClasses {
  /// Each class with its name in files, in the order of bits.
  package static let named: [(name: String, class: MessageClasses)] = [
    ("plain", .plain), ("me", .mentionsMe), ("everyone", .mentionsEveryone), ("role", .role),
    ("thread", .thread), ("private", .private), ("reply", .reply), ("keyword", .keyword),
    ("sender", .sender),
  ]

  /// Each word that stands for a set of classes, with the set (O-2).
  package static let words: [(word: String, classes: MessageClasses)] = [
    ("all", .all), ("mentions", .mentions), ("direct", .direct), ("none", []),
  ]

  /// The names of the classes, in the order of bits.
  public var names: [String] { Self.named.filter { contains($0.class) }.map(\.name) }

  /// The word for exactly these classes; nil if there is none.
  public var word: String? { Self.words.first { $0.classes == self }?.word }

  /// The word for them or, without one, their names.
  public var name: String { word ?? "[\(names.joined(separator: ", "))]" }

  /// The class of a name in files; nil for another text.
  public init?(className: String) {
    guard let found = Self.named.first(where: { $0.name == className }) else { return nil }
    self = found.class
  }

  /// The classes that a word stands for; nil for another text.
  public init?(word: String) {
    guard let found = Self.words.first(where: { $0.word == word }) else { return nil }
    self = found.classes
  }
}
