#if THREAD_SANITIZER
  internal import Glibc

  /// A lock that the thread sanitizer supports, replacing the standard library's `Mutex`.
  ///
  /// The standard one waits on a futex in a library that is not instrumented, so the sanitizer
  /// reports races on everything that it guards. Enabled by `swift test --sanitize=thread -Xswiftc
  /// -DTHREAD_SANITIZER`.
  ///
  /// SAFETY: the value is accessed only while the lock is held.
  @safe struct Mutex<Value>: ~Copyable, @unchecked Sendable {
    private let value: UnsafeMutablePointer<Value>
    private let lock: UnsafeMutablePointer<pthread_mutex_t>

    init(_ initial: Value) {
      unsafe value = .allocate(capacity: 1)
      unsafe value.initialize(to: initial)
      unsafe lock = .allocate(capacity: 1)
      unsafe lock.initialize(to: pthread_mutex_t())
      unsafe pthread_mutex_init(lock, nil)
    }

    deinit {
      unsafe pthread_mutex_destroy(lock)
      unsafe lock.deallocate()
      unsafe value.deinitialize(count: 1)
      unsafe value.deallocate()
    }

    borrowing func withLock<Result, Failure: Error>(
      _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
      unsafe pthread_mutex_lock(lock)
      defer { unsafe pthread_mutex_unlock(lock) }
      return try unsafe body(&value.pointee)
    }

    borrowing func withLockIfAvailable<Result, Failure: Error>(
      _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result? {
      guard unsafe pthread_mutex_trylock(lock) == 0 else { return nil }
      defer { unsafe pthread_mutex_unlock(lock) }
      return try unsafe body(&value.pointee)
    }
  }
#endif
