/// The table position of a user's and a member's class in ``StateRules``.
struct StateKey: BitwiseCopyable {
  let index: Int

  static let count = MemberClass.count << UserClass.bitCount

  @inline(__always)
  init(_ user: UserClass, _ member: MemberClass) {
    index = Int(member.bits) << UserClass.bitCount | Int(user.bits)
  }
}
