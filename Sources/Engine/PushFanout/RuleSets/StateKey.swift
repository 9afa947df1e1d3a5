/// The position of a pair of a user's and a member's class in tables of ``StateRules``.
struct StateKey: BitwiseCopyable {
  let index: Int

  /// The number of pairs.
  static let count = MemberClass.count << UserClass.bitCount

  @inline(__always)
  init(_ user: UserClass, _ member: MemberClass) {
    index = Int(member.bits) << UserClass.bitCount | Int(user.bits)
  }
}
