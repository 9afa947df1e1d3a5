internal import CPushFanoutABI
internal import CPushFanoutStoreABI
public import PushFanoutC
internal import PushService
public import PushStore
internal import PushStoreService

@c(pf_swift_store_open)
public func storeOpen(
  _ path: UnsafePointer<CChar>?, _ access: Int32, _ threads: Int32,
  _ object: UnsafeMutablePointer<UnsafeMutableRawPointer?>?, _ error: ErrorText
) -> Int32 {
  unsafe answering(error) {
    guard let path = unsafe path, let path = unsafe String(validatingCString: path) else {
      throw StoreCallError(status: PF_INVALID, description: "path is not UTF-8")
    }
    let access: SettingsStore.Access =
      switch access {
      case PF_STORE_READ: .read
      case PF_STORE_WRITE: .write
      default: .create
      }
    unsafe object?.pointee = try open(path, access, threads).retained
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
    return EngineObject(try FanoutService(StoreBackend(store)), usesStore: true) { hasLostThreads in
      guard !hasLostThreads else {
        throw StoreCallError(
          status: PF_FORKED,
          description: "\(path): a store cannot be opened again in a child of fork(); open its "
            + "snapshot, or the store in a new process")
      }
      return try open(path, again, threads)
    }
  } catch let error as any StatusError {
    throw error
  } catch {
    throw StoreCallError(status: PF_STORE, description: "\(error)")
  }
}

private struct StoreCallError: StatusError, CustomStringConvertible {
  let status: Int32
  let description: String
}

extension StoreError: StatusError {
  public var status: Int32 { PF_STORE }
}
