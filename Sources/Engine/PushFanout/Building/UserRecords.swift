internal import Algorithms
package import PushModel
package import QuietTime

/// Records of users without devices, as a reader of files makes them on one thread for another to
/// add to a ``FanoutBuilder``.
///
/// Their quiet settings are listed once, for all records that a thread makes one after the other.
///
/// - Memory: about 24 bytes per user, and the text that they are read from.
package struct UserRecords: Sendable {
  private(set) var characters = IDCharacters()
  var ids = IDColumn()
  private(set) var packed: [PackedUser] = []
  /// The index of each user's quiet settings in ``quiet``.
  private(set) var quietIndices: [UInt32] = []
  private(set) var quiet: QuietSettingsList.Listed
  private var list: QuietSettingsList
  /// The rows with an app duration, ascending, and its end.
  private var mutes: [(row: Int, until: Int64)] = []

  /// Creates records without users.
  ///
  /// - Parameter list: that of the thread, to be taken back with ``takeList()``.
  package init(_ list: consuming QuietSettingsList = QuietSettingsList()) {
    quiet = list.settings
    self.list = list
  }

  /// The list, for the next records of the thread; to these no user can be added any more.
  package mutating func takeList() -> QuietSettingsList {
    quiet = list.settings
    var taken = QuietSettingsList()
    swap(&taken, &list)
    return taken
  }

  /// The number of users.
  package var count: Int { ids.count }

  /// Says that most ids are parts of a text, which stays where it is until ``forgetText()``.
  package mutating func add(text: UnsafeRawBufferPointer) { unsafe characters.add(text: text) }

  /// Ends what ``add(text:)`` began.
  package mutating func forgetText() { characters.forgetText() }

  /// Settings without an app duration that a user was added with, for others of the same list.
  package struct Shared: BitwiseCopyable, Sendable {
    fileprivate let packed: PackedUser
    fileprivate let quiet: UInt32
  }

  /// Adds a user.
  ///
  /// - Returns: the settings, if other users can share them.
  /// - Precondition: the settings list no devices.
  package mutating func append(_ id: UnsafeRawBufferPointer, _ user: UserSettings) -> Shared? {
    assert(user.devices == nil, "devices are not kept")
    let shared = append(settings: user, ids.count)
    unsafe ids.append(id, &characters)
    return shared
  }

  /// Adds a user with the settings of another.
  package mutating func append(_ id: UnsafeRawBufferPointer, _ settings: Shared) {
    append(settings)
    unsafe ids.append(id, &characters)
  }

  private mutating func append(settings user: UserSettings, _ row: Int) -> Shared? {
    let packed = PackedUser(user)
    let shared = Shared(packed: packed, quiet: list.index(of: QuietSettings(user)))
    append(shared)
    guard packed.hasMute else { return shared }
    mutes.append((row: row, until: user.mutedUntil.milliseconds))
    return nil
  }

  private mutating func append(_ settings: Shared) {
    packed.append(settings.packed)
    quietIndices.append(settings.quiet)
  }

  /// Adds users whose ids are numbers, those of their decimal digits.
  ///
  /// - Precondition: the list is empty, and no settings list devices.
  package mutating func append(numbers: [Int64], _ user: (Int) -> UserSettings) {
    for row in numbers.indices { _ = append(settings: user(row), row) }
    ids.append(numbers: numbers)
  }

  /// The user of a row.
  package func id(at row: Int) -> Identifier { ids.identifier(row, characters) }

  /// The settings of a row.
  package func user(at row: Int) -> UserSettings {
    packed[row].settings(
      quiet[Int(quietIndices[row])], mutedUntil: mute(at: row))
  }

  /// The end of a row's app duration, 0 for none.
  ///
  /// - Complexity: O(log rows) for a user who has one.
  func mute(at row: Int) -> Int64 {
    guard packed[row].hasMute else { return 0 }
    return mutes[mutes.partitioningIndex { $0.row >= row }].until
  }
}
