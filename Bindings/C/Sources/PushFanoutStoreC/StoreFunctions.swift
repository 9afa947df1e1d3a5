// swift-format-ignore-file: AlwaysUseLowerCamelCase
public import CPushFanoutABI
public import PushFanoutC
internal import PushService
public import PushStore
internal import PushStoreService
internal import QuietTime

@c @implementation
public func pf_store_abi_version() -> Int32 { PF_ABI_VERSION }

@c @implementation
public func pf_store_open(
  _ path: UnsafePointer<CChar>?, _ access: Int32, _ options: UnsafePointer<pf_options>?,
  _ engine: UnsafeMutablePointer<OpaquePointer?>?, _ error: ErrorText
) -> Int32 {
  unsafe opening(options, engine, error) { threads in
    let path = try unsafe text(path, "the path")
    let access: SettingsStore.Access =
      switch access {
      case PF_STORE_READ: .read
      case PF_STORE_WRITE: .write
      case PF_STORE_CREATE: .create
      default: throw CallError("access must be one of PF_STORE_")
      }
    guard pf_lost_threads() == 0 else {
      throw CallError(
        "a store cannot be opened in a child of a process that has used threads; open it before "
          + "any thread is used, or in a new process", status: PF_FORKED)
    }
    pf_note_threads()
    return try open(path, access, threads)
  }
}

private func open(
  _ path: String, _ access: SettingsStore.Access, _ threads: Int32
) throws -> EngineObject {
  do {
    let store = try SettingsStore(
      path, access, threads: EngineObject.threads(threads),
      unknownZones: EngineObject.unknownZones(threads))
    let again: SettingsStore.Access = if case .read = access { .read } else { .write }
    return EngineObject(
      try FanoutService(StoreBackend(store)), usesStore: true,
      unknownZones: EngineObject.unknownZones(threads, else: .fail)
    ) { hasLostThreads in
      guard !hasLostThreads else {
        throw CallError(
          "\(path): a store cannot be opened again in a child of fork(); open its snapshot, or the "
            + "store in a new process", status: PF_FORKED)
      }
      return try open(path, again, threads)
    }
  } catch let error as any StatusError {
    throw error
  } catch {
    throw CallError("\(error)", status: PF_STORE)
  }
}

extension StoreError: StatusError {
  public var status: Int32 { PF_STORE }
}
