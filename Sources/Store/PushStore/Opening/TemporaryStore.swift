internal import Foundation
internal import Glibc
internal import PushSupport

/// A store that is being made, under another name until it is complete.
///
/// It is locked from the beginning: the lock shows others whether its maker is still alive, and
/// keeps other writers out when it has got its name.
struct TemporaryStore {
  /// The path of the file.
  var name: String { temporary.path }
  let right: WriteRight

  private let temporary: TemporaryName

  /// Drawn once, as processes in different containers may have the same number.
  private static let mark: String = {
    let hex = String(UInt32.random(in: .min ... .max), radix: 16)
    return "\(getpid())-" + String(repeating: "0", count: 8 - hex.count) + hex + ".part"
  }()

  /// All that is to be removed when the process ends before.
  static func names(for file: String) -> [String] {
    StoreName.files(TemporaryName(beside: file, ending: mark).path)
  }

  /// Makes an empty file, and removes what others have left behind in the folder.
  ///
  /// - Parameter path: what errors call the store.
  init(for file: String, path: String, _ access: FileAccess) throws {
    Self.sweep(beside: file)
    temporary = TemporaryName(beside: file, ending: Self.mark)
    let name = temporary.path
    while true {
      let descriptor: Int32
      do throws(SystemError) { descriptor = try temporary.createFile(O_RDWR, mode: 0o600) } catch {
        throw error.number == EEXIST
          ? StoreError.exists(name) : StoreError.database(path, reason: error.message)
      }
      access.apply(to: descriptor)
      let inode = try StoreInode.adopt(descriptor, path)
      // Another process may have swept it before it was locked.
      if case .locked = try WriteRight.lock(inode, path),
        StoreInode.status(name).map({ StoreInode.Key($0) == inode.key }) == true
      {
        right = WriteRight(inode, file: name, path: path)
        return
      }
      inode.close()
    }
  }

  /// Removes it, unless it has got its name.
  func remove() {
    for file in StoreName.files(name) { _ = unsafe unlink(file) }
  }

  /// Gives the complete store its name, so that it has it after a crash too.
  ///
  /// - Returns: whether it has it; false when the name is in use, and nothing was replaced.
  func rename(to file: String) throws -> Bool {
    try sync()
    return try Self.onSystem(file) { () throws(SystemError) in
      guard try temporary.claim(file) else { return false }
      try moved(to: file)
      return true
    }
  }

  /// Replaces a file by the complete store.
  func replace(_ file: String) throws {
    try sync()
    try Self.onSystem(file) { () throws(SystemError) in
      try temporary.replace(file)
      try moved(to: file)
    }
  }

  private func sync() throws {
    // All of it is in the file: its log would not be found under the new name.
    try StoreFile.checkNoLog(beside: name)
    guard fsync(right.inode.descriptor) == 0 else {
      throw StoreError.database(name, reason: SystemError.last.message)
    }
  }

  private func moved(to file: String) throws(SystemError) {
    right.moved(to: file)
    remove()
    try TemporaryName.syncFolder(of: file)
  }

  private static func onSystem<Value>(
    _ path: String, _ body: () throws(SystemError) -> Value
  ) throws(StoreError) -> Value {
    do throws(SystemError) { return try body() } catch {
      throw .database(path, reason: error.message)
    }
  }

  // MARK: What is left behind

  /// Removes what processes have left in a folder that were killed while they made a store.
  static func sweep(beside file: String) {
    let folder = URL(fileURLWithPath: file).deletingLastPathComponent()
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    for name in names where name.hasSuffix(".part") && !name.hasSuffix(".\(mark)") {
      guard name.wholeMatch(of: /.+\.[0-9]+-[0-9a-f]{8}\.part/) != nil else { continue }
      // It may have its name, which may be that of a store that is open here.
      let path = folder.appending(path: name).path
      TemporaryName.removeAbandoned(path, with: StoreName.files(path).dropLast(), if: isStore)
    }
  }

  /// Whether a file can be the beginning of a store, and not a file of another kind.
  private static func isStore(_ descriptor: Int32) -> Bool {
    let header = unsafe [UInt8](unsafeUninitializedCapacity: 100) { buffer, count in
      count = max(0, unsafe pread(descriptor, buffer.baseAddress, 100, 0))
    }
    if header.isEmpty { return true }
    guard header.count == 100, header.starts(with: Array("SQLite format 3\0".utf8)) else {
      return false
    }
    // https://www.sqlite.org/fileformat.html, 1.3: the application's id, 0 at first.
    let id = header[68..<72].reduce(Int32(0)) { $0 << 8 | Int32($1) }
    return id == 0 || id == Schema.applicationID
  }
}
