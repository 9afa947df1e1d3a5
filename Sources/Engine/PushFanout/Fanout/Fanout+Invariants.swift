extension Fanout {
  /// Stops the process unless the current version, and what is kept for older ones, is consistent.
  ///
  /// Debug builds check a sample after each update; tests check everything.
  func checkInvariants(_ scope: InvariantScope) {
    current.checkInvariants(scope)
    reclaimer.checkInvariants(scope)
  }
}
