internal import Foundation
internal import HTTPTypes
internal import Logging
internal import PushFanout

extension ServerState {
  /// Whether the settings are those of another server.
  var isFollower: Bool { following.map { !$0.isPromoted } ?? false }

  /// - Throws: ``ServerFailure`` 409 for a follower, which takes no writes.
  func checkWritable() throws(ServerFailure) {
    guard isFollower, let following else { return }
    throw ServerFailure(
      .conflict, "follower", "this server follows \(following.url); write there")
  }

  /// - Throws: ``ServerFailure`` 409 for a follower, whose own feed is not that of the settings.
  func checkFeed() throws(ServerFailure) {
    guard isFollower, let following else { return }
    throw ServerFailure(
      .conflict, "follower", "this server follows \(following.url); follow that one too")
  }

  /// Makes a follower a primary, with an epoch of its own.
  func promote(_ name: String) async throws -> Answer {
    guard let following, await following.promote() else {
      throw ServerFailure(.conflict, "primary", "this server is a primary already")
    }
    var promoted = lineage
    promoted.promote()
    try promoted.write(beside: options.store)
    lineage = promoted
    let app = try app()
    logger.notice("promoted", metadata: ["by": "\(name)", "epoch": "\(app.storeEpoch)"])
    return FollowEndpoints.role(app, promoted, isFollower: false)
  }
}

extension ServerOptions {
  /// The key to show to other servers; empty without a file.
  ///
  /// - Throws: ``OptionError`` for a file that cannot be read.
  func readPeerKey() throws(OptionError) -> String {
    guard let peerKey else { return "" }
    do {
      return try String(contentsOf: URL(filePath: peerKey), encoding: .utf8)
        .trimmingCharacters(in: .whitespacesAndNewlines)
    } catch {
      throw OptionError("\(peerKey) cannot be read: \(error.localizedDescription)")
    }
  }
}
