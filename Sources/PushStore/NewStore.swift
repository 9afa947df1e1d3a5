internal import Foundation

extension OpenStore {
  /// Opens a store as it is asked for.
  ///
  /// - Parameters:
  ///   - waiting: how long to wait for whoever has the right to write.
  ///   - permissions: of a store that is made.
  static func open(
    _ path: String, _ access: SettingsStore.Access, waiting: Duration = .zero,
    permissions: StorePermissions = .owner
  ) throws -> OpenStore {
    if access == .read { return try OpenStore(reading: path) }
    let file = try StoreName.file(path)
    if access == .create, !FileManager.default.fileExists(atPath: file) {
      let made = try make(path, file: file, permissions) { _ in }
      // Somebody else may have made one meanwhile, which is as good.
      if let made { return made }
    }
    let right = try WriteRight.take(path, file: file, waiting: waiting)
    return try OpenStore(writing: path, file: file, right)
  }

  /// Makes a store, which appears under its name when it is complete.
  ///
  /// - Parameter fill: writes what is to be in it from the beginning.
  /// - Returns: the store, open for writing; nil when something has its name by now.
  static func make(
    _ path: String, file: String, _ permissions: StorePermissions,
    fill: (OpenStore) throws -> Void
  ) throws -> OpenStore? {
    try StoreFile.checkNoLog(beside: file)
    let temporary = try TemporaryStore(for: file, path: path, FileAccess(permissions))
    var isMade = false
    defer {
      if !isMade {
        temporary.remove()
        temporary.right.release()
      }
    }
    do {
      let store = try OpenStore(writing: path, file: temporary.name, temporary.right)
      try fill(store)
      try store.close(keepingRight: true)
    }
    guard try temporary.rename(to: file) else { return nil }
    isMade = true
    return try OpenStore(writing: path, file: file, temporary.right)
  }
}
