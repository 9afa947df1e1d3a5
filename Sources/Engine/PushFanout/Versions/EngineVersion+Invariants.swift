extension EngineVersion {
  /// Stops the process unless tables and log are consistent.
  func checkInvariants(_ scope: InvariantScope) {
    tables.checkInvariants(scope, generation: generation)
    log.checkInvariants(scope, generation: generation)
  }
}
