internal import CPushFanoutABI
internal import Glibc
internal import PushFanout

/// What the column of users has.
enum UserForm {
  case numbers
  /// Text with 64-bit offsets.
  case ids
  /// Text as views.
  case views

  init(flags: UInt32) {
    self = flags & PF_ARROW_ID_VIEWS != 0 ? .views : flags & PF_ARROW_IDS != 0 ? .ids : .numbers
  }

  /// The format string of the type.
  var format: String {
    switch self {
    case .numbers: "I"
    case .ids: "U"
    case .views: "vu"
    }
  }
}

/// Rows of several messages, written where the consumer reads them.
///
/// SAFETY: rows are written up to the capacity; one thread uses an object.
@safe final class DecisionRows {
  private let form: UserForm
  private let views: IDViewCache
  private let capacity: Int
  private let messages: UnsafeMutablePointer<UInt32>
  private let codes: UnsafeMutablePointer<UInt8>
  /// Numbers or views.
  private let users: UnsafeMutableRawPointer
  @safe @exclusivity(unchecked) private var ids: IDColumns
  @safe @exclusivity(unchecked) private(set) var count = 0
  private var isFinished = false

  /// - Parameter capacity: the rows that there is room for.
  init(_ form: UserForm, _ views: IDViewCache, capacity: Int) {
    self.form = form
    self.views = views
    self.capacity = capacity
    unsafe messages = allocate(UInt32.self, capacity)
    unsafe codes = allocate(UInt8.self, capacity)
    unsafe users = UnsafeMutableRawPointer(
      allocate(UInt8.self, capacity * (form == .views ? IDViewCache.viewSize : 4)))
    ids = IDColumns(capacity: 0)
  }

  deinit {
    if isFinished { return }
    unsafe free(messages)
    unsafe free(codes)
    unsafe free(users)
  }

  /// Appends the recipients of a message.
  ///
  /// - Precondition: there is room for all members.
  func append(_ result: borrowing FanoutResult, _ number: UInt32) {
    let members = result.memberCount
    guard members > 0 else { return }
    precondition(members <= capacity - count, "no room for the rows of a message")
    let codes = unsafe codes + count
    unsafe result.writeCodes(to: codes)
    let kept: Int
    switch form {
    case .numbers:
      let users = unsafe users.assumingMemoryBound(to: UInt32.self) + count
      unsafe result.writeUsers(to: users)
      kept = unsafe pf_keep_numbers(codes, users, members)
    case .ids:
      var rank = 0
      var ids = IDColumns(capacity: 0)
      swap(&ids, &self.ids)
      result.forEachMember { _, id in
        if unsafe codes[rank] != 0 { ids.append(id) }
        rank += 1
      }
      swap(&ids, &self.ids)
      let users = unsafe users.assumingMemoryBound(to: UInt32.self) + count
      kept = unsafe pf_keep_numbers(codes, users, members)
    case .views:
      let own = views.views(of: result)
      kept = unsafe pf_keep_views(
        codes, own.memory, users + count * IDViewCache.viewSize, members)
    }
    unsafe pf_fill(messages + count, kept, number)
    count += kept
  }

  /// The rows, after which there is nothing to append.
  func finish() -> ArrowBatch {
    isFinished = true
    let user: [SharedColumn]
    switch form {
    case .numbers: user = [unsafe column(users, 4)]
    case .ids:
      user = ids.finish()
      unsafe free(users)
    case .views: user = [unsafe column(users, IDViewCache.viewSize)] + views.finish()
    }
    return ArrowBatch(
      length: count, offset: 0,
      columns: [[unsafe column(messages, 4)], user, [unsafe column(codes, 1)]])
  }

  /// What was written of memory; the rest is given back.
  private func column(_ memory: UnsafeMutableRawPointer, _ size: Int) -> SharedColumn {
    unsafe SharedColumn(taking: realloc(memory, max(1, count * size)) ?? memory)
  }
}

/// The ids of conversations' members as views of Arrow, written once for each membership version,
/// as long as there is memory for that.
///
/// A view has 16 bytes: the number of characters, and these if they are at most 12; otherwise the
/// first 4, the number of a buffer of characters, and where they begin in it.
///
/// - Source: the Arrow specification, "Variable-size Binary View Layout".
///
/// SAFETY: one thread uses an object. What was given away is read only; characters are added behind
/// those that batches refer to.
@safe final class IDViewCache {
  static let viewSize = 16
  /// The memory at which a new batch begins with an empty cache.
  private static let byteLimit = 1 << 26
  private static let bufferSize = 1 << 18

  /// The views of a membership version, at a place that it shares with others: the last one stays.
  private typealias Entry = (membership: UInt64, views: SharedColumn?)
  private static let entryBits = 14
  @safe @exclusivity(unchecked) private var entries: [Entry] = []
  private var byteCount = 0
  /// Buffers of characters, how much of each is used, and how much the last one holds.
  private var buffers: [SharedColumn] = []
  private var used: [Int64] = []
  private var capacity = 0

  /// Empties the cache if it is large; views made from then on are of another batch.
  func beginBatch() {
    guard byteCount > Self.byteLimit else { return }
    (entries, buffers, used, byteCount, capacity) = ([], [], [], 0, 0)
  }

  /// A view for each member of a result's conversation, by rank.
  func views(of result: borrowing FanoutResult) -> SharedColumn {
    let membership = result.membershipVersion
    let place = Int((membership &* 0x9E37_79B9_7F4A_7C15) >> UInt64(64 - Self.entryBits))
    if place < entries.count, entries[place].membership == membership,
      let known = entries[place].views
    {
      return known
    }
    let column = views(count: result.memberCount) { write in
      result.forEachMember { _, id in write(id) }
    }
    byteCount += result.memberCount * Self.viewSize
    if entries.isEmpty {
      entries = [Entry](repeating: (membership: 0, views: nil), count: 1 << Self.entryBits)
    }
    entries[place] = (membership, column)
    return column
  }

  /// A view for each of `count` ids, which `forEach` gives one by one.
  func views(count: Int, _ forEach: ((RawSpan) -> Void) -> Void) -> SharedColumn {
    let column = SharedColumn(UInt8.self, count * Self.viewSize)
    var end = unsafe column.memory
    forEach { id in
      unsafe id.withUnsafeBytes { id in unsafe write(id, to: end) }
      unsafe end += Self.viewSize
    }
    return column
  }

  /// The buffers behind that of the views: those of characters, and their sizes.
  func finish() -> [SharedColumn] { buffers + [SharedColumn(copying: used)] }

  private func write(_ id: UnsafeRawBufferPointer, to view: UnsafeMutableRawPointer) {
    unsafe view.storeBytes(of: Int32(id.count), as: Int32.self)
    guard let characters = id.baseAddress, id.count > 12 else {
      unsafe (view + 4).initializeMemory(as: UInt8.self, repeating: 0, count: 12)
      unsafe UnsafeMutableRawBufferPointer(start: view + 4, count: 12).copyMemory(from: id)
      return
    }
    if used.isEmpty || Int(used[used.count - 1]) + id.count > capacity {
      capacity = max(id.count, Self.bufferSize)
      buffers.append(SharedColumn(UInt8.self, capacity))
      used.append(0)
    }
    let (number, start) = (buffers.count - 1, Int(used[used.count - 1]))
    unsafe (buffers[number].memory + start).copyMemory(from: characters, byteCount: id.count)
    used[number] += Int64(id.count)
    byteCount += id.count
    unsafe (view + 4).copyMemory(from: characters, byteCount: 4)
    unsafe view.storeBytes(of: Int32(number), toByteOffset: 8, as: Int32.self)
    unsafe view.storeBytes(of: Int32(start), toByteOffset: 12, as: Int32.self)
  }
}
