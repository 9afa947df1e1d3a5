internal import Glibc
internal import PushSupport

/// The right to write a store, which one process has at a time.
///
/// A lock on a file of its own: SQLite's locks on the database are lost when anybody in the process
/// closes a descriptor of it.
final class WriterLock: Sendable {
  /// nil once the right was given back.
  private let descriptor: Lock<Int32?>

  /// - Throws: ``StoreError/inUse(_:)`` while another process, or another store of this one, has it.
  init(store path: String) throws {
    let descriptor = unsafe open(path + ".lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw StoreError.database(path, reason: Self.systemMessage()) }
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
      let isHeld = errno == EWOULDBLOCK
      let reason = Self.systemMessage()
      close(descriptor)
      throw isHeld ? StoreError.inUse(path) : StoreError.database(path, reason: reason)
    }
    self.descriptor = Lock(descriptor)
  }

  deinit { release() }

  func release() {
    guard let descriptor = descriptor.withLock({ $0.take() }) else { return }
    // A process that is just being started has a copy of the descriptor, and with it the lock.
    flock(descriptor, LOCK_UN)
    close(descriptor)
  }

  private static func systemMessage() -> String { unsafe String(cString: strerror(errno)) }
}
