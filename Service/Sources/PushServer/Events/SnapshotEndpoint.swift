internal import HTTPTypes
internal import HummingbirdCore
internal import NIOCore
internal import PushFanout
internal import PushStore
internal import SystemPackage

/// `GET /v1/snapshot`: the engine's tables as of one change, for followers.
enum SnapshotEndpoint {
  private static let chunk = 256 * 1024

  static func answer(_ app: OpenedApp) async throws -> Answer {
    let path = app.store.path + ".snapshot"
    let (file, info) = try await EventsEndpoint.onOtherThread {
      try app.store.writeSnapshot()
      // A newer one may replace it under its name; what is open stays as it is.
      while true {
        let info = try SnapshotInfo(path: path)
        let file = OpenFile(
          try SystemPackage.FileDescriptor.open(FilePath(path), .readOnly, options: .closeOnExec))
        if try SnapshotInfo(path: path) == info { return (file, info) }
      }
    }
    let size = try file.size
    var answer = Answer(
      "application/octet-stream",
      .stream { writer in
        var offset: Int64 = 0
        while offset < size {
          let (from, count) = (offset, Int(min(Int64(chunk), size - offset)))
          let bytes = try await EventsEndpoint.onOtherThread { try file.read(at: from, count) }
          guard !bytes.isEmpty else { break }
          offset += Int64(bytes.count)
          try await writer.write(ByteBuffer(bytes: bytes))
        }
      })
    answer.fields[.contentLength] = "\(size)"
    answer.fields[.settings] = "\(app.epoch):\(info.sequence)"
    answer.fields[.cacheControl] = "no-store"
    return answer
  }
}

/// A file that is closed with its last reference.
private final class OpenFile: Sendable {
  private let descriptor: SystemPackage.FileDescriptor

  init(_ descriptor: SystemPackage.FileDescriptor) { self.descriptor = descriptor }

  deinit { try? descriptor.close() }

  var size: Int64 { get throws { try descriptor.seek(offset: 0, from: .end) } }

  func read(at offset: Int64, _ count: Int) throws -> [UInt8] {
    try unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
      filled = unsafe try descriptor.read(
        fromAbsoluteOffset: offset, into: UnsafeMutableRawBufferPointer(buffer))
    }
  }
}
