internal import Foundation
internal import HTTPTypes
internal import NIOCore
internal import PushStore
internal import SystemPackage

/// `GET /v1/snapshot`: the store as of one change, for followers.
enum SnapshotEndpoint {
  private static let chunk = 256 * 1024
  /// What the name of a copy that is being sent goes on with.
  private static let sent = ".sent-"

  /// Removes copies that a process left which was killed.
  static func removeCopies(of store: String) {
    let file = URL(filePath: store)
    let folder = file.deletingLastPathComponent()
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    for name in names where name.hasPrefix(file.lastPathComponent + sent) {
      try? FileManager.default.removeItem(at: folder.appending(path: name))
    }
  }

  static func answer(_ app: OpenedApp, _ lineage: Lineage) async throws -> Answer {
    let (file, cursor) = try await onOtherThread {
      let path = app.store.path + sent + "\(UInt64.random(in: .min ... .max))"
      // What is open stays when its name is removed.
      defer {
        for suffix in ["", "-wal", "-shm"] {
          try? FileManager.default.removeItem(atPath: path + suffix)
        }
      }
      try app.store.reader.backup(to: path)
      let copy = try StoreReader(path)
      let cursor = try copy.endOfFeed()
      try copy.close()
      let file = OpenFile(
        try SystemPackage.FileDescriptor.open(FilePath(path), .readOnly, options: .closeOnExec))
      return (file, cursor)
    }
    let size = try file.size
    var answer = Answer(
      "application/octet-stream",
      .stream { writer in
        var offset: Int64 = 0
        while offset < size {
          let (from, count) = (offset, Int(min(Int64(chunk), size - offset)))
          let bytes = try await onOtherThread { try file.read(at: from, count) }
          guard !bytes.isEmpty else { break }
          offset += Int64(bytes.count)
          try await writer.write(ByteBuffer(bytes: bytes))
        }
      })
    answer.fields[.contentLength] = "\(size)"
    answer.fields[.settings] = "\(app.epoch):\(cursor.sequence)"
    answer.fields[.cursor] = "\(cursor)"
    answer.fields[.supersedes] = lineage.supersedes.joined(separator: ",")
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

extension HTTPField.Name {
  /// The last entry of the change feed that a snapshot has.
  static let cursor = HTTPField.Name("Push-Fanout-Cursor")!
  /// The epochs that those settings supersede, with commas.
  static let supersedes = HTTPField.Name("Push-Fanout-Supersedes")!
}
