import Glibc
import PushModel

@testable import PushFanout

// The reader of snapshots under libFuzzer: whatever a file says, it is refused, or opens an engine
// that answers something and can be updated; nothing crashes.
//
// An input is a list of changes to a snapshot with records of every kind, each of eight bytes; the
// checksums are then made right, as changes would be noticed by them otherwise. An input whose first
// byte is 255 is a file as it is.

private let bases = [RuleSet.easemob, .rongcloud].flatMap { rules in
  [3, 70].map { Base(rules, userCount: $0) }
}

@c(LLVMFuzzerTestOneInput)
public func test(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let input = unsafe Array(UnsafeBufferPointer(start: start, count: count))
  guard let first = input.first else { return 0 }
  if first == 255 {
    tryToOpen(Array(input.dropFirst()), .easemob, everywhere: true)
    return 0
  }
  let base = bases[Int(first) % bases.count]
  var mutant = Mutant(base)
  for place in stride(from: 1, through: input.count - 8, by: 8) {
    mutant.change(by: Array(input[place..<place + 8]))
  }
  tryToOpen(mutant.sealed, base.rules, everywhere: first & 64 != 0)
  return 0
}

/// A file that is written anew for each input; in memory, where there is such a folder.
private let file: (descriptor: CInt, path: String) = {
  let folder = unsafe access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp"
  let path = "\(folder)/fuzz-snapshot-\(getpid())"
  let descriptor = unsafe open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
  guard descriptor >= 0 else { fatalError("\(path): errno \(errno)") }
  atexit { unsafe unlink(file.path) }
  return (descriptor, path)
}()

private func tryToOpen(_ bytes: [UInt8], _ rules: RuleSet, everywhere: Bool) {
  guard ftruncate(file.descriptor, 0) == 0,
    unsafe pwrite(file.descriptor, bytes, bytes.count, 0) == bytes.count
  else { fatalError("the file in memory cannot be written: errno \(errno)") }
  do throws(SnapshotError) {
    let fanout = try Fanout(snapshot: file.path, identity: Base.identity, threads: 1)
    use(fanout, rules, everywhere: everywhere)
  } catch {
    // A message must not crash either.
    _ = error.description.utf8.count
  }
}

/// Everything that reads what a snapshot says.
private func use(_ fanout: Fanout, _ rules: RuleSet, everywhere: Bool) {
  var result = FanoutResult()
  // Each kind of conversation has the engine work out its rules once, which is most of the time.
  let messages = Base.messages(rules).filter { everywhere || $0.conversation == "g" }
  for round in 0..<2 {
    for message in messages {
      fanout.decide(message, into: &result)
      read(result)
      _ = fanout.decision(message, for: "u1")
      _ = try? fanout.nextChange(for: "u2", in: message.conversation, after: message.at)
    }
    for user in 0..<min(fanout.userCount, 12) {
      let id = fanout.id(of: UserIndex(UInt32(user)))
      _ = (fanout.user(id), fanout.member(id, of: "g"))
    }
    for id: Identifier in ["g", "t", "p", "ultra"] { _ = fanout.conversation(id) }
    _ = fanout.memoryReport()
    if round == 1 { return }
    try? fanout.update { (update) throws(FanoutError) in
      for number in 0..<20 {
        try update.setUser(Identifier("u\(number)"), UserSettings())
        try update.setMember(Identifier("new\(number)"), of: "g")
      }
      try update.setUser("u1", Base.user(1, rules))
    }
    try? fanout.update { (update) throws(FanoutError) in try update.removeMember("u2", of: "g") }
  }
}

private func read(_ result: FanoutResult) {
  var codes = [UInt8](repeating: 0, count: result.memberCount)
  var span = codes.mutableSpan
  result.writeCodes(into: &span)
  result.forEachRecipient { user, _ in _ = result.devices(of: user) }
  _ = (result.counts.nonZero.count, result.pushes.ids.count { !$0.isEmpty })
}
