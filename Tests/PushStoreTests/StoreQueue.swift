import GRDB

@testable import PushStore

/// A store's tables, for tests that write what push-fanout would not.
func storeQueue(_ path: String) throws -> DatabaseQueue {
  try DatabaseQueue(path: PageChecksums.location(path))
}

/// Gives a store the number of another format, which stands in the log until the queue is closed.
func setFormat(_ format: Int32, of path: String) throws -> DatabaseQueue {
  let queue = try storeQueue(path)
  try queue.write { try $0.execute(sql: "PRAGMA user_version = \(format)") }
  return queue
}
