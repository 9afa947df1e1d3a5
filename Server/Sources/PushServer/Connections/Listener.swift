internal import HTTPTypes
internal import Logging
internal import NIOCore
internal import NIOExtras
internal import NIOPosix
internal import ServiceLifecycle
internal import SystemPackage

/// Says that the server will end soon: no connection should be used for long any more.
struct DrainBegins: Sendable {}

/// Accepts the connections of an address until the server ends, and ends them without losing a
/// request.
struct Listener: Service {
  let apps: AppSet
  let gate: ConnectionGate
  let channel: any Channel
  private let quiescing: ServerQuiescingHelper
  /// How long connections are accepted when the server is asked to end.
  private let drain: Duration
  private let onListening: @Sendable (Int) -> Void

  /// Listens at an address. Connections are served from now on.
  ///
  /// - Throws: ``OptionError`` that names the address.
  init(
    _ address: ServerOptions.Address, _ setup: ConnectionSetup, _ apps: AppSet, drains: Bool,
    onListening: @escaping @Sendable (Int) -> Void
  ) async throws {
    let group = MultiThreadedEventLoopGroup.singleton
    let quiescing = ServerQuiescingHelper(group: group)
    do {
      channel = try await ServerBootstrap(group: group)
        .serverChannelOption(.backlog, value: 1024)
        // Between a few connections of a thousand at once, requests are answered.
        .serverChannelOption(.maxMessagesPerRead, value: 4)
        .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
        .serverChannelInitializer { channel in
          channel.eventLoop.makeCompletedFuture {
            try channel.pipeline.syncOperations.addHandler(
              quiescing.makeServerChannelHandler(channel: channel))
          }
        }
        .childChannelOption(.allowRemoteHalfClosure, value: true)
        // What is read at once is parsed at once: hundreds of requests, which take memory until
        // the answers before them were taken.
        .childChannelOption(.maxMessagesPerRead, value: 1)
        .childChannelOption(
          .recvAllocator,
          value: AdaptiveRecvByteBufferAllocator(minimum: 1024, initial: 2048, maximum: 16_384)
        )
        .childChannelInitializer { setup.setUp($0) }
        .bind(host: address.host, port: address.port).get()
    } catch {
      let reason =
        (error as? IOError).map { Errno(rawValue: $0.errnoCode).description } ?? "\(error)"
      throw OptionError(
        "\(address.host):\(address.port) cannot be listened at: \(reason); stop what listens there, "
          + "or choose another address")
    }
    self.apps = apps
    self.gate = setup.gate
    self.quiescing = quiescing
    self.onListening = onListening
    drain = .seconds(drains ? apps.front.options.drain : 0)
  }

  var port: Int { channel.localAddress?.port ?? 0 }

  func run() async throws {
    // A start that fails at once says only why.
    for _ in 0..<100 where !apps.areOpen && !Task.isCancelled {
      try? await Task.sleep(for: .milliseconds(10))
    }
    if !Task.isCancelled { onListening(port) }
    await Sleep.untilShutdown()
    apps.end()
    gate.forEach { $0.pipeline.fireUserInboundEventTriggered(DrainBegins()) }
    // A balancer sees that the server is not ready, and clients that connections close.
    if !Task.isCancelled { try? await Task.sleep(for: drain) }
    let ended = channel.eventLoop.makePromise(of: Void.self)
    quiescing.initiateShutdown(promise: ended)
    let limit = Duration.seconds(Task.isCancelled ? 0 : apps.front.options.shutdownTimeout)
    let gate = gate
    let closing = Task {
      try await Task.sleep(for: limit)
      // More than once: a connection may have just been accepted.
      while true {
        gate.forEach { $0.close(promise: nil) }
        try await Task.sleep(for: .seconds(1))
      }
    }
    try await ended.futureResult.get()
    closing.cancel()
  }
}
