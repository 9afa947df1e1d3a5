internal import Glibc

/// The name of a file or folder while it is being written: beside its final name, so that a rename
/// publishes it atomically.
///
/// The caller removes it when the work fails; ``AtomicFile`` does so by itself.
package struct TemporaryName: Hashable, Sendable {
  /// The path.
  package let path: String

  /// - Parameter ending: what makes the name differ from `path`, with the process's id in it.
  package init(beside path: String, ending: String) { self.path = "\(path).\(ending)" }

  /// A name that begins with `path` and ends in the process's id and `.part`.
  package init(beside path: String) { self.init(beside: path, ending: "\(getpid()).part") }

  // MARK: Making

  /// Creates an empty file, where there is nothing of the name.
  ///
  /// - Parameters:
  ///   - access: `O_WRONLY` or `O_RDWR`.
  ///   - mode: the file's, before the umask.
  /// - Returns: its descriptor, which is the caller's.
  /// - Throws: `EEXIST` when there is something of the name, a symbolic link too.
  package func createFile(
    _ access: Int32 = O_WRONLY, mode: UInt32
  ) throws(SystemError) -> Int32 {
    let descriptor = unsafe open(path, access | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode)
    guard descriptor >= 0 else { throw .last }
    return descriptor
  }

  /// Creates an empty folder, where there is nothing of the name.
  package func createFolder(mode: UInt32) throws(SystemError) {
    guard unsafe mkdir(path, mode) == 0 else { throw .last }
  }

  // MARK: The final name

  /// Renames the file or folder to its final name; an existing file is replaced.
  package func replace(_ final: String) throws(SystemError) {
    guard unsafe rename(path, final) == 0 else { throw .last }
  }

  /// Renames the file to its final name, unless that name exists.
  ///
  /// - Returns: false when the name exists; nothing was changed then.
  package func claim(_ final: String) throws(SystemError) -> Bool {
    // A second name is refused where there is one; renaming would replace it.
    if unsafe link(path, final) == 0 {
      remove()
      return true
    }
    switch errno {
    case EEXIST: return false
    case EPERM, EOPNOTSUPP, ENOSYS, EMLINK:
      // A file system without second names.
      if unsafe access(final, F_OK) == 0 { return false }
      try replace(final)
      return true
    default: throw .last
    }
  }

  /// Synchronizes the folder of a file, so that its name survives a crash.
  package static func syncFolder(of final: String) throws(SystemError) {
    let descriptor = try openFolder(of: final)
    defer { close(descriptor) }
    try syncFolder(descriptor)
  }

  static func openFolder(of final: String) throws(SystemError) -> Int32 {
    let descriptor = unsafe open(FilePath.folder(of: final), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw .last }
    return descriptor
  }

  static func syncFolder(_ descriptor: Int32) throws(SystemError) {
    // EINVAL: a file system that cannot do this does not need it.
    guard fsync(descriptor) == 0 || errno == EINVAL else { throw .last }
  }

  // MARK: Removing

  /// Removes the file, if there is one.
  package func remove() { _ = unsafe unlink(path) }

  /// Removes the folder, if it is there and empty.
  package func removeFolder() { _ = unsafe rmdir(path) }

  /// Removes the temporary file of a process that has ended. Its maker holds a lock on it
  /// (`flock`), so a file that can be locked is abandoned.
  ///
  /// A file with two names was published already: only the temporary name is removed, and the file
  /// is not opened.
  ///
  /// - Parameters:
  ///   - isKnown: whether the content is that of such a temporary file.
  ///   - companions: the files beside it that are removed with it.
  package static func removeAbandoned(
    _ path: String, with companions: [String], if isKnown: (_ descriptor: Int32) -> Bool
  ) {
    var status = stat()
    guard unsafe lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return }
    if status.st_nlink > 1 {
      _ = unsafe unlink(path)
      return
    }
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard descriptor >= 0 else { return }
    defer { close(descriptor) }
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0, isKnown(descriptor) else { return }
    for file in companions + [path] { _ = unsafe unlink(file) }
  }
}
