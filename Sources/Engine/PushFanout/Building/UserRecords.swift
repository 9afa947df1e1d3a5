internal import Algorithms
package import PushModel
package import QuietTime

/// Users without devices, read by one thread and added to a ``FanoutBuilder`` by another. A
/// thread's successive records share a list of quiet settings.
///
/// - Memory: about 24 bytes per user, and the text read.
package struct UserRecords: Sendable {
  private(set) var characters = IDCharacters()
  var ids = IDColumn()
  private(set) var packed: [PackedUser] = []
  /// By user, the index in ``quiet``.
  private(set) var quietIndices: [UInt32] = []
  let quiet: QuietSettingsList
  /// Rows with an app duration, ascending, and its end in milliseconds.
  private var mutes: [(row: Int, until: Int64)] = []

  /// - Parameter quiet: the list of the thread.
  package init(_ quiet: QuietSettingsList = QuietSettingsList()) { self.quiet = quiet }

  package var count: Int { ids.count }

  /// Adds a text of ids, which must not move until ``forgetText()``.
  package mutating func add(text: UnsafeRawBufferPointer) { unsafe characters.add(text: text) }

  package mutating func forgetText() { characters.forgetText() }

  /// Settings without an app duration, for users of the same list.
  package struct Shared: BitwiseCopyable, Sendable {
    fileprivate let packed: PackedUser
    fileprivate let quiet: UInt32
  }

  /// Whether a user can be a row: without devices, and without what only open rules have but for
  /// quiet windows.
  @inlinable package static func holds(_ user: UserSettings) -> Bool {
    user.devices == nil && user.level.isOfVendor && !user.hasOpenFields
  }

  /// Returns the settings, if other users can share them.
  ///
  /// - Precondition: ``holds(_:)``.
  package mutating func append(_ id: UnsafeRawBufferPointer, _ user: UserSettings) -> Shared? {
    assert(user.devices == nil, "devices are not kept")
    let shared = append(settings: user, ids.count)
    unsafe ids.append(id, &characters)
    return shared
  }

  package mutating func append(_ id: UnsafeRawBufferPointer, _ settings: Shared) {
    append(settings)
    unsafe ids.append(id, &characters)
  }

  private mutating func append(settings user: UserSettings, _ row: Int) -> Shared? {
    let packed = PackedUser(user)
    let shared = Shared(packed: packed, quiet: quiet.index(of: QuietSettings(user)))
    append(shared)
    guard packed.hasMute else { return shared }
    mutes.append((row: row, until: user.mutedUntil.milliseconds))
    return nil
  }

  private mutating func append(_ settings: Shared) {
    packed.append(settings.packed)
    quietIndices.append(settings.quiet)
  }

  /// Adds users whose ids are the digits of numbers.
  ///
  /// - Precondition: these records are empty, and users list no devices.
  package mutating func append(numbers: [Int64], _ user: (Int) -> UserSettings) {
    for row in numbers.indices { _ = append(settings: user(row), row) }
    ids.append(numbers: numbers)
  }

  package func id(at row: Int) -> Identifier { ids.identifier(row, characters) }

  package func user(at row: Int) -> UserSettings {
    packed[row].settings(
      quiet[Int(quietIndices[row])], mutedUntil: mute(at: row))
  }

  /// The end of a row's app duration in milliseconds, 0 for none; O(log rows).
  func mute(at row: Int) -> Int64 {
    guard packed[row].hasMute else { return 0 }
    return mutes[mutes.partitioningIndex { $0.row >= row }].until
  }
}
