/// An immutable version of everything that a decision depends on. Any thread may read it.
///
/// SAFETY: ``PageReclaimer`` frees its pages once no version that reads them exists.
final class EngineVersion: @unchecked Sendable {
  let tables: Tables
  let userClasses: UserClasses
  /// The number of the update that made the settings. Versions for another instant have the same
  /// number.
  let number: UInt64
  /// The newest generation of pages that it reads.
  let generation: UInt64
  /// The owner of its pages; nil for a version that reads the pages of ``base``.
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

  /// The same settings with other users' classes, whose pages the caller frees.
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
