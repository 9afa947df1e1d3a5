extension EngineVersion {
  /// Stops the process unless the version's tables and log are consistent.
  func checkInvariants(_ scope: InvariantScope) {
    tables.checkInvariants(scope, generation: generation)
    log.checkInvariants(scope, generation: generation)
  }
}
