internal import Synchronization

/// Objects that are made when first asked for, by whichever thread comes first.
///
/// The library's `AtomicLazyReference` does the same, and took a third of the time of a small
/// message: it is not specialised, and asks for its own type each time.
enum AtomicLazy {
  static func load<Object: AnyObject>(
    _ address: borrowing Atomic<UInt>, as type: Object.Type
  ) -> Object? {
    let address = address.load(ordering: .acquiring)
    guard let pointer = unsafe UnsafeRawPointer(bitPattern: address) else { return nil }
    return unsafe Unmanaged<Object>.fromOpaque(pointer).takeUnretainedValue()
  }

  /// Keeps an object, unless another thread has kept one.
  ///
  /// - Returns: the one that is kept.
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

  /// - Precondition: nobody else loads from it.
  static func release<Object: AnyObject>(
    _ address: borrowing Atomic<UInt>, as type: Object.Type
  ) {
    let old = address.load(ordering: .acquiring)
    guard let pointer = unsafe UnsafeRawPointer(bitPattern: old) else { return }
    address.store(0, ordering: .relaxed)
    unsafe Unmanaged<Object>.fromOpaque(pointer).release()
  }
}
