internal import CPushKernels
package import PushModel
internal import Synchronization

/// How often each member of a conversation got each outcome, along a timeline: a message adds to the
/// ledger in steps that do not depend on the number of members.
///
/// Members in the same state get the same outcome. The ledger counts messages by their table of
/// outcomes by state, and keeps for each member the state and the counts as they were when the
/// member came into it (an *epoch*). What a member got since is the difference, which is given out
/// when the member leaves the state, and when the ledger is closed. The sender and users that a
/// message mentions differ from their state: what they get is given out at once.
///
/// - Memory: 13 bytes a member, and 8 more once a schedule has a transition.
package struct MemberLedger {
  /// Takes how often more, or less, a user got the outcome of a code.
  package typealias Emit = (_ user: UInt32, _ code: UInt8, _ count: Int) -> Void

  /// The list of members that it is of, and the settings of the conversation.
  let key: MemberListKey
  /// What the caller calls the members.
  private let users: [UInt32]
  /// What decides the members, and the version of its words.
  private var conversation: CachedConversation
  private var revision: UInt
  private var quiet: SchedulePhases
  private var words: [UInt32]
  private var states: [UInt8]
  /// Messages by their table of outcomes.
  private var tables: [[UInt8]] = []
  private var counts: [UInt32] = []
  /// ``counts`` at the beginning of each epoch, and the epoch in which each member's state began.
  private var epochs: [[UInt32]] = [[]]
  private var epochOf: [UInt32]
  /// Whether there was a message since the last epoch began.
  private var hasNewCounts = false
  /// The ranks by schedule, and where those of each end; made on demand.
  private var ranks: [Int32] = []
  private var ends: [(schedule: UInt32, end: UInt32)] = []

  fileprivate init(
    _ key: MemberListKey, _ conversation: CachedConversation, _ quiet: SchedulePhases,
    _ revision: UInt, users: [UInt32]
  ) {
    self.key = key
    self.users = users
    self.conversation = conversation
    self.quiet = quiet
    self.revision = revision
    words = (0..<conversation.count).map { conversation.word($0).bits }
    let phases = quiet.phases
    states = (0..<conversation.count).map {
      unsafe conversation.word($0).state(phases, conversation.stateByBase)
    }
    epochOf = [UInt32](repeating: 0, count: conversation.count)
  }

  /// Gives out what all members got, and starts again from here.
  ///
  /// - Complexity: O(members).
  package mutating func flush(_ emit: Emit) {
    for rank in users.indices { give(rank, emit) }
    for rank in epochOf.indices { epochOf[rank] = 0 }
    (tables, counts, epochs, hasNewCounts) = ([], [], [[]], false)
  }

  /// Gives out what a member got in its present state.
  private func give(_ rank: Int, _ emit: Emit) {
    let begin = epochs[Int(epochOf[rank])]
    for table in counts.indices {
      let count = counts[table] - (table < begin.count ? begin[table] : 0)
      let code = tables[table][Int(states[rank])]
      if count > 0, code != 0 { emit(users[rank], code, Int(count)) }
    }
  }

  /// Moves a member to another state.
  private mutating func move(_ rank: Int, to state: UInt8, _ emit: Emit) {
    if states[rank] == state { return }
    give(rank, emit)
    states[rank] = state
    if hasNewCounts {
      epochs.append(counts)
      hasNewCounts = false
    }
    epochOf[rank] = UInt32(epochs.count - 1)
  }

  /// Follows to the words and phases of a message.
  ///
  /// - Complexity: O(schedules of the members + members whose state changes); O(members) if a word
  ///   changed.
  fileprivate mutating func follow(
    _ conversation: CachedConversation, _ quiet: SchedulePhases, _ revision: UInt, _ emit: Emit
  ) {
    let phases = quiet.phases
    let isSameCalendar = quiet.calendar == self.quiet.calendar
    if conversation !== self.conversation || revision != self.revision || !isSameCalendar {
      var rank = isSameCalendar ? difference(conversation, from: 0) : 0
      while rank < words.count {
        let word = conversation.word(rank)
        if word.schedule != MemberWord(bits: words[rank]).schedule { ranks = [] }
        words[rank] = word.bits
        move(rank, to: unsafe word.state(phases, conversation.stateByBase), emit)
        rank = isSameCalendar ? difference(conversation, from: rank + 1) : rank + 1
      }
      (self.conversation, self.revision) = (conversation, revision)
    }
    guard quiet !== self.quiet else { return }
    if isSameCalendar {
      if ranks.isEmpty { sortRanks() }
      var start = 0
      for (schedule, end) in ends {
        if self.quiet.phases[Int(schedule)] != phases[Int(schedule)] {
          for rank in ranks[start..<Int(end)] {
            let word = MemberWord(bits: words[Int(rank)])
            move(Int(rank), to: unsafe word.state(phases, conversation.stateByBase), emit)
          }
        }
        start = Int(end)
      }
    }
    self.quiet = quiet
  }

  /// The first rank from `rank` on whose word is another in a conversation.
  ///
  /// No other thread changes the words of a timeline's conversation.
  private func difference(_ conversation: CachedConversation, from rank: Int) -> Int {
    unsafe words.withUnsafeBufferPointer { known in
      guard let start = known.baseAddress else { return 0 }
      let words = unsafe UnsafeRawPointer(conversation.words).assumingMemoryBound(to: UInt32.self)
      return unsafe pk_find_difference(words, start, rank, known.count)
    }
  }

  private mutating func sortRanks() {
    let words = words
    ranks = words.indices.map { Int32($0) }.sorted { words[Int($0)] < words[Int($1)] }
    ends = []
    for index in ranks.indices {
      let schedule = UInt32(MemberWord(bits: words[Int(ranks[index])]).schedule)
      if ends.last?.schedule != schedule { ends.append((schedule, 0)) }
      ends[ends.count - 1].end = UInt32(index + 1)
    }
  }

  /// Counts a message by its table of outcomes.
  fileprivate mutating func add(_ codes: UnsafePointer<UInt8>, count: Int) {
    hasNewCounts = true
    let codes = unsafe UnsafeBufferPointer(start: codes, count: count)
    for index in tables.indices where unsafe tables[index].elementsEqual(codes) {
      counts[index] += 1
      return
    }
    tables.append(unsafe Array(codes))
    counts.append(1)
  }

  fileprivate func user(_ rank: Int) -> UInt32 { users[rank] }
}

/// Which members a conversation has, and by which settings of its own and of the app.
struct MemberListKey: Equatable {
  let members: UInt64
  let conversation: UInt32
  let row: UInt32
  let app: UInt32

  init(_ target: borrowing ConversationTarget) {
    members = UInt64(target.members) << 32 | UInt64(target.memberRow.revision)
    conversation = target.conversation
    row = target.row.revision
    app = target.appRevision
  }
}

extension FanoutTimeline {
  /// Adds the message that was decided last to the ledger of its conversation.
  ///
  /// - Precondition: ``keepsConversations``.
  /// - Parameters:
  ///   - ledger: that of the conversation; nil for none yet. One of other members or settings is
  ///     closed, and replaced.
  ///   - users: what the members are called; asked for when a ledger begins.
  ///   - emit: called with what members got.
  /// - Complexity: O(states + mentions + members whose state changes); O(members) when a word
  ///   changed, and when a ledger begins.
  package func record(
    in ledger: inout MemberLedger?, users: ([UserIndex]) -> [UInt32], _ emit: MemberLedger.Emit
  ) {
    precondition(keepsConversations, "a ledger needs the conversation")
    guard result.memberCount > 0, let conversation = exactConversation(),
      let quiet = result.storage.quiet
    else { return }
    let key = MemberListKey(conversation.target)
    let revision = conversation.revision.load(ordering: .relaxed)
    if ledger?.key != key {
      ledger?.flush(emit)
      let members = result.row.range.map { UserIndex(engineVersion.tables.memberUsers[$0]) }
      ledger = MemberLedger(key, conversation, quiet, revision, users: users(members))
    } else {
      ledger?.follow(conversation, quiet, revision, emit)
    }
    unsafe ledger?.add(result.codes, count: result.stateCount)
    guard let ledger else { return }
    if result.sender >= 0 {
      let code = unsafe result.codes[Int(result.senderState)]
      if code != 0 { emit(ledger.user(result.sender), code, -1) }
    }
    let corrections = unsafe result.corrections
    for index in 0..<corrections.count {
      let correction = unsafe corrections[index]
      let user = ledger.user(Int(correction.rank))
      let code = unsafe result.codes[Int(correction.state)]
      if code != 0 { emit(user, code, -1) }
      if correction.code != 0 { emit(user, correction.code, 1) }
    }
  }
}
