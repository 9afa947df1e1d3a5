/// Who is in a room: a user for each rank, all of them different.
///
/// Low ranks post most. The top 10 % of the users, who are in many rooms, are those of the lowest
/// numbers; their part of the room is spread over all ranks.
struct RoomMembers {
  private let size: Int
  private let coreSize: Int
  private let coreUsers: Int
  private let core: Permutation
  private let others: Permutation

  init(room: Int, size: Int, options: WorkloadOptions) {
    self.size = size
    let users = options.sizes.users
    coreUsers = max(1, users / 10)
    let seed = options.seed
    let key = Draws.key(seed, .core, UInt64(room))
    // Rounded up or down by chance, so that small rooms have their share, too.
    var draws = Draws(seed, .core, UInt64(room), 1)
    let wanted = Int(Double(size) * options.sizes.topJoinersShare + draws.share())
    coreSize = max(min(wanted, coreUsers, size), size - (users - coreUsers))
    core = Permutation(count: coreUsers, key: key)
    others = Permutation(
      count: max(1, users - coreUsers), key: Draws.key(seed, .others, UInt64(room)))
  }

  /// The user of a rank, 0 ..< the room's size.
  func user(atRank rank: Int) -> Int {
    let before = rank * coreSize / size
    let isCore = (rank + 1) * coreSize / size > before
    return isCore ? core[before] : coreUsers + others[rank - before]
  }
}
