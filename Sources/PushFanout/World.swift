/// One version of everything a decision depends on. It never changes, so any thread may read it.
///
/// Versions share the pages that are the same. A version that is followed holds what the next does
/// without, and the next itself; so pages are freed when the last version that reads them is gone,
/// however long somebody holds one.
///
/// SAFETY: `next` and `retired` are set once, by the writer, and read only by `deinit`; the moment
/// of a ``private(_:)`` copy changes while one thread alone has it.
@safe final class World: @unchecked Sendable {
  let tables: Tables
  var moment: Moment
  let version: UInt64
  private var next: World?
  private var retired: [UInt] = []
  /// Whose tables these are; nil when they are its own.
  private let base: World?

  init(_ tables: Tables, _ moment: Moment, version: UInt64) {
    self.tables = tables
    self.moment = moment
    self.version = version
    base = nil
  }

  /// A copy with a moment of its own, for one thread. The caller frees the moment.
  private init(base: World) {
    tables = base.tables
    moment = Moment()
    version = base.version
    self.base = base
  }

  static func `private`(_ base: World) -> World { World(base: base) }

  /// Notes what comes after this version, and what only this one and older ones read.
  func end(_ retired: [UInt], next: World) {
    self.retired = retired
    self.next = next
  }

  deinit {
    if base != nil || isEmptied { return }
    guard var next else {
      // The last version: what is left is its own.
      tables.free()
      moment.free()
      return
    }
    free(retired)
    self.next = nil
    // One after the other, and not each within the end of the one before: there may be millions.
    while isKnownUniquelyReferenced(&next), let after = next.next {
      free(next.retired)
      next.isEmptied = true
      next.next = nil
      next = after
    }
  }

  /// Whether another version's end has freed what this one had to free.
  private var isEmptied = false

  private func free(_ pages: [UInt]) {
    for page in pages { PageStore.free(page) }
  }
}
