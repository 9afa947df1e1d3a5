extension EngineVersion {
  /// Stops the process unless the version is consistent.
  func checkInvariants(_ scope: InvariantScope) {
    tables.checkInvariants(scope, generation: generation)
    log.checkInvariants(scope, generation: generation)
  }
}
