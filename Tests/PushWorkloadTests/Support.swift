import PushModel
import PushWorkload

/// All rows of a file, as bytes.
func bytes(_ file: WorkloadText.File, of text: WorkloadText, threads: Int = 1) -> [UInt8] {
  let sink = Sink()
  text.write(file, threads: threads) { sink.take($0, $1) }
  return sink.bytes
}

/// What a file comes to.
final class Sink {
  private(set) var bytes: [UInt8] = []
  private(set) var rows = 0

  func take(_ piece: [UInt8], _ rows: Int) {
    bytes += piece
    self.rows += rows
  }
}

/// A small world: all kinds of rooms, a giant among them, and more than one piece of everything.
func smallWorld(
  _ rules: RuleSet, seed: UInt64 = 1, change: (inout WorkloadOptions) -> Void = { _ in }
) throws -> Workload {
  var options = WorkloadOptions()
  options.seed = seed
  options.rules = rules
  options.sizes.users = 400
  options.sizes.rooms = 60
  options.traffic.messages = 500
  change(&options)
  return try Workload(options)
}

/// The hash FNV-1a, 64 bits.
func hash(_ bytes: some Sequence<UInt8>, _ start: UInt64 = 0xCBF2_9CE4_8422_2325) -> UInt64 {
  bytes.reduce(start) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
}
