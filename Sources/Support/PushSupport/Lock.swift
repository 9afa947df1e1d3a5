#if THREAD_SANITIZER
  internal import Glibc

  /// A mutual-exclusion lock and the value that it guards, in a build for the thread sanitizer.
  ///
  /// The standard library's `Mutex` waits on a futex in a library that is not instrumented, so the
  /// sanitizer reports every access that it guards. This one waits in `pthread_mutex_lock`, which
  /// the sanitizer intercepts: `swift test --sanitize=thread -Xswiftc -DTHREAD_SANITIZER`.
  ///
  /// SAFETY: the value is accessed only while the lock is held.
  @safe package struct Lock<Value: ~Copyable>: ~Copyable, @unchecked Sendable {
    private let value: UnsafeMutablePointer<Value>
    private let lock: UnsafeMutablePointer<pthread_mutex_t>

    package init(_ initial: consuming Value) {
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

    package borrowing func withLock<Result, Failure: Error>(
      _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
      unsafe pthread_mutex_lock(lock)
      defer { unsafe pthread_mutex_unlock(lock) }
      return try unsafe body(&value.pointee)
    }

    package borrowing func withLockIfAvailable<Result, Failure: Error>(
      _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result? {
      guard unsafe pthread_mutex_trylock(lock) == 0 else { return nil }
      defer { unsafe pthread_mutex_unlock(lock) }
      return try unsafe body(&value.pointee)
    }
  }
#else
  package import Synchronization

  /// A mutual-exclusion lock and the value that it guards: the standard library's `Mutex`, which a
  /// build for the thread sanitizer replaces. Files that use it import `Synchronization` as well.
  package typealias Lock<Value: ~Copyable> = Mutex<Value>
#endif
