/// One of a user's devices, as registered with the push service.
public struct Device: Hashable, Sendable {
  /// What the device is. Only a mobile one gets pushes under RongCloud.
  public enum Kind: String, CaseIterable, Sendable {
    /// A phone or tablet.
    case mobile
    /// A desktop app.
    case desktop
    /// A browser.
    case web
  }

  /// Whether it is connected. The raw value is its name in files.
  public enum State: String, CaseIterable, Sendable {
    /// Connected, in use.
    case foreground
    /// Connected, not in use. Online under Easemob (E-64); under RongCloud until the grace is over
    ///
    case background
    /// Not connected.
    case offline
    /// Logged out. Still pushed to under Easemob if it kept its token (E-67), not under RongCloud
    ///
    case loggedOut
    /// Kicked by another login: gets nothing and counts as neither online nor offline (E-66).
    case kicked
  }

  /// The device's id, which a message's filter may name (E-50).
  public var id: Identifier
  /// What the device is.
  public var kind: Kind
  /// Whether it is connected.
  public var state: State
  /// Whether a push token is bound; without one there is nothing to push to (E-68).
  public var hasToken: Bool
  /// The name of the push certificate the token belongs to, for the message's filter (E-50).
  public var notifier: Identifier?
  /// Since when it is in the background; only RongCloud uses it.
  public var backgroundSince: Instant?
  /// When it was last seen; only open rules use it (O-30).
  public var seenAt: Instant?
  /// How its provider reaches it. No decision looks at it.
  public var address: DeviceAddress {
    @inlinable get { rare.fields }
    @inlinable set { rare.fields = newValue }
  }
  @usableFromInline var rare = RareFields<DeviceAddress>()
  // The parts, without a copy of the others.
  @inlinable package var platform: PushPlatform? { rare.box?.fields.platform }
  @inlinable package var token: String? { rare.box?.fields.token }
  @inlinable package var fid: String? { rare.box?.fields.fid }

  /// A device; by default an offline phone with a token.
  public init(
    id: Identifier, kind: Kind = .mobile, state: State = .offline, hasToken: Bool = true,
    notifier: Identifier? = nil, backgroundSince: Instant? = nil, seenAt: Instant? = nil,
    address: DeviceAddress = DeviceAddress()
  ) {
    self.id = id
    self.kind = kind
    self.state = state
    self.hasToken = hasToken
    self.notifier = notifier
    self.backgroundSince = backgroundSince
    self.seenAt = seenAt
    self.address = address
  }

  /// The device of a user whose devices are not listed: an offline phone with a token.
  public static let `default` = Device(id: "default")
}

/// Who takes pushes for devices. The raw value is its name in files.
public enum PushPlatform: String, CaseIterable, Sendable {
  /// Apple Push Notification service.
  case apns
  /// Firebase Cloud Messaging.
  case fcm
}

/// How a provider reaches a device; only requests look at it (S-3).
///
/// Tokens are secrets: nothing prints one unless it is asked for.
public struct DeviceAddress: Hashable, Sendable, DefaultedFields {
  /// The device's provider; nil where it does not say.
  public let platform: PushPlatform?
  /// The push token; nil for one that only whoever sends knows. A device that has one has a token
  /// in decisions.
  public let token: String?
  /// The Firebase installation id, which FCM takes instead of a token.
  public let fid: String?

  /// The address of a device that says nothing.
  public init() { (platform, token, fid) = (nil, nil, nil) }

  /// An address.
  ///
  /// - Throws: ``SettingsWriteError/malformedToken`` unless token and installation id have 1 to
  ///   4,096 bytes of visible ASCII.
  public init(
    platform: PushPlatform?, token: String? = nil, fid: String? = nil
  ) throws(SettingsWriteError) {
    for text in [token, fid] {
      guard let utf8 = text?.utf8 else { continue }
      guard (1...4_096).contains(utf8.count), utf8.allSatisfy({ (0x21...0x7E).contains($0) })
      else { throw .malformedToken }
    }
    (self.platform, self.token, self.fid) = (platform, token, fid)
  }
}

/// What a device says of itself by open rules: its state, over that of its settings (O-30).
///
/// It is no setting: a heartbeat is not stored.
public struct Heartbeat: Hashable, Sendable {
  /// Whose device it is.
  public var user: Identifier
  /// The device's id, which the user's settings have; `default` for a user who lists none.
  public var device: Identifier
  /// Whether it is connected.
  public var state: Device.State
  /// When it was seen; nil for a state that does not go stale.
  public var seenAt: Instant?

  /// A heartbeat.
  public init(user: Identifier, device: Identifier, state: Device.State, seenAt: Instant?) {
    self.user = user
    self.device = device
    self.state = state
    self.seenAt = seenAt
  }
}
