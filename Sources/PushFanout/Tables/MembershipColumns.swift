internal import Algorithms
package import PushModel

/// Memberships as columns, as a reader of files makes them on one thread for another to add to a
/// ``FanoutBuilder``.
///
/// Consecutive memberships of one conversation are a stretch, which names it once.
///
/// - Memory: about 25 bytes per membership, and the characters of its user's id.
package struct MembershipColumns: Sendable {
  /// An id: where its characters are, its hash, and its index in a table of ids.
  struct ID: Sendable {
    var start: UInt32
    var count: UInt32
    var hash: UInt32 = 0
    /// `UInt32.max` for an id that is not known to be in the table.
    var index = UInt32.max
  }

  private var characters: [UInt8] = []
  var conversations: [ID] = []
  var users: [ID] = []
  /// The first row of each stretch.
  private var starts: [UInt32] = []
  /// The bits of each row's ``PackedMember``.
  private var bits: [UInt8] = []
  private var lineNumbers: [UInt32] = []
  /// The rows that say more than a level, ascending.
  private var special: [(row: Int, member: MemberSettings, present: PresentFields)] = []
  private var isStretchOpen = false

  /// Creates columns without memberships.
  package init() {}

  /// Adds a membership.
  ///
  /// - Parameter line: the line that says so, from the start of what is read together.
  package mutating func append(
    _ user: RawSpan, of conversation: RawSpan, _ member: MemberSettings, _ present: PresentFields,
    line: Int
  ) {
    if !isStretchOpen || !isLast(conversation) {
      conversations.append(store(conversation))
      starts.append(UInt32(users.count))
      isStretchOpen = true
    }
    let packed = PackedMember(member)
    if packed.hasOverrides || present != PresentFields() {
      special.append((row: users.count, member: member, present: present))
    }
    users.append(store(user))
    bits.append(packed.bits)
    lineNumbers.append(UInt32(line))
  }

  /// Ends the stretch, though the next membership may be of the same conversation.
  package mutating func endStretch() { isStretchOpen = false }

  private mutating func store(_ id: RawSpan) -> ID {
    defer { unsafe id.withUnsafeBytes { unsafe characters.append(contentsOf: $0) } }
    return ID(start: UInt32(characters.count), count: UInt32(id.byteCount))
  }

  /// Whether an id is that of the conversation that was stored last.
  private func isLast(_ conversation: RawSpan) -> Bool {
    guard let last = conversations.last else { return false }
    return unsafe conversation.withUnsafeBytes { id in
      unsafe withCharacters(of: last) { unsafe haveSameBytes($0, id) }
    }
  }

  // MARK: Reading

  /// The number of stretches.
  package var stretchCount: Int { starts.count }

  /// The rows of a stretch.
  package func rows(of stretch: Int) -> Range<Int> {
    let end = stretch + 1 < starts.count ? Int(starts[stretch + 1]) : users.count
    return Int(starts[stretch])..<end
  }

  /// The conversation of a stretch.
  package func conversation(of stretch: Int) -> Identifier { identifier(conversations[stretch]) }

  /// The user of a row.
  package func user(at row: Int) -> Identifier { identifier(users[row]) }

  /// The line of a row.
  package func line(at row: Int) -> Int { Int(lineNumbers[row]) }

  /// What a row says of the membership, and which fields it has.
  ///
  /// - Complexity: O(log rows).
  package func member(at row: Int) -> (member: MemberSettings, present: PresentFields) {
    let index = specialIndex(from: row)
    if index < special.count, special[index].row == row {
      return (special[index].member, special[index].present)
    }
    let level = NotificationLevel(rawValue: packed(at: row).level) ?? .unset
    return (MemberSettings(level: level), PresentFields())
  }

  func packed(at row: Int) -> PackedMember { PackedMember(bits: bits[row]) }

  /// The index of the first special row from `row` on.
  private func specialIndex(from row: Int) -> Int {
    special.partitioningIndex { $0.row >= row }
  }

  private func identifier(_ id: ID) -> Identifier {
    unsafe withCharacters(of: id) { unsafe Identifier(utf8: $0) }
  }

  func withCharacters<Value>(of id: ID, _ body: (UnsafeRawBufferPointer) -> Value) -> Value {
    unsafe characters.withUnsafeBytes {
      unsafe body(
        UnsafeRawBufferPointer(rebasing: $0[Int(id.start)..<Int(id.start) + Int(id.count)]))
    }
  }
}

/// The ids that a ``FanoutBuilder`` had when it was made, for looking up many at once on another
/// thread while the builder goes on.
///
/// SAFETY: a copy of a table of ids is a version of its own, which the one writer does not disturb;
/// nothing of it is freed before the engine is built, and a reader of files waits for all its
/// threads before that.
package struct SettingsIDLookup: @unchecked Sendable {
  private let users: IDTable
  private let conversations: IDTable

  init(users: IDTable, conversations: IDTable) {
    self.users = users
    self.conversations = conversations
  }

  /// Hashes the ids of columns, and finds the indices of those that are known.
  ///
  /// - Complexity: O(rows); look-ups overlap.
  package func resolve(_ columns: inout MembershipColumns) {
    resolve(&columns, \.conversations, in: conversations)
    resolve(&columns, \.users, in: users)
  }

  /// The number of look-ups that overlap.
  private static var group: Int { 32 }

  private func resolve(
    _ columns: inout MembershipColumns,
    _ path: WritableKeyPath<MembershipColumns, [MembershipColumns.ID]>, in table: IDTable
  ) {
    var ids: [MembershipColumns.ID] = []
    swap(&ids, &columns[keyPath: path])
    unsafe columns.withAllCharacters { characters in
      var start = 0
      while start < ids.count {
        let group = start..<min(start + Self.group, ids.count)
        for index in group {
          ids[index].hash = unsafe table.hash(characters.id(ids[index]))
          table.slots.prefetchSlot(ids[index].hash)
        }
        for index in group { table.slots.prefetchRecord(ids[index].hash, table.base) }
        for index in group {
          let id = ids[index]
          ids[index].index =
            unsafe table.index(of: characters.id(id), hash: id.hash) ?? UInt32.max
        }
        start = group.upperBound
      }
    }
    swap(&ids, &columns[keyPath: path])
  }
}

extension MembershipColumns {
  fileprivate func withAllCharacters(_ body: (UnsafeRawBufferPointer) -> Void) {
    unsafe characters.withUnsafeBytes { unsafe body($0) }
  }
}

extension UnsafeRawBufferPointer {
  /// The characters of an id among those of all.
  @inline(__always)
  fileprivate func id(_ id: MembershipColumns.ID) -> UnsafeRawBufferPointer {
    let range = Int(id.start)..<Int(id.start) + Int(id.count)
    return unsafe UnsafeRawBufferPointer(rebasing: self[range])
  }
}
