/// One version of everything a decision depends on. It never changes, so any thread may read it.
///
/// SAFETY: its pages are freed by ``PageReclaimer``, when no version that reads them is left.
final class EngineVersion: @unchecked Sendable {
  let tables: Tables
  let userClasses: UserClasses
  /// Counts the updates of the settings; the passing of time is none.
  let number: UInt64
  /// The last generation of pages it may read.
  let generation: UInt64
  /// What keeps its pages; nil for one that reads the pages of ``base``.
  private let reclaimer: PageReclaimer?
  private let base: EngineVersion?

  init(
    _ tables: Tables, _ userClasses: UserClasses, number: UInt64, generation: UInt64,
    _ reclaimer: PageReclaimer
  ) {
    self.tables = tables
    self.userClasses = userClasses
    self.number = number
    self.generation = generation
    self.reclaimer = reclaimer
    base = nil
  }

  /// The same settings at another userClasses, whose pages somebody else frees.
  init(_ base: EngineVersion, _ userClasses: UserClasses) {
    tables = base.tables
    self.userClasses = userClasses
    number = base.number
    generation = base.generation
    reclaimer = nil
    self.base = base
  }

  deinit { reclaimer?.end(generation) }
}
