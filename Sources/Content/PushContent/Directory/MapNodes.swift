internal import PushModel

/// A branch of an ``IdentifierMap``: sixteen nodes, of which the header says which ones are leaves.
///
/// SAFETY: all elements are initialised from ``make()`` on.
@safe final class MapBranch: ManagedBuffer<UInt16, AnyObject?> {
  /// How many bits of a hash select a child.
  static let bits: UInt32 = 4
  private static let width = 1 << Int(bits)
  /// So many branches use all bits of a hash.
  static let depthLimit = 32 / Int(bits)

  /// A branch without ids: its children are empty leaves.
  static func make() -> MapBranch {
    let made = create(minimumCapacity: width) { _ in .max }
    unsafe made.withUnsafeMutablePointerToElements {
      unsafe $0.initialize(repeating: nil, count: width)
    }
    return unsafe unsafeDowncast(made, to: MapBranch.self)
  }

  deinit {
    _ = unsafe withUnsafeMutablePointerToElements { unsafe $0.deinitialize(count: Self.width) }
  }

  /// The child for a hash, whose reference is not counted; nil for none.
  @inline(__always)
  func child(_ hash: UInt32, _ isLeaf: inout Bool) -> Unmanaged<AnyObject>? {
    unsafe withUnsafeMutablePointers { leaves, children in
      let slot = Int(hash) & (Self.width - 1)
      isLeaf = unsafe leaves.pointee >> UInt16(slot) & 1 != 0
      // A reference is an address; to load it as one counts nothing.
      let address = unsafe UnsafeRawPointer(children + slot).load(as: UInt.self)
      return unsafe UnsafeRawPointer(bitPattern: address).map {
        unsafe Unmanaged<AnyObject>.fromOpaque($0)
      }
    }
  }

  /// Changes a child of a branch that only one map has.
  func withChild<Result>(
    _ hash: UInt32, _ body: (inout AnyObject?, inout Bool) -> Result
  ) -> Result {
    unsafe withUnsafeMutablePointers { leaves, children in
      let slot = Int(hash) & (Self.width - 1)
      var isLeaf = unsafe leaves.pointee >> UInt16(slot) & 1 != 0
      let result = unsafe body(&children[slot], &isLeaf)
      let bit = UInt16(1) << UInt16(slot)
      unsafe leaves.pointee = isLeaf ? leaves.pointee | bit : leaves.pointee & ~bit
      return result
    }
  }

  /// Has `body` change the branch, which is copied first when others share it.
  static func withOwn<Result>(
    _ node: inout AnyObject?, _ body: (MapBranch) -> Result
  ) -> Result {
    let isOwn = isKnownUniquelyReferenced(&node)
    guard let found = node else { preconditionFailure("a branch") }
    var branch = unsafe unsafeDowncast(found, to: MapBranch.self)
    if !isOwn {
      branch = branch.copy()
      node = branch
    }
    return body(branch)
  }

  private func copy() -> MapBranch {
    let made = Self.create(minimumCapacity: Self.width) { _ in self.header }
    unsafe withUnsafeMutablePointerToElements { from in
      unsafe made.withUnsafeMutablePointerToElements {
        unsafe $0.initialize(from: from, count: Self.width)
      }
    }
    return unsafe unsafeDowncast(made, to: MapBranch.self)
  }

  /// Calls `body` with each child, and whether it is a leaf.
  func forEach(_ body: (AnyObject, Bool) -> Void) {
    unsafe withUnsafeMutablePointers { leaves, children in
      for slot in 0..<Self.width {
        let isLeaf = unsafe leaves.pointee >> UInt16(slot) & 1 != 0
        if let child = unsafe children[slot] { body(child, isLeaf) }
      }
    }
  }
}

/// What a leaf knows of its entries.
struct MapLeafHeader {
  var count = 0
  let capacity: Int
  /// Of each entry, by which most others are passed over.
  var tags = InlineArray<32, UInt16>(repeating: 0)
}

/// An id and its value.
struct MapEntry<Value> {
  let id: Identifier
  var value: Value
}

/// A leaf of an ``IdentifierMap``: some ids with their values.
///
/// SAFETY: the first `count` elements are initialised.
@safe final class MapLeaf<Value>: ManagedBuffer<MapLeafHeader, MapEntry<Value>> {
  /// So many ids a leaf has at most.
  private static var limit: Int { 32 }
  /// Room is made for so many more.
  private static var step: Int { 4 }

  private static func make(capacity: Int) -> MapLeaf {
    let made = create(minimumCapacity: capacity) { _ in MapLeafHeader(capacity: capacity) }
    return unsafe unsafeDowncast(made, to: MapLeaf.self)
  }

  deinit {
    unsafe withUnsafeMutablePointers { header, entries in
      _ = unsafe entries.deinitialize(count: header.pointee.count)
    }
  }

  @inline(__always)
  func withValue<Result>(
    of id: Identifier, _ hash: UInt32, _ body: (borrowing Value) -> Result
  ) -> Result? {
    guard let index = find(MapKey(id: id, hash: hash)) else { return nil }
    return unsafe withUnsafeMutablePointerToElements { unsafe body($0[index].value) }
  }

  @inline(__always)
  private func find(_ key: MapKey) -> Int? {
    unsafe withUnsafeMutablePointers { header, entries in
      let tag = key.tag
      for index in 0..<(unsafe header.pointee.count)
      where unsafe header.pointee.tags[index] == tag && entries[index].id == key.id {
        return index
      }
      return nil
    }
  }

  /// Changes the value of an id in the leaf of a slot.
  ///
  /// - Returns: nil when the leaf is full.
  static func update<Result>(
    _ node: inout AnyObject?, _ key: MapKey, _ value: () -> Value, _ isNew: inout Bool,
    _ body: (inout Value) -> Result
  ) -> Result? {
    let found = node.flatMap { unsafe unsafeDowncast($0, to: MapLeaf.self).find(key) }
    if let found {
      return withOwn(&node, room: 0) { leaf in
        unsafe leaf.withUnsafeMutablePointerToElements { unsafe body(&$0[found].value) }
      }
    }
    let count = node.map { unsafe unsafeDowncast($0, to: MapLeaf.self).header.count } ?? 0
    if count == limit { return nil }
    isNew = true
    return withOwn(&node, room: 1) { leaf in
      leaf.append(MapEntry(id: key.id, value: value()), key.tag)
      return unsafe leaf.withUnsafeMutablePointerToElements { unsafe body(&$0[count].value) }
    }
  }

  static func remove(_ node: inout AnyObject?, _ key: MapKey) {
    guard let found = node.flatMap({ unsafe unsafeDowncast($0, to: MapLeaf.self).find(key) })
    else { return }
    withOwn(&node, room: 0) { leaf in
      unsafe leaf.withUnsafeMutablePointers { header, entries in
        let last = unsafe header.pointee.count - 1
        unsafe entries.swap(found, last)
        unsafe header.pointee.tags[found] = header.pointee.tags[last]
        unsafe (entries + last).deinitialize(count: 1)
        unsafe header.pointee.count = last
      }
    }
  }

  /// A branch with the entries of a leaf.
  static func split(_ node: AnyObject?, depth: Int) -> MapBranch {
    let branch = MapBranch.make()
    node.map { node in
      unsafe unsafeDowncast(node, to: MapLeaf.self).forEachEntry { entry in
        let key = MapKey(id: entry.id, hash: mapHash(entry.id))
        branch.withChild(key.hash >> (UInt32(depth) * MapBranch.bits)) { child, _ in
          withOwn(&child, room: 1) { $0.append(entry, key.tag) }
        }
      }
    }
    return branch
  }

  private func append(_ entry: MapEntry<Value>, _ tag: UInt16) {
    unsafe withUnsafeMutablePointers { header, entries in
      let index = unsafe header.pointee.count
      unsafe (entries + index).initialize(to: entry)
      unsafe header.pointee.tags[index] = tag
      unsafe header.pointee.count = index + 1
    }
  }

  /// Has `body` change a leaf with room for so many more, which is copied first when others share
  /// it.
  private static func withOwn<Result>(
    _ node: inout AnyObject?, room: Int, _ body: (MapLeaf) -> Result
  ) -> Result {
    let isOwn = isKnownUniquelyReferenced(&node)
    guard let found = node else {
      let made = make(capacity: max(room, step))
      node = made
      return body(made)
    }
    var leaf = unsafe unsafeDowncast(found, to: MapLeaf.self)
    let count = leaf.header.count
    if !isOwn || count + room > leaf.header.capacity {
      let made = make(capacity: (count + room + step - 1) / step * step)
      leaf.copy(to: made)
      leaf = made
      node = made
    }
    return body(leaf)
  }

  private func copy(to other: MapLeaf) {
    unsafe withUnsafeMutablePointers { header, entries in
      unsafe other.withUnsafeMutablePointers { otherHeader, otherEntries in
        unsafe otherEntries.initialize(from: entries, count: header.pointee.count)
        unsafe otherHeader.pointee.tags = header.pointee.tags
        unsafe otherHeader.pointee.count = header.pointee.count
      }
    }
  }

  func forEach(_ body: (Identifier, Value) -> Void) { forEachEntry { body($0.id, $0.value) } }

  private func forEachEntry(_ body: (MapEntry<Value>) -> Void) {
    unsafe withUnsafeMutablePointers { header, entries in
      for index in 0..<(unsafe header.pointee.count) { unsafe body(entries[index]) }
    }
  }
}

extension UnsafeMutablePointer {
  /// Exchanges two elements, which may be the same.
  fileprivate func swap(_ left: Int, _ right: Int) {
    if left == right { return }
    let held = unsafe (self + left).move()
    unsafe (self + left).moveInitialize(from: self + right, count: 1)
    unsafe (self + right).initialize(to: held)
  }
}
