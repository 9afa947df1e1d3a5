internal import Logging
internal import NIOCore
internal import NIOPosix
internal import PushFanout
internal import PushStore
internal import ServiceLifecycle
internal import Synchronization
internal import UnixSignals

/// A server of one store, or of several apps with a store each.
struct PushServer: Sendable {
  let apps: AppSet
  private let tls: TLSContext?

  /// Reads keys and certificates.
  ///
  /// - Throws: ``OptionError`` for a file that cannot be used.
  init(_ configuration: ServerConfiguration, logger: Logger) throws(OptionError) {
    apps = try AppSet(configuration, logger)
    tls = try TLSContext(configuration.options)
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
    // The default is more than a usual limit of files; what fits is enough.
    if capacity < options.connections / 2 {
      logger.warning(
        "fewer files than connections may be open; raise the limit of the process (ulimit -n)",
        metadata: ["connections": "\(capacity)"])
    }
    // What is first ends last.
    var services: [any Service] = apps.exporter.map { [$0] } ?? []
    services.append(Clockwork(apps: apps, tls: tls))
    for state in apps.all {
      if let following = state.following {
        services.append(Follower(state: state, following: following))
      } else {
        services.append(StoreKeeper(state: state))
      }
      if !state.options.peerList.isEmpty { services.append(PeerWatch(state: state)) }
    }
    // Clients are the first whose connections end.
    var listeners: [Listener] = []
    do {
      if let address = options.adminListen {
        listeners.append(
          try await listener(address, capacity, isAdmin: true) { onListening(true, $0) })
      }
      listeners.append(
        try await listener(options.listen, capacity, isAdmin: false) { onListening(false, $0) })
    } catch {
      for listener in listeners { try? await listener.channel.close() }
      throw error
    }
    services += listeners as [any Service]
    var configuration = ServiceGroupConfiguration(
      services: services, gracefulShutdownSignals: signals, logger: logger)
    // Listeners keep to their own time; this is for what hangs.
    configuration.maximumGracefulShutdownDuration = .seconds(
      options.drain + options.shutdownTimeout + 30)
    configuration.maximumCancellationDuration = .seconds(10)
    defer { for state in apps.all { state.decisionLog?.flush() } }
    try await ServiceGroup(configuration: configuration).run()
  }

  private func listener(
    _ address: ServerOptions.Address, _ connections: Int, isAdmin: Bool,
    _ onListening: @escaping @Sendable (Int) -> Void
  ) async throws -> Listener {
    let apps = apps
    let options = apps.front.options
    let servesAdmin = isAdmin || options.adminListen == nil
    let gate = ConnectionGate(limit: connections)
    apps.watch(gate)
    let setup = ConnectionSetup(
      limits: DeadlineHandler.Limits(
        header: .seconds(Int64(options.headerTimeout)), body: .seconds(Int64(options.bodyTimeout)),
        idle: .seconds(Int64(options.idleTimeout)), framing: options.bodyLimit),
      tls: tls, gate: gate
    ) { fields in
      Responder(
        state: apps.state(for: fields), servesAdmin: servesAdmin, servesClients: !isAdmin)
    }
    return try await Listener(address, setup, apps, drains: !isAdmin) { port in
      apps.front.logger.notice(
        "listening", metadata: ["address": "\(address.host):\(port)", "admin": "\(isAdmin)"])
      if options.insecure, !isAdmin {
        apps.front.logger.warning("no keys: every client that can connect has all scopes")
      }
      onListening(port)
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
    do {
      // Settings that are not there yet may have other rules.
      if app.visibleSequence > 0 { try state.senders?.reload(for: app.rules) }
      try await PeerWatch.look(app.storeEpoch, state)
    } catch {
      try await onOtherThread { try app.store.close() }
      throw error
    }
    if let successor = state.successor {
      try await onOtherThread { try app.store.close() }
      throw OptionError(
        "\(successor.url) was promoted to replace \(options.store), which would take writes that "
          + "no other server has: start with --follow \(successor.url) and another --store")
    }
    state.open(app, lineage)
    // A lost log is said here.
    state.logger.notice(
      "ready",
      metadata: [
        "opening": "\(app.store.opening)", "store": "\(options.store)",
        "users": "\(app.engine.userCount)",
        "sequence": "\(app.settingsNumber)",
      ])
    checkAudit(app)
    await Sleep.untilShutdown()
    try await onOtherThread { try app.store.close() }
  }

  /// Says which acknowledged writes the store does not have, as when its log was removed or cut and
  /// the process killed.
  private func checkAudit(_ app: OpenedApp) {
    guard let last = state.audit.lastSequence, let number = try? SequenceNumber(last, app),
      number.value > app.visibleSequence
    else { return }
    state.logger.error(
      "acknowledged changes are missing",
      metadata: [
        "audit": "\(last)", "store": "\(app.settingsNumber)",
        "do": """
        write them again, or restore a backup: the lines of \(state.options.audit ?? "") after \
        number \(app.visibleSequence) say who made them
        """,
      ])
  }
}

/// Tells the engine the time, once a second, and reads files again on SIGHUP.
private struct Clockwork: Service {
  let apps: AppSet
  let tls: TLSContext?

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
              reload("keys") { try apps.reloadKeys() }
              if let tls { reload("certificates") { try tls.reload() } }
              reload("audit files") { try apps.reopenAudits() }
              reload("senders") { try apps.reloadSenders() }
            }
          }
        }
      }
    } onGracefulShutdown: {
      apps.end()
    }
  }
}

extension Clockwork {
  private func reload(_ what: String, _ body: () throws -> Void) {
    do {
      try body()
      apps.front.logger.notice("\(what) read again")
    } catch {
      apps.front.logger.error("\(what) stay as they were", metadata: ["error": "\(error)"])
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
