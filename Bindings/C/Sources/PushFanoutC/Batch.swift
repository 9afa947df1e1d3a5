// swift-format-ignore-file: AlwaysUseLowerCamelCase
internal import CPushFanoutABI
internal import PushFanout
internal import PushModel

/// Memory that messages of a batch are written to, each at places of its own.
///
/// SAFETY: the threads write disjoint parts.
@safe private struct BatchOutput: @unchecked Sendable {
  let summaries: UnsafeMutablePointer<pf_summary>
  let counts: UnsafeMutablePointer<UInt32>?
  /// The codes of each message, by its index.
  let codes: UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?
}

@c @implementation
func pf_swift_decide_batch(
  _ engine: OpaquePointer?, _ messages: OpaquePointer?, _ first: Int,
  _ count: Int, _ parts: UInt32, _ batch: UnsafeMutablePointer<UnsafeMutablePointer<pf_batch>?>?,
  _ error: ErrorText
) -> Int32 {
  unsafe answering(error) {
    let batch = try unsafe result(batch)
    let all = try unsafe MessagesObject.at(messages, of: engine).messages
    guard parts <= PF_COUNTS | PF_CODES | PF_PUSH_BITMAPS else {
      throw CallError("parts must be a sum of PF_COUNTS, PF_CODES and PF_PUSH_BITMAPS")
    }
    guard first >= 0, count >= 0, first <= all.count, count <= all.count - first else {
      throw CallError(
        "messages \(UInt(bitPattern: first)) and \(UInt(bitPattern: count)) more, but there are "
          + "\(all.count)")
    }
    let made = unsafe allocate(pf_batch.self, 1)
    unsafe made.initialize(
      to: batchOf(Array(all[first..<first + count]), EngineObject.of(engine).engine, parts))
    unsafe batch.pointee = made
  }
}

private func batchOf(_ messages: [Message], _ engine: Fanout, _ parts: UInt32) -> pf_batch {
  let count = messages.count
  let needsCodes = parts & (PF_CODES | PF_PUSH_BITMAPS) != 0
  let output = unsafe BatchOutput(
    summaries: allocate(pf_summary.self, count),
    counts: parts & PF_COUNTS == 0 ? nil : allocate(UInt32.self, count * Outcome.codeCount),
    codes: needsCodes ? allocate(UnsafeMutablePointer<UInt8>?.self, count) : nil)
  engine.decide(messages) { index, result in
    let counts = result.counts
    unsafe output.summaries[index] = pf_summary(result)
    if let all = unsafe output.counts {
      unsafe write(counts, to: all + index * Outcome.codeCount)
    }
    if let codes = unsafe output.codes {
      let own = unsafe allocate(UInt8.self, result.memberCount)
      unsafe result.writeCodes(to: own)
      unsafe codes[index] = unsafe own
    }
  }
  var batch = unsafe pf_batch()
  unsafe batch.count = count
  unsafe batch.summaries = UnsafePointer(output.summaries)
  unsafe batch.counts = unsafe output.counts.map { unsafe UnsafePointer($0) }
  guard let codes = unsafe output.codes else { return unsafe batch }
  let sizes = (0..<count).map { unsafe Int(output.summaries[$0].members) }
  if parts & PF_CODES != 0 {
    unsafe (batch.code_starts, batch.codes) = join(sizes) { index, output in
      if let own = unsafe codes[index] { unsafe output.update(from: own, count: sizes[index]) }
    }
  }
  if parts & PF_PUSH_BITMAPS != 0 {
    unsafe (batch.bitmap_starts, batch.bitmaps) = join(sizes.map { ($0 + 7) / 8 }) {
      index, output in
      unsafe pf_pack_pushes(codes[index], sizes[index], output)
    }
  }
  for index in 0..<count { unsafe pf_free(codes[index]) }
  unsafe pf_free(codes)
  return unsafe batch
}

/// Parts of given sizes behind each other, and where they begin.
private func join(
  _ sizes: [Int], _ write: (Int, UnsafeMutablePointer<UInt8>) -> Void
) -> (starts: UnsafePointer<UInt64>, bytes: UnsafePointer<UInt8>) {
  var starts: [UInt64] = [0]
  for size in sizes { starts.append(starts[starts.count - 1] + UInt64(size)) }
  let bytes = unsafe allocate(UInt8.self, Int(starts[sizes.count]))
  for index in sizes.indices { unsafe write(index, bytes + Int(starts[index])) }
  return unsafe (copy(starts), UnsafePointer(bytes))
}
