internal import PushModel

/// A map from ids to values. Copies share what is not changed: a change of a copy copies the path
/// to the value, not the map.
///
/// A tree of branches by four bits of an id's hash each, with leaves of up to 32 ids. Neither a
/// look-up nor a change depends on the number of ids but by the depth: four branches at a million.
///
/// - Memory: about 20 bytes an id beyond the id and its value, with leaves half full.
/// - Complexity: O(log n) with base 16 for each call, beside the characters; makes no string and
///   counts no references when it reads.
struct IdentifierMap<Value: Sendable>: @unchecked Sendable {
  // INVARIANT: a node is changed only while one map has it; a map that shares it copies it first.
  private var root: AnyObject?
  private var rootIsLeaf = true
  /// How many ids have a value.
  private(set) var count = 0

  var isEmpty: Bool { count == 0 }

  /// The value of an id; nil removes it.
  subscript(id: Identifier) -> Value? {
    get { withValue(of: id) { $0 } }
    set {
      if let newValue {
        update(id, default: newValue) { $0 = newValue }
      } else {
        remove(id)
      }
    }
  }

  func contains(_ id: Identifier) -> Bool { withValue(of: id) { _ in true } ?? false }

  /// Reads the value of an id where it is; nil for an id without one.
  @inline(__always)
  func withValue<Result>(of id: Identifier, _ body: (borrowing Value) -> Result) -> Result? {
    guard let root else { return nil }
    let hash = mapHash(id)
    // SAFETY: the map keeps its nodes, so their references need not be counted.
    defer { _fixLifetime(root) }
    var node = unsafe Unmanaged.passUnretained(root)
    var isLeaf = rootIsLeaf
    var rest = hash
    while !isLeaf {
      let next = unsafe node._withUnsafeGuaranteedRef { node in
        unsafe unsafeDowncast(node, to: MapBranch.self).child(rest, &isLeaf)
      }
      guard let next = unsafe next else { return nil }
      unsafe node = next
      rest >>= MapBranch.bits
    }
    return unsafe node._withUnsafeGuaranteedRef { node in
      unsafe unsafeDowncast(node, to: MapLeaf<Value>.self).withValue(of: id, hash, body)
    }
  }

  /// Changes the value of an id, which gets the default before that if it has none.
  mutating func update<Result>(
    _ id: Identifier, default value: @autoclosure () -> Value, _ body: (inout Value) -> Result
  ) -> Result {
    var isNew = false
    defer { if isNew { count += 1 } }
    return Self.update(
      &root, &rootIsLeaf, MapKey(id: id, hash: mapHash(id)), depth: 0, value, &isNew, body)
  }

  /// Removes the value of an id, if it has one.
  mutating func remove(_ id: Identifier) {
    guard contains(id) else { return }
    Self.remove(&root, rootIsLeaf, MapKey(id: id, hash: mapHash(id)), depth: 0)
    count -= 1
    if count == 0 { self = Self() }
  }

  /// Calls `body` with every id and its value, in no order.
  func forEach(_ body: (Identifier, Value) -> Void) {
    if let root { Self.forEach(root, rootIsLeaf, body) }
  }

  /// The ids, in no order.
  var ids: [Identifier] {
    var ids: [Identifier] = []
    forEach { id, _ in ids.append(id) }
    return ids
  }

  // MARK: Nodes

  private static func update<Result>(
    _ node: inout AnyObject?, _ isLeaf: inout Bool, _ key: MapKey, depth: Int,
    _ value: () -> Value, _ isNew: inout Bool, _ body: (inout Value) -> Result
  ) -> Result {
    if isLeaf {
      if let result = MapLeaf.update(&node, key, value, &isNew, body) { return result }
      // 33 ids of one hash of 32 bits do not occur: the seed of hashes is not known outside.
      precondition(depth < MapBranch.depthLimit, "too many ids of one hash")
      node = MapLeaf<Value>.split(node, depth: depth)
      isLeaf = false
    }
    return MapBranch.withOwn(&node) { branch in
      branch.withChild(key.hash >> (UInt32(depth) * MapBranch.bits)) { child, isLeaf in
        update(&child, &isLeaf, key, depth: depth + 1, value, &isNew, body)
      }
    }
  }

  private static func remove(
    _ node: inout AnyObject?, _ isLeaf: Bool, _ key: MapKey, depth: Int
  ) {
    if isLeaf { return MapLeaf<Value>.remove(&node, key) }
    MapBranch.withOwn(&node) { branch in
      branch.withChild(key.hash >> (UInt32(depth) * MapBranch.bits)) { child, isLeaf in
        remove(&child, isLeaf, key, depth: depth + 1)
      }
    }
  }

  private static func forEach(
    _ node: AnyObject, _ isLeaf: Bool, _ body: (Identifier, Value) -> Void
  ) {
    if isLeaf { return unsafe unsafeDowncast(node, to: MapLeaf<Value>.self).forEach(body) }
    unsafe unsafeDowncast(node, to: MapBranch.self).forEach { forEach($0, $1, body) }
  }
}

/// An id with the hash by which maps find it.
struct MapKey {
  let id: Identifier
  let hash: UInt32

  /// What leaves compare first. Its bits are the last ones that branches use.
  var tag: UInt16 { UInt16(truncatingIfNeeded: hash >> 16) }
}

private let mapSeed = processSeed()

/// The hash of an id: the same in all maps of the process.
@inline(__always)
func mapHash(_ id: Identifier) -> UInt32 {
  var text = id.text
  return text.withUTF8 { unsafe seededHash(UnsafeRawBufferPointer($0), mapSeed) }
}
