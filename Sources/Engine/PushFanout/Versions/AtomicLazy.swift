internal import Synchronization

/// Objects created on first use, published by the first thread to store one.
///
/// `AtomicLazyReference` is not specialized and requests type metadata on each access, which took a
/// third of a small message's time.
enum AtomicLazy {
  static func load<Object: AnyObject>(
    _ address: borrowing Atomic<UInt>, as type: Object.Type
  ) -> Object? {
    let address = address.load(ordering: .acquiring)
    guard let pointer = unsafe UnsafeRawPointer(bitPattern: address) else { return nil }
    return unsafe Unmanaged<Object>.fromOpaque(pointer).takeUnretainedValue()
  }

  /// Stores an object unless there is one, and returns the stored one.
  static func store<Object: AnyObject>(
    _ object: Object, in address: borrowing Atomic<UInt>
  ) -> Object {
    let retained = unsafe Unmanaged.passRetained(object)
    let new = unsafe UInt(bitPattern: retained.toOpaque())
    let (isKept, _) = address.compareExchange(
      expected: 0, desired: new, ordering: .acquiringAndReleasing)
    if isKept { return object }
    unsafe retained.release()
    return load(address, as: Object.self) ?? object
  }

  /// - Precondition: no other thread accesses the address.
  static func release<Object: AnyObject>(
    _ address: borrowing Atomic<UInt>, as type: Object.Type
  ) {
    let old = address.load(ordering: .acquiring)
    guard let pointer = unsafe UnsafeRawPointer(bitPattern: old) else { return }
    address.store(0, ordering: .relaxed)
    unsafe Unmanaged<Object>.fromOpaque(pointer).release()
  }
}
