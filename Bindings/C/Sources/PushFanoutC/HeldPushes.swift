// swift-format-ignore-file: AlwaysUseLowerCamelCase
internal import CPushFanoutABI
internal import PushFanout
internal import PushModel

@c @implementation
func pf_swift_relation_held(
  _ relation: OpaquePointer?, _ stream: UnsafeMutablePointer<ArrowArrayStream>?,
  _ error: ErrorText
) -> Int32 {
  unsafe exporting(to: stream, error) { unsafe HeldSource(RelationObject.at(relation)) }
}

/// The held pushes of a relation, batch by batch.
private final class HeldSource: ArrowSource {
  /// A batch ends with the message that makes it have so many rows.
  private static let batchSize = 65_536

  private let relation: RelationObject
  private let timeline: FanoutTimeline
  private var next = 0

  init(_ relation: RelationObject) {
    self.relation = relation
    timeline = FanoutTimeline(relation.version)
  }

  override var fields: [ArrowField] {
    [
      ArrowField("message", "I"), ArrowField("user", relation.userForm.format),
      ArrowField("code", "C"), ArrowField("pushAt", "l"),
    ]
  }

  override var metadata: [(key: String, value: String)] { relation.metadata }

  override func nextBatch() -> ArrowBatch? {
    var messages: [UInt32] = []
    var users: [UInt32] = []
    var codes: [UInt8] = []
    var instants: [Int64] = []
    var held = FanoutCounts()
    while next < relation.messages.messages.count, codes.count < Self.batchSize {
      _ = timeline.counts(relation.messages.messages[next], held: &held) { user, at, code in
        users.append(user.rawValue)
        codes.append(code)
        instants.append(at)
      }
      messages.append(
        contentsOf: repeatElement(UInt32(next), count: codes.count - messages.count))
      next += 1
    }
    guard !codes.isEmpty else { return nil }
    return ArrowBatch(
      length: codes.count, offset: 0,
      columns: [
        [SharedColumn(copying: messages)], columns(of: users), [SharedColumn(copying: codes)],
        [SharedColumn(copying: instants)],
      ])
  }

  private func columns(of users: [UInt32]) -> [SharedColumn] {
    func forEachID(_ body: (RawSpan) -> Void) {
      for user in users.map(Int.init) {
        relation.version.forEachUserID(in: user..<user + 1) { _, id in body(id) }
      }
    }
    switch relation.userForm {
    case .numbers: return [SharedColumn(copying: users)]
    case .ids:
      var ids = IDColumns(capacity: users.count)
      forEachID { ids.append($0) }
      return ids.finish()
    case .views:
      let views = IDViewCache()
      return [views.views(count: users.count, forEachID)] + views.finish()
    }
  }
}
