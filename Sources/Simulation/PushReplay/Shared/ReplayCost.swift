/// What the run took, measured by the caller's clock.
public struct ReplayCost: Codable, Equatable, Sendable {
  /// From the first message read to the last decided.
  public var seconds: Double
  /// Of loading the settings.
  public var loadingSeconds: Double?
  /// The time of all threads that was spent on deciding.
  public var decidingSeconds: Double
  /// The processor time of the whole process.
  public var cpuSeconds: Double?
  /// Threads that decided.
  public var threads: Int
  /// Decisions per second of ``seconds``.
  public var decisionsPerSecond: Double

  /// A cost without loading and processor time.
  public init(
    seconds: Double, decidingSeconds: Double, threads: Int, decisionsPerSecond: Double
  ) {
    self.seconds = seconds
    self.decidingSeconds = decidingSeconds
    self.threads = threads
    self.decisionsPerSecond = decisionsPerSecond
  }
}
