internal import Dispatch
public import PushContent
public import PushModel
internal import PushSupport

extension SettingsStore {
  /// Opens a store, and its engine, without blocking a thread of the caller's task.
  ///
  /// - Parameters and errors: as for ``init(_:_:threads:)``.
  /// - Complexity: as for ``init(_:_:threads:)``.
  public static func open(
    _ path: String, _ access: Access = .write, threads: Int? = nil
  ) async throws -> SettingsStore {
    try await onThreadOfItsOwn { try SettingsStore(path, access, threads: threads) }
  }

  /// Adds many records at once, without blocking a thread of the caller's task.
  ///
  /// - Parameters and errors: as for the function of the same name that blocks.
  public func importSettings(
    _ settings: FanoutSettings, content: ContentDirectory? = nil, at now: Instant,
    replacingApp: Bool = true
  ) async throws {
    try await write(at: now) {
      try $0.add(settings, content: content, replacingApp: replacingApp)
    }
  }

  /// Waits for the writes under way, then ends this process's use of the store, without blocking a
  /// thread of the caller's task.
  ///
  /// - Throws: as the function of the same name that blocks.
  public func close() async throws {
    let store = self
    try await Self.onThreadOfItsOwn { try store.close() }
  }

  /// Runs what waits for the disk where no task has to go on.
  private static func onThreadOfItsOwn<Value: Sendable>(
    _ body: @escaping @Sendable () throws -> Value
  ) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
      ThreadSupply.start { continuation.resume(with: Result { try body() }) }
    }
  }
}
