/// An immutable version of everything that a decision depends on. Any thread may read it.
///
/// SAFETY: ``PageReclaimer`` frees its pages once no version that reads them exists.
@safe final class EngineVersion: @unchecked Sendable {
  // SAFETY: initialized by `init`, read only from then on, freed by `deinit`.
  private let storage: UnsafeMutablePointer<Tables>
  /// The changes of members' settings up to this version.
  let log: SettingsLog
  /// The number of the update that made the settings.
  let number: UInt64
  /// The newest generation of pages that it reads.
  let generation: UInt64
  /// The conversations of each user.
  let memberships: MembershipIndex
  private let reclaimer: PageReclaimer

  init(
    _ tables: Tables, _ log: SettingsLog, number: UInt64, generation: UInt64,
    _ memberships: MembershipIndex, _ reclaimer: PageReclaimer
  ) {
    unsafe storage = .allocate(capacity: 1)
    unsafe storage.initialize(to: tables)
    self.log = log
    self.number = number
    self.generation = generation
    self.memberships = memberships
    self.reclaimer = reclaimer
  }

  deinit {
    unsafe storage.deinitialize(count: 1)
    unsafe storage.deallocate()
    reclaimer.end(generation)
  }

  var tables: Tables {
    @inline(__always) _read { yield unsafe storage.pointee }
  }

  /// The version without a reference.
  @inline(__always)
  var view: VersionView { unsafe VersionView(tables: storage, number: number) }
}

/// A version that is retained elsewhere: reading it counts no reference, which all threads would
/// write.
///
/// SAFETY: valid as long as the ``EngineVersion`` exists.
@safe struct VersionView: @unchecked Sendable {
  private let storage: UnsafePointer<Tables>
  let number: UInt64

  fileprivate init(tables: UnsafePointer<Tables>, number: UInt64) {
    unsafe storage = unsafe tables
    self.number = number
  }

  var tables: Tables {
    @inline(__always) _read { yield unsafe storage.pointee }
  }
}
