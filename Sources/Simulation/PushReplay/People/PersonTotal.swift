internal import PushFiles
public import PushModel

/// What one person came to over a whole replay or comparison.
public struct PersonTotal: Sendable, Equatable {
  /// The person.
  public let user: Identifier
  /// Days on which the person was a recipient.
  public let days: Int
  /// Pushes, in a comparison those in A.
  public let pushes: Int
  /// Pushes in B; nil in a replay.
  public let pushesInB: Int?
  /// The reason of most decisions of a person who was never reached; nil in a comparison.
  public let neverReason: Reason?
}

/// Where a list of all people goes, as CSV.
public struct PeopleRows {
  private static let header = Array("user,days,pushes,neverReachedBy\n".utf8)
  private static let comparedHeader = Array("user,days,pushesA,pushesB\n".utf8)

  private let write: ([UInt8]) throws -> Void

  /// - Parameter write: takes the header and the rows, in the order of ids.
  public init(write: @escaping ([UInt8]) throws -> Void) { self.write = write }

  /// Writes each person that `forEach` gives.
  func write(
    isCompared: Bool, _ forEach: (_ body: (PersonTotal) throws -> Void) throws -> Void
  ) throws {
    var bytes = isCompared ? Self.comparedHeader : Self.header
    try forEach { person in
      bytes.appendCSV(person.user.text)
      let last = person.pushesInB.map { "\($0)" } ?? person.neverReason?.name ?? ""
      bytes.append(contentsOf: ",\(person.days),\(person.pushes),\(last)\n".utf8)
      guard bytes.count >= 1 << 16 else { return }
      try write(bytes)
      bytes.removeAll(keepingCapacity: true)
    }
    try write(bytes)
  }
}
