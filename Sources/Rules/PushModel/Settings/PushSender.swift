/// How requests to a provider are made: a line of senders.ndjson (S-2).
public struct PushSender: Hashable, Sendable {
  /// Which of Apple's servers takes requests.
  public enum Environment: String, CaseIterable, Sendable { case production, sandbox }

  /// How urgent pushes are.
  public enum Priority: String, CaseIterable, Sendable { case high, normal }

  /// Which pushes replace each other on a device (S-23).
  public enum Collapse: String, CaseIterable, Sendable { case message, conversation, none }

  /// What a command message is (S-20).
  public enum Commands: String, CaseIterable, Sendable { case alert, background }

  /// By what pushes are put together where the message does not say (S-25).
  public enum Thread: String, CaseIterable, Sendable { case message, conversation }

  /// Of which category a push is where the message does not say (S-26).
  public enum Category: String, CaseIterable, Sendable { case message, messageType }

  /// Who shows a push on Android: the system or the app (S-42).
  public enum Style: String, CaseIterable, Sendable { case notification, data }

  /// The provider.
  public let platform: PushPlatform
  /// The name of the devices' push certificate; nil for the default of the platform (S-6).
  public package(set) var notifier: Identifier?
  /// The app, to Apple.
  public package(set) var topic: String?
  /// The project, to Firebase.
  public package(set) var project: String?
  /// Where requests to Apple go.
  public package(set) var environment = Environment.production
  /// How many seconds a push is worth delivering; nil for what the rules say.
  public package(set) var ttl: Int64?
  /// How urgent pushes are (S-21, S-45).
  public package(set) var priority = Priority.high
  /// What pushes take the place of (S-23).
  public package(set) var collapse = Collapse.message
  /// What a command message is (S-20).
  public package(set) var commands = Commands.alert
  /// Whether requests have an `apns-id` (S-24).
  public package(set) var ids = false
  /// By what pushes are put together (S-25).
  public package(set) var thread = Thread.message
  /// Of which category pushes are (S-26).
  public package(set) var category = Category.message
  /// Whether pushes name their conversation (S-27).
  public package(set) var target = false
  /// Whether pushes say how relevant they are (S-29).
  public package(set) var relevance = false
  /// How much a push may interrupt (S-28).
  public package(set) var level: InterruptionLevel?
  /// The same for those whom the message mentions.
  public package(set) var mentionLevel: InterruptionLevel?
  /// The same for a push that force brought about.
  public package(set) var forcedLevel: InterruptionLevel?
  /// Who shows pushes on Android (S-42).
  public package(set) var style = Style.notification
  /// Android's channel where the message does not say (S-46).
  public package(set) var channel: String?
  /// The icon on Android, of the app's resources.
  public package(set) var icon: String?
  /// What a tap opens on Android.
  public package(set) var clickAction: String?
  /// The only app that gets the push.
  public package(set) var package: String?
  /// The icon's color on Android, `#` and six hexadecimal digits.
  public package(set) var color: String?

  /// A sender of which nothing more is said.
  package init(platform: PushPlatform) { self.platform = platform }
}

/// How much a push may interrupt, to Apple's devices (S-28). The raw value is its name in files.
public enum InterruptionLevel: String, CaseIterable, Sendable {
  /// In the list of notifications alone.
  case passive
  /// With light and sound.
  case active
  /// Also where notifications are held back.
  case timeSensitive = "time-sensitive"
  /// With sound also on a device that is muted.
  case critical
}

/// A field of senders.ndjson. ``PushSender/fields`` is the only list of them.
package struct SenderField: Sendable {
  package let name: String
  /// The platform that has it; nil for both.
  package let platform: PushPlatform?
  /// What a rule set has that has it; empty where all have it.
  package let owner: VendorFields
  package let value: Value
  /// The words of a choice. Not in its case, whose tag in the pointer would hide them from what looks
  /// for leaks.
  package let allowed: [String]

  package enum Value: Sendable {
    /// A text, what one must be in words, and whether one is.
    case text(
      any WritableKeyPath<PushSender, String?> & Sendable, expected: String,
      isValid: @Sendable (String) -> Bool)
    case flag(any WritableKeyPath<PushSender, Bool> & Sendable)
    case seconds(any WritableKeyPath<PushSender, Int64?> & Sendable, ClosedRange<Int64>)
    case choice(set: @Sendable (inout PushSender, String) -> Bool)
  }

  /// Whether senders of a platform have it.
  package func exists(on platform: PushPlatform) -> Bool {
    self.platform == nil || self.platform == platform
  }

  private init(
    _ name: String, _ platform: PushPlatform?, _ value: Value, allowed: [String] = [],
    owner: VendorFields = []
  ) {
    (self.name, self.platform, self.value, self.owner) = (name, platform, value, owner)
    self.allowed = allowed
  }

  fileprivate static func choice<Word: RawRepresentable<String> & CaseIterable & Sendable>(
    _ name: String, _ platform: PushPlatform?,
    _ path: any WritableKeyPath<PushSender, Word> & Sendable, owner: VendorFields = []
  ) -> Self {
    Self(
      name, platform,
      .choice { sender, text in
        guard let word = Word(rawValue: text) else { return false }
        sender[keyPath: path] = word
        return true
      }, allowed: Word.allCases.map(\.rawValue), owner: owner)
  }

  fileprivate static func level(
    _ name: String, _ path: any WritableKeyPath<PushSender, InterruptionLevel?> & Sendable
  ) -> Self {
    Self(
      name, .apns,
      .choice { sender, text in
        sender[keyPath: path] = InterruptionLevel(rawValue: text)
        return sender[keyPath: path] != nil
      }, allowed: InterruptionLevel.allCases.map(\.rawValue))
  }

  fileprivate static func flag(
    _ name: String, _ path: any WritableKeyPath<PushSender, Bool> & Sendable
  ) -> Self { Self(name, .apns, .flag(path)) }

  fileprivate static func seconds(
    _ name: String, _ path: any WritableKeyPath<PushSender, Int64?> & Sendable
  ) -> Self { Self(name, nil, .seconds(path, 0...PushSender.longestTTL)) }

  fileprivate static func text(
    _ name: String, _ platform: PushPlatform,
    _ path: any WritableKeyPath<PushSender, String?> & Sendable,
    _ expected: String = "1 to 200 bytes",
    isValid: @escaping @Sendable (String) -> Bool = { _ in true }
  ) -> Self {
    Self(
      name, platform,
      .text(path, expected: expected) { (1...200).contains($0.utf8.count) && isValid($0) })
  }
}

extension PushSender {
  /// The most seconds that a sender may have, and that the rules give: 30 days.
  package static let longestTTL: Int64 = 2_592_000

  package static let fields: [SenderField] = [
    .text("topic", .apns, \.topic, "1 to 200 characters of visible ASCII") {
      $0.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    },
    .text("project", .fcm, \.project, "1 to 200 letters of ASCII, digits, or - . :") {
      $0.utf8.allSatisfy { $0.isLetterOrDigit || "-.:".utf8.contains($0) }
    },
    .choice("environment", .apns, \.environment),
    .seconds("ttl", \.ttl),
    .choice("priority", nil, \.priority),
    .choice("collapse", nil, \.collapse),
    .choice("commands", nil, \.commands),
    .flag("ids", \.ids),
    .choice("thread", .apns, \.thread),
    .choice("category", .apns, \.category, owner: .objectName),
    .flag("target", \.target),
    .flag("relevance", \.relevance),
    .level("level", \.level), .level("mentionLevel", \.mentionLevel),
    .level("forcedLevel", \.forcedLevel),
    .choice("style", .fcm, \.style),
    .text("channel", .fcm, \.channel), .text("icon", .fcm, \.icon),
    .text("clickAction", .fcm, \.clickAction), .text("package", .fcm, \.package),
    .text("color", .fcm, \.color, "# and six hexadecimal digits") {
      $0.utf8.count == 7 && $0.utf8.first == UInt8(ascii: "#")
        && $0.utf8.dropFirst().allSatisfy(\.isHexDigit)
    },
  ]
}

extension UInt8 {
  @inlinable package var isLetterOrDigit: Bool {
    switch self {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
    default: false
    }
  }

  @inlinable package var isHexDigit: Bool {
    switch self {
    case 0x30...0x39, 0x41...0x46, 0x61...0x66: true
    default: false
    }
  }
}
