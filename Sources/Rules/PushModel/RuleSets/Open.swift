extension RuleSet.Properties {
  static let open = RuleSet.Properties(
    vendorName: "open rules", hasPushContent: false,
    kinds: [.private, .group, .thread, .room],
    threadParents: [.group, .private],
    levels: .classes,
    everyoneHidesNames: false,
    scopes: [.thread, .conversation, .user, .conversationDefault, .appDefault, .default],
    options: [
      .choice("threadPlain", \.open.threadPlain),
      .seconds("expireSeconds", \.open.expireSeconds, 0...Int64(Int32.max)),
      .seconds("presenceSeconds", \.open.presenceSeconds, 0...86_400),
    ],
    fields: [
      .appLevel, .userLevel, .userMute, .memberMute, .conversationLevel, .force, .classLevels,
      .quietWindows, .mutedAllow, .allowForce, .keywords, .importantSenders, .blockedSenders,
      .important, .follow, .roles, .seenAt, .mentionsRoles, .replyToUser, .text, .groupLevel,
      .threadWithoutParent,
    ])
}

// What only open rules have.
extension VendorFields {
  /// Levels as lists of classes.
  @inlinable public static var classLevels: Self { Self(rawValue: 1 << 36) }
  /// Quiet hours as windows of the week, the user's and the app's.
  @inlinable public static var quietWindows: Self { Self(rawValue: 1 << 37) }
  @inlinable public static var mutedAllow: Self { Self(rawValue: 1 << 38) }
  @inlinable public static var allowForce: Self { Self(rawValue: 1 << 39) }
  @inlinable public static var keywords: Self { Self(rawValue: 1 << 40) }
  @inlinable public static var importantSenders: Self { Self(rawValue: 1 << 41) }
  @inlinable public static var blockedSenders: Self { Self(rawValue: 1 << 42) }
  @inlinable public static var important: Self { Self(rawValue: 1 << 43) }
  @inlinable public static var follow: Self { Self(rawValue: 1 << 44) }
  @inlinable public static var roles: Self { Self(rawValue: 1 << 45) }
  /// A device's `seenAt`.
  @inlinable public static var seenAt: Self { Self(rawValue: 1 << 46) }
}
