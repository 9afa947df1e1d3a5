extension EngineVersion {
  /// Stops the process unless the version's tables and users' classes are consistent.
  func checkInvariants(_ scope: InvariantScope) {
    tables.checkInvariants(scope, generation: generation)
    userClasses.checkInvariants(tables, scope, generation: generation)
  }
}

extension Fanout {
  /// Stops the process unless the current version, and what is kept for older ones, is consistent.
  ///
  /// Debug builds check a sample after each update; tests check everything.
  func checkInvariants(_ scope: InvariantScope) {
    current.checkInvariants(scope)
    reclaimer.checkInvariants(scope)
  }
}
