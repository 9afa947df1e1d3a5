package import PushModel

extension Fanout {
  /// The index of a user; nil if the id never appeared.
  package func index(of user: Identifier) -> UserIndex? {
    reading { tables in tables.userIDs.index(of: user).map { UserIndex($0) } }
  }

  /// The indices of users, looked up together, so that the cache misses of one wait for no other's.
  package func indices(of users: [Identifier]) -> [UserIndex?] {
    reading { tables in
      let lookup = tables.userIDs.lookup
      let hashes = users.map { user in
        let hash = lookup.hash(user)
        lookup.slots.prefetch(hash)
        return hash
      }
      for hash in hashes { lookup.prefetch(hash) }
      return zip(users, hashes).map { user, hash in
        lookup.index(of: user, hash: hash).map { UserIndex($0) }
      }
    }
  }
}
