internal import AsyncHTTPClient
internal import Logging
internal import PushModel
internal import ServiceLifecycle

/// Asks other servers whether one of them was promoted to replace this one, which is then refused:
/// writes that it would take would be in its own settings only.
struct PeerWatch: Service {
  let state: ServerState

  private static let interval = Duration.seconds(5)

  func run() async throws {
    try? await cancelWhenGracefulShutdown {
      while true {
        try await Task.sleep(for: Self.interval)
        guard let app = state.openedApp else { continue }
        do throws(OptionError) { try await Self.look(app.storeEpoch, state) } catch {
          state.metrics.refusedByPeer()
          state.logger.error("a peer cannot be asked", metadata: ["error": "\(error)"])
        }
      }
    }
    await Sleep.untilShutdown()
  }

  /// Asks each of the peers once; one that does not answer says nothing.
  ///
  /// - Parameter epoch: that of this server's own store.
  /// - Throws: ``OptionError`` for a peer that refuses the key or redirects: it would never say
  ///   anything.
  static func look(_ epoch: String, _ state: ServerState) async throws(OptionError) {
    let options = state.options
    guard !options.peerList.isEmpty else { return }
    let client = Primary.client(authority: options.peerCa)
    var refused: OptionError?
    for url in options.peerList {
      do {
        let role = try await Primary(url, client, for: state).role()
        if role.supersedes.contains(epoch) { state.supersede(by: role.epoch, at: url) }
      } catch let error as OptionError {
        refused = error
      } catch {
        state.logger.info(
          "a peer does not answer", metadata: ["peer": "\(url)", "error": "\(error)"])
      }
    }
    try? await client.shutdown()
    if let refused { throw refused }
  }
}
