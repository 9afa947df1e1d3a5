package import Glibc

/// A file that is written under a temporary name and renamed to its final name when it is complete,
/// which replaces an existing file, whose owner, group and mode it gets. An unfinished file is removed.
package final class AtomicFile {
  /// The final name.
  package let path: String
  /// The name until ``finish()``.
  package let temporary: TemporaryName
  /// Open for writing; closed by ``finish()`` or ``abandon()``.
  package let descriptor: Int32
  /// The folder, to be synchronized after the rename; nil when that is left to the system.
  private let folder: Int32?
  private var isOpen = true

  /// Creates the file under its temporary name.
  ///
  /// - Parameters:
  ///   - mode: that of a new file, before the umask; one that replaces another gets no other rights of
  ///     reading and writing than these.
  ///   - syncsFolder: whether ``finish()`` synchronizes the folder too, which requires read
  ///     permission for it.
  package init(
    _ path: String, temporary: TemporaryName, mode: mode_t, syncsFolder: Bool
  ) throws(SystemError) {
    let folder = syncsFolder ? try TemporaryName.openFolder(of: path) : nil
    do throws(SystemError) {
      var replaced = stat()
      if unsafe stat(path, &replaced) == 0, replaced.st_mode & S_IFMT == S_IFREG {
        descriptor = try temporary.createFile(mode: 0o600)
        FileAccess(
          mode: replaced.st_mode & (mode | 0o111), group: replaced.st_gid, owner: replaced.st_uid
        ).apply(to: descriptor)
      } else {
        descriptor = try temporary.createFile(mode: mode)
      }
    } catch {
      if let folder { close(folder) }
      throw error
    }
    self.path = path
    self.temporary = temporary
    self.folder = folder
  }

  deinit {
    abandon()
    if let folder { close(folder) }
  }

  /// Writes what is in the file to the disk.
  package func sync() throws(SystemError) {
    guard fsync(descriptor) == 0 else { throw .last }
  }

  /// Synchronizes the file, closes it and renames it to its final name.
  package func finish() throws(SystemError) {
    try sync()
    isOpen = false
    do throws(SystemError) {
      guard close(descriptor) == 0 else { throw .last }
      try temporary.replace(path)
    } catch {
      temporary.remove()
      throw error
    }
    if let folder { try TemporaryName.syncFolder(folder) }
  }

  /// Removes a file that is not finished.
  package func abandon() {
    guard isOpen else { return }
    isOpen = false
    close(descriptor)
    temporary.remove()
  }

  /// Writes bytes to a descriptor, all of them.
  ///
  /// - Parameter offset: where in the file; nil for where the descriptor is.
  package static func write(
    _ bytes: UnsafeRawBufferPointer, to descriptor: Int32, at offset: Int? = nil
  ) throws(SystemError) {
    var written = 0
    while written < bytes.count, let memory = bytes.baseAddress {
      let (rest, count) = unsafe (memory + written, bytes.count - written)
      let result =
        if let offset {
          unsafe pwrite(descriptor, rest, count, off_t(offset + written))
        } else {
          unsafe Glibc.write(descriptor, rest, count)
        }
      if result > 0 {
        written += result
      } else if result == 0 {
        throw SystemError(EIO)
      } else if errno != EINTR {
        throw .last
      }
    }
  }
}

/// Who may read and write a file.
package struct FileAccess {
  private let mode: mode_t
  private let group: gid_t?
  private let owner: uid_t?

  /// - Parameters:
  ///   - group: nil for the group that new files get.
  ///   - owner: nil for the user who makes the file.
  package init(mode: mode_t, group: gid_t? = nil, owner: uid_t? = nil) {
    self.mode = mode
    self.group = group
    self.owner = owner
  }

  /// Sets it, whatever the umask is. Where the file cannot have the group, its own group may do what
  /// others may.
  package func apply(to descriptor: Int32) {
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0 else { return }
    let isOfOwner = owner ?? status.st_uid == status.st_uid
    if !isOfOwner { _ = fchown(descriptor, owner ?? status.st_uid, gid_t.max) }
    let isOfGroup =
      group ?? status.st_gid == status.st_gid
      || fchown(descriptor, uid_t.max, group ?? status.st_gid) == 0
    let ofOthers = mode & 0o007
    fchmod(descriptor, isOfGroup ? mode : mode & (0o707 | ofOthers << 3))
  }
}
