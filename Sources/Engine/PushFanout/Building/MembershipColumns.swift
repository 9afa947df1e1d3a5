internal import Algorithms
package import PushModel

/// Memberships, read by one thread and added to a ``FanoutBuilder`` by another. A stretch is
/// consecutive ones of one conversation.
///
/// - Memory: about 17 bytes per membership, 24 more with a mute or start, and the text read.
package struct MembershipColumns: Sendable {
  /// Values beside the level, in milliseconds; 0 for none.
  struct Extra: Sendable {
    var row: UInt32
    var saysSince: Bool
    var since: Int64
    var mutedUntil: Int64
  }

  private(set) var characters = IDCharacters()
  var conversations = IDColumn()
  var users = IDColumn()
  /// The first row of each stretch.
  private var starts: [UInt32] = []
  /// By row, a ``PackedMember``.
  private(set) var bits: [UInt8] = []
  /// The rows not on the line after the preceding row's, ascending, and their lines.
  private var lineBreaks: [(row: UInt32, line: UInt32)] = []
  private var nextLine = 1
  /// The rows with more than a level, ascending.
  private var extras: [Extra] = []
  private var isStretchOpen = false

  package init() {}

  package mutating func reserveCapacity(_ count: Int) {
    users.reserveCapacity(count)
    bits.reserveCapacity(count)
  }

  /// Adds a text of ids, which must not move until ``forgetText()``.
  package mutating func add(text: UnsafeRawBufferPointer) { unsafe characters.add(text: text) }

  package mutating func forgetText() { characters.forgetText() }

  /// Adds a membership without channel levels, whose level a vendor has.
  ///
  /// - Parameters:
  ///   - since: nil if not written.
  ///   - mutedUntil: `zero` for no mute.
  ///   - line: counted from the start of what is read together.
  package mutating func append(
    _ user: UnsafeRawBufferPointer, of conversation: UnsafeRawBufferPointer,
    level: NotificationLevel, since: Instant?, mutedUntil: Instant, line: Int
  ) {
    let isLast = unsafe isStretchOpen && isLast(conversation)
    if !isLast {
      unsafe conversations.append(conversation, &characters)
      starts.append(UInt32(users.count))
      isStretchOpen = true
    }
    if line != nextLine { lineBreaks.append((row: UInt32(users.count), line: UInt32(line))) }
    nextLine = line + 1
    let packed = PackedMember(
      level: level, hasMute: mutedUntil > .zero, hasSince: since.map { $0 > .zero } ?? false)
    if packed.hasOverrides || since != nil {
      extras.append(
        Extra(
          row: UInt32(users.count), saysSince: since != nil, since: since?.milliseconds ?? 0,
          mutedUntil: mutedUntil.milliseconds))
    }
    unsafe users.append(user, &characters)
    bits.append(packed.bits)
  }

  /// Adds memberships without channel levels. Ids are the numbers' digits.
  ///
  /// - Parameters:
  ///   - levels: of all rows, or empty.
  ///   - mutes: milliseconds, -1 for none; of all rows, or empty.
  ///   - sinces: as `mutes`.
  /// - Precondition: the columns are empty.
  package mutating func append(
    numbers users: [Int64], of conversations: [Int64], levels: [NotificationLevel],
    mutes: [Int64], sinces: [Int64]
  ) {
    let unset = PackedMember(level: .unset, hasMute: false, hasSince: false).bits
    bits = [UInt8](repeating: unset, count: users.count)
    for (row, level) in levels.enumerated() {
      bits[row] = PackedMember(level: level, hasMute: false, hasSince: false).bits
    }
    if !mutes.isEmpty || !sinces.isEmpty {
      for row in users.indices {
        let mute = mutes.isEmpty ? -1 : mutes[row]
        let since = sinces.isEmpty ? -1 : sinces[row]
        guard mute > 0 || since >= 0 else { continue }
        bits[row] =
          PackedMember(
            level: levels.isEmpty ? .unset : levels[row], hasMute: mute > 0, hasSince: since > 0
          ).bits
        extras.append(
          Extra(
            row: UInt32(row), saysSince: since >= 0, since: max(0, since),
            mutedUntil: max(0, mute)))
      }
    }
    for row in users.indices where row == 0 || conversations[row] != conversations[row - 1] {
      self.conversations.append(number: conversations[row])
      starts.append(UInt32(row))
    }
    isStretchOpen = !users.isEmpty
    self.users.append(numbers: users)
  }

  /// Ends the stretch, even if the next membership is of the same conversation.
  package mutating func endStretch() { isStretchOpen = false }

  private func isLast(_ conversation: UnsafeRawBufferPointer) -> Bool {
    unsafe conversations.with(conversations.count - 1, characters) {
      unsafe haveSameBytes($0, conversation)
    }
  }

  // MARK: Reading

  package var stretchCount: Int { starts.count }

  package func rows(of stretch: Int) -> Range<Int> {
    let end = stretch + 1 < starts.count ? Int(starts[stretch + 1]) : users.count
    return Int(starts[stretch])..<end
  }

  package func conversation(of stretch: Int) -> Identifier {
    conversations.identifier(stretch, characters)
  }

  package func user(at row: Int) -> Identifier { users.identifier(row, characters) }

  /// The line of a row, in O(log rows).
  package func line(at row: Int) -> Int {
    let after = lineBreaks.partitioningIndex { $0.row > row }
    if after == 0 { return row + 1 }
    let lineBreak = lineBreaks[after - 1]
    return Int(lineBreak.line) + row - Int(lineBreak.row)
  }

  /// A row's membership and the fields written, in O(log rows).
  package func member(at row: Int) -> (member: MemberSettings, present: PresentFields) {
    let level = NotificationLevel(vendorCode: PackedMember(bits: bits[row]).level) ?? .unset
    guard let extra = extras(from: row).first, extra.row == row else {
      return (MemberSettings(level: level), PresentFields())
    }
    return (
      MemberSettings(
        level: level, mutedUntil: Instant(milliseconds: extra.mutedUntil),
        since: Instant(milliseconds: extra.since)), PresentFields(since: extra.saysSince)
    )
  }

  func extras(from row: Int) -> ArraySlice<Extra> {
    extras[extras.partitioningIndex { $0.row >= row }...]
  }
}
