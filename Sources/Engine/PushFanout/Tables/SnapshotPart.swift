/// The sections of a snapshot, in order.
enum SnapshotPart: UInt32, CaseIterable {
  case settings = 1
  case userCharacters, userEntries, userSlots, userFolded
  case nameCharacters, nameEntries, nameSlots
  case conversationCharacters, conversationEntries, conversationSlots
  case packedUsers, schedules, userMutes, deviceLists, devices
  case conversations, memberUsers, packedMembers, memberMutes, memberSinces, memberPolicies
  case overrides, memberKeys
  case nameLists, nameListStarts, nameHolders, lastNameHolders

  /// How ``MemoryReport`` counts a table.
  enum Subject { case none, ids, users, userExtras, conversations, memberships, membershipExtras }

  /// The bytes per page, with its header, and the elements; nil without pages.
  var paging: (byteCount: Int, elementCount: Int)? { properties.paging }
  var subject: Subject { properties.subject }

  private var properties: (paging: (byteCount: Int, elementCount: Int)?, subject: Subject) {
    switch self {
    case .settings, .userCharacters, .nameCharacters, .conversationCharacters: (nil, .none)
    case .userSlots, .userFolded, .nameSlots, .conversationSlots: (nil, .none)
    case .userEntries, .conversationEntries: (Self.paging(of: IDEntry.self), .ids)
    case .nameEntries: (Self.paging(of: IDEntry.self), .userExtras)
    case .packedUsers: (Self.paging(of: PackedUser.self), .users)
    case .schedules, .deviceLists: (Self.paging(of: UInt32.self), .users)
    case .userMutes: (Self.paging(of: PagedMap.Slot.self), .userExtras)
    case .devices: (Self.paging(of: DeviceRecord.self), .userExtras)
    case .conversations: (Self.paging(of: ConversationRow.self), .conversations)
    case .memberUsers, .memberKeys: (Self.paging(of: UInt32.self), .memberships)
    case .packedMembers: (Self.paging(of: UInt8.self), .memberships)
    case .overrides: (Self.paging(of: OverrideRecord.self), .membershipExtras)
    case .nameLists: (Self.paging(of: UInt32.self), .userExtras)
    case .nameHolders: (Self.paging(of: NameLists.Holder.self), .userExtras)
    case .nameListStarts, .lastNameHolders: (Self.paging(of: PagedMap.Slot.self), .userExtras)
    case .memberMutes, .memberSinces, .memberPolicies:
      (Self.paging(of: PagedMap.Slot.self), .membershipExtras)
    }
  }

  private static func paging<Element: BitwiseCopyable>(
    of _: Element.Type
  ) -> (byteCount: Int, elementCount: Int) {
    (PagedTable<Element>.storedPageSize, PagedTable<Element>.pageSize)
  }

  /// Bytes per checksum: whole pages that fit a core's cache.
  var blockSize: Int { paging.map { $0.byteCount * 256 } ?? 1 << 18 }

  /// Whether a section of this size can hold the elements. Neither number is near overflow.
  func canHold(_ elementCount: Int, in byteCount: Int) -> Bool {
    if let paging {
      let pages = (elementCount + paging.elementCount - 1) / paging.elementCount
      return byteCount == pages * paging.byteCount
    }
    switch self {
    case .settings: return elementCount == 1
    case .userCharacters, .nameCharacters, .conversationCharacters:
      return byteCount == elementCount
    default:
      return byteCount == (elementCount == 0 ? 0 : PageStore.headerSize + elementCount * 8)
    }
  }

  static let alignment = 4096

  static func aligned(_ offset: Int) -> Int { (offset + alignment - 1) / alignment * alignment }
}

/// The sections of a table of ids.
struct IDParts {
  let characters: SnapshotPart
  let entries: SnapshotPart
  let slots: SnapshotPart
  let folded: SnapshotPart?

  static let users = IDParts(
    characters: .userCharacters, entries: .userEntries, slots: .userSlots, folded: .userFolded)
  static let names = IDParts(
    characters: .nameCharacters, entries: .nameEntries, slots: .nameSlots, folded: nil)
  static let conversations = IDParts(
    characters: .conversationCharacters, entries: .conversationEntries, slots: .conversationSlots,
    folded: nil)
}
