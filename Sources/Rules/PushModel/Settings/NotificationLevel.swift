/// Which messages may notify: a set of ``MessageClasses``, or unset.
///
/// *Unset* is not *all*: an unset level looks one scope further, `all` stops the search (R-2, E-3).
/// For that reason a level is never optional.
///
/// The vendors have the six levels of ``ofVendors``; under open rules every set of classes is a
/// level (O-2).
@frozen public struct NotificationLevel: Hashable, Sendable {
  /// A number for each level, to be stored: 0 to 5 for the vendors' levels, for every other set its
  /// classes and ``setBit``.
  public let rawValue: UInt16

  /// What the numbers of sets that no vendor has have in addition to their classes.
  @usableFromInline static var setBit: UInt16 { 0x200 }

  @inlinable init(_ rawValue: UInt16) { self.rawValue = rawValue }

  /// The level of a number.
  ///
  /// - Returns: nil for a number that ``rawValue`` never is.
  @inlinable public init?(rawValue: UInt16) {
    if rawValue < 6 {
      self.init(rawValue)
    } else {
      guard rawValue & ~MessageClasses.all.rawValue == Self.setBit else { return nil }
      self.init(MessageClasses(rawValue: rawValue & ~Self.setBit))
      guard self.rawValue == rawValue else { return nil }
    }
  }

  /// The level that lets exactly these classes through.
  @inlinable public init(_ classes: MessageClasses) {
    switch classes {
    case .all: self = .all
    case [.mentionsMe, .mentionsEveryone]: self = .mention
    case .mentionsMe: self = .mentionUsers
    case .mentionsEveryone: self = .mentionAll
    case []: self = .blocked
    default: self.init(classes.rawValue | Self.setBit)
    }
  }

  /// Nothing set here: look one scope further. `DEFAULT`, 0.
  @inlinable public static var unset: Self { Self(0) }
  /// Every message. `ALL`, -1.
  @inlinable public static var all: Self { Self(1) }
  /// Mentions of me and of everyone. `AT`, 1.
  @inlinable public static var mention: Self { Self(2) }
  /// Mentions of me only. RongCloud's 2.
  @inlinable public static var mentionUsers: Self { Self(3) }
  /// Mentions of everyone only. RongCloud's 4.
  @inlinable public static var mentionAll: Self { Self(4) }
  /// No message: `none` in files, `NONE`, 5.
  @inlinable public static var blocked: Self { Self(5) }

  /// The levels that a vendor has, in the order of their numbers.
  public static let ofVendors: [NotificationLevel] = [
    .unset, .all, .mention, .mentionUsers, .mentionAll, .blocked,
  ]

  /// Whether the level is one of ``ofVendors``.
  @inlinable package var isOfVendor: Bool { rawValue < 6 }

  /// The number of a level that a vendor has, in a byte.
  ///
  /// - Precondition: it is one of ``ofVendors``.
  @inlinable package var vendorCode: UInt8 {
    precondition(isOfVendor, "a level that no vendor has")
    return UInt8(truncatingIfNeeded: rawValue)
  }

  /// The vendors' level of a number in a byte; nil for another number.
  @inlinable package init?(vendorCode: UInt8) {
    guard vendorCode < 6 else { return nil }
    self.init(UInt16(vendorCode))
  }

  /// Whether the search for a level ends here.
  @inlinable public var isSet: Bool { self != .unset }

  /// Whether the level depends on mentions.
  public var isMentionLevel: Bool {
    self == .mention || self == .mentionUsers || self == .mentionAll
  }

  /// The classes of message that this level lets through; an unset one lets none.
  public var mask: MessageClasses {
    switch self {
    case .unset, .blocked: []
    case .all: .all
    case .mention: [.mentionsMe, .mentionsEveryone]
    case .mentionUsers: .mentionsMe
    case .mentionAll: .mentionsEveryone
    default: MessageClasses(rawValue: rawValue & ~Self.setBit)
    }
  }

  /// Whether a message of these classes may notify: mask and classes meet (§1).
  public func allows(_ classes: MessageClasses) -> Bool {
    mask.rawValue & classes.rawValue != 0
  }
}

// MARK: - Spellings

extension NotificationLevel {
  /// The level's name in files.
  public var name: String {
    switch self {
    case .unset: "default"
    case .all: "all"
    case .mention: "mention"
    case .mentionUsers: "mentionUsers"
    case .mentionAll: "mentionAll"
    case .blocked: "none"
    default: mask.name
    }
  }

  /// The level of a name in files; nil for another text.
  public static func named(_ name: String) -> NotificationLevel? {
    switch name {
    case "default": .unset
    case "all": .all
    case "mention": .mention
    case "mentionUsers": .mentionUsers
    case "mentionAll": .mentionAll
    case "none": .blocked
    default: nil
    }
  }

  /// The level of a RongCloud number: -1, 0, 1, 2, 4 or 5.
  ///
  /// - Throws: ``SettingsWriteError/unknownLevel(_:)`` for another number, as a write does.
  public init(rongCloudNumber number: Int64) throws(SettingsWriteError) {
    switch number {
    case -1: self = .all
    case 0: self = .unset
    case 1: self = .mention
    case 2: self = .mentionUsers
    case 4: self = .mentionAll
    case 5: self = .blocked
    default: throw .unknownLevel(number)
    }
  }

  /// The level that a stored RongCloud number is read as: unset when it is unknown.
  public static func read(rongCloudNumber number: Int64) -> NotificationLevel {
    do { return try NotificationLevel(rongCloudNumber: number) } catch { return .unset }
  }

  /// RongCloud's number for the level.
  public var rongCloudNumber: Int64 {
    switch self {
    case .unset: 0
    case .all: -1
    case .mention: 1
    case .mentionUsers: 2
    case .mentionAll: 4
    default: 5
    }
  }

  /// The level of one of Easemob's own spellings, and nothing else: `ALL` and `All`, `AT` and
  /// `MentionOnly`, `NONE`, `DEFAULT`.
  public static func easemobSpelling(_ text: String) -> NotificationLevel? {
    switch text {
    case "ALL", "All": .all
    case "AT", "MentionOnly": .mention
    case "NONE": .blocked
    case "DEFAULT": .unset
    default: nil
    }
  }
}
