package import Glibc

/// The name that a file or folder has until it is complete: in the same folder as its own name, so
/// that giving it that name is one step.
///
/// Whoever makes something under it removes it when the work fails; ``AtomicFile`` does so by itself.
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
    _ access: Int32 = O_WRONLY, mode: mode_t
  ) throws(SystemError) -> Int32 {
    let descriptor = unsafe open(path, access | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode)
    guard descriptor >= 0 else { throw .last }
    return descriptor
  }

  /// Creates an empty folder, where there is nothing of the name.
  package func createFolder(mode: mode_t) throws(SystemError) {
    guard unsafe mkdir(path, mode) == 0 else { throw .last }
  }

  // MARK: The final name

  /// Gives what has the temporary name its own; the file that has it is replaced.
  package func replace(_ final: String) throws(SystemError) {
    guard unsafe rename(path, final) == 0 else { throw .last }
  }

  /// Gives the file its own name, unless something has it.
  ///
  /// - Returns: false when the name is in use; nothing was changed then.
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

  /// Writes the folder of a file to the disk, so that a crash does not take back its name.
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

  /// Removes a file that a process has left behind which kept it locked (`flock`) as long as it lived.
  ///
  /// A file with a second name has its own by now: only the temporary one is removed, and the file is
  /// not opened.
  ///
  /// - Parameters:
  ///   - isKnown: whether what a descriptor reads can be such a file, and is none of another kind.
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
