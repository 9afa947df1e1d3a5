public import PushModel

/// The users that the writer of the crash tests makes and erases.
public enum ErasedUser {
  public static let group: Identifier = "erased-group"

  /// No id is part of another.
  public static func id(_ secret: String, _ number: Int64) -> Identifier {
    Identifier("\(secret)-\(1_000_000 + number)")
  }

  public static let settings: UserSettings = {
    var settings = UserSettings()
    settings.level = .mention
    settings.devices = [Device(id: "phone")]
    return settings
  }()

  public static let member = MemberSettings(level: .blocked)
}
