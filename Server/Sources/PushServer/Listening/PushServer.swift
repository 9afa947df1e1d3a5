internal import HTTPTypes
internal import HummingbirdCore
internal import HummingbirdHTTP2
internal import HummingbirdTLS
internal import Logging
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix
internal import NIOSSL
internal import PushFanout
internal import PushStore
internal import ServiceLifecycle
internal import Synchronization
internal import UnixSignals

/// A server of one store, or of several apps with a store each.
struct PushServer: Sendable {
  let apps: AppSet
  private let tls: TLSConfiguration?

  /// Reads keys and certificates.
  ///
  /// - Throws: ``OptionError`` for a file that cannot be used.
  init(_ configuration: ServerConfiguration, logger: Logger) throws(OptionError) {
    apps = try AppSet(configuration, logger)
    tls = try Self.tls(configuration.options)
  }

  /// Serves until a signal or the cancellation of the task ends it.
  ///
  /// - Parameters:
  ///   - signals: those that end the server gracefully.
  ///   - onListening: called with the address of clients and with that of administration, in this
  ///     order, as each listens.
  /// - Throws: what prevents it from opening the store or an address.
  func run(
    signals: [UnixSignal] = [.sigterm, .sigint],
    onListening: @escaping @Sendable (_ isAdmin: Bool, _ port: Int) -> Void = { _, _ in }
  ) async throws {
    let options = apps.front.options
    let logger = apps.front.logger
    let capacity = DescriptorLimit.raise(forConnections: options.connections)
    if capacity < options.connections {
      logger.warning(
        "fewer files than connections may be open; raise the limit of the process (ulimit -n)",
        metadata: ["connections": "\(capacity)"])
    }
    let group = MultiThreadedEventLoopGroup.singleton
    // What is first ends last.
    var services: [any Service] = apps.exporter.map { [$0] } ?? []
    services.append(Clockwork(apps: apps))
    for state in apps.all {
      if let following = state.following {
        services.append(Follower(state: state, following: following))
      } else {
        services.append(StoreKeeper(state: state))
      }
      if !state.options.peerList.isEmpty { services.append(PeerWatch(state: state)) }
    }
    services.append(
      try listener(options.listen, group, capacity, isAdmin: false) { onListening(false, $0) })
    if let address = options.adminListen {
      services.append(
        try listener(address, group, capacity, isAdmin: true) { onListening(true, $0) })
    }
    var configuration = ServiceGroupConfiguration(
      services: services, gracefulShutdownSignals: signals, logger: logger)
    configuration.maximumGracefulShutdownDuration = .seconds(options.shutdownTimeout)
    configuration.maximumCancellationDuration = .seconds(10)
    defer { for state in apps.all { state.decisionLog?.flush() } }
    do {
      try await ServiceGroup(configuration: configuration).run()
    } catch {
      // Requests that outlived the time given to them were ended.
      guard apps.front.isEndingNow else { throw error }
    }
  }

  private func listener(
    _ address: ServerOptions.Address, _ group: MultiThreadedEventLoopGroup, _ connections: Int,
    isAdmin: Bool, _ onListening: @escaping @Sendable (Int) -> Void
  ) throws -> any Service {
    let apps = apps
    let (options, logger) = (apps.front.options, apps.front.logger)
    let servesAdmin = isAdmin || options.adminListen == nil
    let gate = ConnectionGate(limit: connections)
    apps.watch(gate)
    let responder = { @Sendable (fields: HTTPFields) in
      Responder(
        state: apps.state(for: fields), servesAdmin: servesAdmin, servesClients: !isAdmin)
    }
    return try builder(gate, responder).buildServer(
      configuration: HummingbirdCore.ServerConfiguration(
        address: .hostname(address.host, port: address.port), backlog: 1024),
      eventLoopGroup: group, logger: logger,
      // `RequestHandler` answers every request before it gets here.
      responder: { _, _, _ in },
      onServerRunning: { channel in
        let port = channel.localAddress?.port ?? address.port
        logger.notice(
          "listening",
          metadata: ["address": "\(address.host):\(port)", "admin": "\(isAdmin)"])
        onListening(port)
      })
  }

  /// What connections consist of: `RequestHandler` answers those of every kind.
  private func builder(
    _ gate: ConnectionGate, _ responder: @escaping @Sendable (HTTPFields) -> Responder
  ) -> HTTPServerBuilder {
    let options = apps.front.options
    let limits = DeadlineHandler.Limits(
      header: .seconds(Int64(options.headerTimeout)), body: .seconds(Int64(options.bodyTimeout)),
      idle: .seconds(Int64(options.idleTimeout)))
    let handlers: @Sendable () -> [any RemovableChannelHandler] = {
      [DeadlineHandler(limits), RequestHandler(responder)]
    }
    let (fieldSize, listSize, fieldCount) = (16 * 1024, 32 * 1024, 100)
    let tls = tls
    return HTTPServerBuilder { responder in
      guard let tls else {
        var limits = NIOHTTPDecoderLimitConfiguration()
        limits.maxHeaderFieldSize = fieldSize
        limits.maxHeaderListSize = listSize
        limits.maxHeaderFieldCount = fieldCount
        return LoopChannel(
          base: HTTP1Connection(decoderLimits: limits, handlers: handlers), watchesBytes: true,
          gate: gate)
      }
      let streams = HTTP1Channel.Configuration(
        additionalChannelHandlers: handlers(),
        httpDecoderConfiguration: .init(
          maxHeaderFieldSize: fieldSize, maxHeaderListSize: listSize,
          maxHeaderFieldCount: fieldCount))
      let http2 = HTTP2UpgradeChannel.Configuration(
        idleTimeout: .seconds(options.idleTimeout),
        gracefulCloseTimeout: .seconds(options.shutdownTimeout), streamConfiguration: streams)
      return LoopChannel(
        base: try HTTP2UpgradeChannel(
          tlsConfiguration: tls, configuration: http2, responder: responder),
        watchesBytes: false, gate: gate)
    }
  }

  private static func tls(_ options: ServerOptions) throws(OptionError) -> TLSConfiguration? {
    guard let certificate = options.tlsCertificate, let key = options.tlsKey else { return nil }
    do {
      var tls = TLSConfiguration.makeServerConfiguration(
        certificateChain: try NIOSSLCertificate.fromPEMFile(certificate).map { .certificate($0) },
        privateKey: .privateKey(try NIOSSLPrivateKey(file: key, format: .pem)))
      tls.minimumTLSVersion = .tlsv12
      if let authority = options.clientCa {
        tls.trustRoots = .file(authority)
        tls.certificateVerification = .noHostnameVerification
      }
      _ = try NIOSSLContext(configuration: tls)
      return tls
    } catch {
      throw OptionError("certificate \(certificate) with key \(key) cannot be used: \(error)")
    }
  }
}

/// Opens the store, and closes it when everything else has ended.
private struct StoreKeeper: Service {
  let state: ServerState

  func run() async throws {
    let (state, options) = (state, state.options)
    let lineage = try Lineage.ofPrimary(options.store, promotes: options.promote)
    let app = try await onOtherThread {
      try OpenedApp(options, decisionLog: state.decisionLog)
    }
    await PeerWatch.look(app.storeEpoch, state)
    if let successor = state.successor {
      try await onOtherThread { try app.store.close() }
      throw OptionError(
        "\(successor.url) was promoted to replace \(options.store), which would take writes that "
          + "no other server has: start with --follow \(successor.url) and another --store")
    }
    state.open(app, lineage)
    state.logger.notice(
      "ready",
      metadata: [
        "store": "\(options.store)", "users": "\(app.engine.userCount)",
        "sequence": "\(app.settingsNumber)",
      ])
    await Sleep.untilShutdown()
    try await onOtherThread { try app.store.close() }
  }
}

/// Tells the engine the time, once a second, and reads the keys again on SIGHUP.
private struct Clockwork: Service {
  let apps: AppSet

  func run() async throws {
    await withGracefulShutdownHandler {
      await cancelWhenGracefulShutdown {
        await withTaskGroup(of: Void.self) { group in
          group.addTask {
            while !Task.isCancelled {
              apps.tick()
              try? await Task.sleep(for: .seconds(1))
            }
          }
          group.addTask {
            for await _ in await UnixSignalsSequence(trapping: .sighup) {
              do {
                try apps.reloadKeys()
                apps.front.logger.notice("keys read again")
              } catch {
                apps.front.logger.error("keys stay as they were", metadata: ["error": "\(error)"])
              }
            }
          }
        }
      }
    } onGracefulShutdown: {
      apps.end()
    }
  }
}

enum Sleep {
  /// Returns when the server is asked to end, or the task is cancelled.
  static func untilShutdown() async {
    try? await cancelWhenGracefulShutdown {
      while true { try await Task.sleep(for: .seconds(86_400)) }
    }
  }
}
