extension EngineVersion {
  /// Stops the process unless the version's tables and log are consistent.
  func checkInvariants(_ scope: InvariantScope) {
    tables.checkInvariants(scope, generation: generation)
    log.checkInvariants(scope, generation: generation)
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
