package import PushModel

extension Fanout {
  /// The index of a user; nil if the id never appeared.
  package func index(of user: Identifier) -> UserIndex? {
    reading { tables in tables.userIDs.index(of: user).map { UserIndex($0) } }
  }
}
