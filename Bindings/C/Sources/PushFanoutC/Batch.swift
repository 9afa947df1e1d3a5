// swift-format-ignore-file: AlwaysUseLowerCamelCase
internal import CPushFanoutABI
internal import Glibc
internal import PushFanout
internal import PushModel

/// Asks the caller of a long call whether it goes on, not more often than is of use.
///
/// SAFETY: used while the call lasts, for which the caller's structure is valid.
@safe struct Watch {
  private let watch: UnsafePointer<pf_watch>?
  private var last = Self.now
  /// So many nanoseconds a call goes on without asking.
  static let interval = 50_000_000

  init(_ watch: UnsafePointer<pf_watch>?) { unsafe self.watch = unsafe watch }

  /// That of options; programs that were built with an earlier header have none.
  init(of options: UnsafePointer<pf_options>?) {
    let hasWatch =
      unsafe (options?.pointee.struct_size ?? 0) >= MemoryLayout<pf_options>.size
    unsafe self.init(hasWatch ? options?.pointee.watch : nil)
  }

  var isThere: Bool { unsafe watch?.pointee.ask != nil }

  /// The nanoseconds of a clock that is not set.
  static var now: Int {
    var time = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return time.tv_sec * 1_000_000_000 + time.tv_nsec
  }

  /// - Parameters:
  ///   - done: how many messages were done.
  ///   - all: how many there are; 0 if that is not known.
  mutating func ask(_ done: Int, of all: Int = 0) throws(CallError) {
    guard isThere, Self.now - last >= Self.interval || done == all && all > 0 else { return }
    try askNow(done, of: all)
  }

  mutating func askNow(_ done: Int, of all: Int = 0) throws(CallError) {
    guard let watch = unsafe watch, let ask = unsafe watch.pointee.ask else { return }
    last = Self.now
    guard unsafe ask(watch.pointee.context, UInt64(done), UInt64(all)) == 0 else {
      throw CallError("the caller ended the call", status: PF_CANCELLED)
    }
  }
}

/// The messages of a call, which are checked.
private func checkedRange(
  _ messages: [Message], _ first: Int, _ count: Int, _ parts: UInt32
) throws -> Range<Int> {
  guard parts <= PF_COUNTS | PF_CODES | PF_PUSH_BITMAPS else {
    throw CallError("parts must be a sum of PF_COUNTS, PF_CODES and PF_PUSH_BITMAPS")
  }
  guard first >= 0, count >= 0, first <= messages.count, count <= messages.count - first else {
    throw CallError(
      "messages \(UInt(bitPattern: first)) and \(UInt(bitPattern: count)) more, but there are "
        + "\(messages.count)")
  }
  return first..<first + count
}

@c @implementation
func pf_swift_batch_size(
  _ engine: OpaquePointer?, _ messages: OpaquePointer?, _ first: Int, _ count: Int,
  _ parts: UInt32, _ size: UnsafeMutablePointer<UInt64>?, _ error: ErrorText
) -> Int32 {
  unsafe answering(error) {
    let size = try unsafe result(size)
    let all = try unsafe MessagesObject.at(messages, of: engine).messages
    let range = try checkedRange(all, first, count, parts)
    let version = unsafe EngineObject.of(engine).engine.currentVersion
    unsafe size.pointee = BatchLayout(all[range], version, parts).byteCount
  }
}

@c @implementation
func pf_swift_decide_batch(
  _ engine: OpaquePointer?, _ messages: OpaquePointer?, _ first: Int,
  _ count: Int, _ parts: UInt32, _ batch: UnsafeMutablePointer<UnsafeMutablePointer<pf_batch>?>?,
  _ error: ErrorText
) -> Int32 {
  unsafe pf_swift_decide_batch_watched(engine, messages, first, count, parts, nil, batch, error)
}

@c @implementation
func pf_swift_decide_batch_watched(
  _ engine: OpaquePointer?, _ messages: OpaquePointer?, _ first: Int, _ count: Int,
  _ parts: UInt32, _ watch: UnsafePointer<pf_watch>?,
  _ batch: UnsafeMutablePointer<UnsafeMutablePointer<pf_batch>?>?, _ error: ErrorText
) -> Int32 {
  unsafe answering(error) {
    let batch = try unsafe result(batch)
    let all = try unsafe MessagesObject.at(messages, of: engine).messages
    let range = try checkedRange(all, first, count, parts)
    let engine = unsafe EngineObject.of(engine).engine
    let version = engine.currentVersion
    let output = try BatchOutput(BatchLayout(all[range], version, parts))
    do {
      try decide(all, range, engine, version, into: output, unsafe Watch(watch))
    } catch {
      unsafe pf_batch_free(output.batch)
      throw error
    }
    unsafe batch.pointee = output.batch
  }
}

/// Decides messages in pieces, between which the caller is asked.
private func decide(
  _ messages: [Message], _ range: Range<Int>, _ engine: Fanout, _ version: FanoutVersion,
  into output: BatchOutput, _ watch: Watch
) throws {
  var watch = watch
  var (start, size) = (range.lowerBound, watch.isThere ? 32 : range.count)
  while start < range.upperBound {
    let end = min(range.upperBound, start + size)
    let begin = Watch.now
    let offset = start - range.lowerBound
    engine.decide(Array(messages[start..<end]), on: version) { index, result in
      output.write(offset + index, result)
    }
    start = end
    // Pieces that take about as long as the caller waits.
    let time = Watch.now - begin
    if time < Watch.interval { size = min(size * (time < Watch.interval / 8 ? 4 : 2), 1 << 20) }
    if time > 2 * Watch.interval { size = max(1, size / 4) }
    try watch.ask(start - range.lowerBound, of: range.count)
  }
}

/// Where each message's part of the arrays of a batch begins: known before anything is decided.
private struct BatchLayout {
  let count: Int
  let parts: UInt32
  /// One more than messages; empty for parts that are not asked for.
  var codeStarts: [UInt64] = []
  var bitmapStarts: [UInt64] = []

  /// - Complexity: O(messages).
  init(_ messages: ArraySlice<Message>, _ version: FanoutVersion, _ parts: UInt32) {
    count = messages.count
    self.parts = parts
    guard parts & (PF_CODES | PF_PUSH_BITMAPS) != 0 else { return }
    codeStarts = [0]
    bitmapStarts = [0]
    for message in messages {
      let members = UInt64(version.memberCount(of: message.conversation))
      codeStarts.append(codeStarts[codeStarts.count - 1] + members)
      bitmapStarts.append(bitmapStarts[bitmapStarts.count - 1] + (members + 7) / 8)
    }
  }

  var codeCount: UInt64 { parts & PF_CODES == 0 ? 0 : codeStarts[count] }
  var bitmapCount: UInt64 { parts & PF_PUSH_BITMAPS == 0 ? 0 : bitmapStarts[count] }
  var countCount: Int { parts & PF_COUNTS == 0 ? 0 : count * Outcome.codeCount }

  /// The bytes of all arrays.
  var byteCount: UInt64 {
    let starts = UInt64((parts & PF_CODES == 0 ? 0 : 1) + (parts & PF_PUSH_BITMAPS == 0 ? 0 : 1))
    return codeCount + bitmapCount + 4 * UInt64(countCount)
      + 8 * starts * UInt64(count + 1) + UInt64(count * MemoryLayout<pf_summary>.stride)
  }
}

/// The arrays of a batch, which messages are written to, each at places of its own.
///
/// SAFETY: the threads write disjoint parts; ``batch`` is given away or freed by the one who made it.
@safe private struct BatchOutput: @unchecked Sendable {
  let batch: UnsafeMutablePointer<pf_batch>
  private let layout: BatchLayout
  private let summaries: UnsafeMutablePointer<pf_summary>
  private let counts: UnsafeMutablePointer<UInt32>?
  private let codes: UnsafeMutablePointer<UInt8>?
  private let bitmaps: UnsafeMutablePointer<UInt8>?

  /// - Throws: when there is not so much memory; then there is no batch.
  init(_ layout: BatchLayout) throws(CallError) {
    self.layout = layout
    let hasCounts = layout.parts & PF_COUNTS != 0
    let hasCodes = layout.parts & PF_CODES != 0
    let hasBitmaps = layout.parts & PF_PUSH_BITMAPS != 0
    unsafe batch = allocate(pf_batch.self, 1)
    unsafe batch.initialize(to: pf_batch())
    let summaries = unsafe memory(pf_summary.self, layout.count)
    unsafe counts = hasCounts ? memory(UInt32.self, layout.countCount) : nil
    unsafe codes = hasCodes ? memory(UInt8.self, Int(layout.codeCount)) : nil
    unsafe bitmaps = hasBitmaps ? memory(UInt8.self, Int(layout.bitmapCount)) : nil
    let codeStarts = unsafe hasCodes ? memory(UInt64.self, layout.count + 1) : nil
    let bitmapStarts = unsafe hasBitmaps ? memory(UInt64.self, layout.count + 1) : nil
    unsafe batch.pointee = pf_batch(
      count: layout.count, summaries: summaries, counts: counts, code_starts: codeStarts,
      codes: codes, bitmap_starts: bitmapStarts, bitmaps: bitmaps)
    guard let summaries = unsafe summaries, unsafe !hasCounts || counts != nil,
      unsafe !hasCodes || codes != nil && codeStarts != nil,
      unsafe !hasBitmaps || bitmaps != nil && bitmapStarts != nil
    else {
      unsafe pf_batch_free(batch)
      throw CallError(
        "there is no memory for a batch of \(layout.byteCount) bytes", status: PF_MEMORY)
    }
    unsafe self.summaries = unsafe summaries
    if let starts = unsafe codeStarts {
      for (index, start) in layout.codeStarts.enumerated() { unsafe starts[index] = start }
    }
    if let starts = unsafe bitmapStarts {
      for (index, start) in layout.bitmapStarts.enumerated() { unsafe starts[index] = start }
    }
  }

  /// Writes the decision for a message.
  func write(_ index: Int, _ result: borrowing FanoutResult) {
    unsafe summaries[index] = pf_summary(result)
    if let counts = unsafe counts {
      unsafe PushFanoutC.write(result.counts, to: counts + index * Outcome.codeCount)
    }
    if let codes = unsafe codes {
      let own = unsafe codes + Int(layout.codeStarts[index])
      unsafe result.writeCodes(to: own)
      if let bitmaps = unsafe bitmaps {
        unsafe pf_pack_pushes(own, result.memberCount, bitmaps + Int(layout.bitmapStarts[index]))
      }
    } else if let bitmaps = unsafe bitmaps {
      unsafe result.withCodes { own in
        unsafe pf_pack_pushes(own, result.memberCount, bitmaps + Int(layout.bitmapStarts[index]))
      }
    }
  }
}

/// Memory for the caller; nil if there is none.
private func memory<Element: BitwiseCopyable>(
  _ type: Element.Type, _ count: Int
) -> UnsafeMutablePointer<Element>? {
  unsafe malloc(max(1, count * MemoryLayout<Element>.stride))?
    .bindMemory(to: type, capacity: max(1, count))
}
