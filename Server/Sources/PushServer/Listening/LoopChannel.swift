internal import HummingbirdCore
internal import Logging
internal import NIOCore

/// Runs everything of a connection on the thread of its event loop, so that a small request is read,
/// decided and answered without a change of threads.
struct LoopChannel<Base: ServerChildChannel>: ServerChildChannel {
  let base: Base
  /// Whether requests follow each other on the connection itself, so that bytes that arrive begin
  /// one.
  let watchesBytes: Bool
  let gate: ConnectionGate

  func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Base.Value> {
    let watchesBytes = watchesBytes
    let isAdmitted = gate.admits(channel)
    return base.setup(channel: channel, logger: logger).flatMapThrowing { value in
      if watchesBytes {
        try channel.pipeline.syncOperations.addHandler(ByteWatcher(), position: .first)
      }
      if !isAdmitted {
        let refusal = ConnectionGate.Refusal(isPlain: watchesBytes)
        try channel.pipeline.syncOperations.addHandler(refusal, position: .first)
      }
      return value
    }
  }

  func handle(value: Base.Value, logger: Logger) async {
    let executor = LoopExecutor(value.channel.eventLoop)
    await withTaskExecutorPreference(executor) { await base.handle(value: value, logger: logger) }
  }
}

/// Runs tasks on the thread of an event loop.
final class LoopExecutor: TaskExecutor {
  private let loop: any EventLoop

  init(_ loop: any EventLoop) { self.loop = loop }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    loop.execute { unsafe job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }

  func asUnownedTaskExecutor() -> UnownedTaskExecutor { unsafe UnownedTaskExecutor(ordinary: self) }
}
