public import CPushFanoutABI
internal import PushFanout
internal import PushFiles
internal import PushModel
public import PushService
public import QuietTime

/// An engine behind a handle.
public final class EngineObject: Sendable {
  /// Answers everything that is not about one decision.
  public let service: FanoutService
  let engine: Fanout
  let rules: RuleSet
  /// Whether it works on in a child of `fork`.
  let canFollowFork: Bool
  /// What is done with time zones that the machine does not have, in changes of settings.
  let unknownZones: UnknownZones
  /// Opens the same settings again, on one thread if there are no others; nil when they are no
  /// longer there.
  let reopen: (@Sendable (_ hasLostThreads: Bool) throws -> EngineObject)?

  /// - Parameters:
  ///   - usesStore: whether changes go to a store, which has threads of its own.
  ///   - zones: what is done with time zones that the machine does not have, in changes of settings.
  ///   - reopen: opens the same settings again.
  public init(
    _ service: FanoutService, usesStore: Bool = false, unknownZones zones: UnknownZones,
    reopen: (@Sendable (_ hasLostThreads: Bool) throws -> EngineObject)?
  ) {
    self.service = service
    engine = service.engine
    rules = service.app.rules
    unknownZones = zones
    canFollowFork = !usesStore && service.engine.threads == 1
    self.reopen = reopen
  }

  /// The object of a handle.
  static func of(_ engine: OpaquePointer?) -> EngineObject { unsafe EngineObject.at(engine) }

  /// A handle of it.
  func handle() throws -> OpaquePointer {
    try unsafe made(pf_make_engine(retained, canFollowFork ? 1 : 0))
  }
}

/// A handle that was made.
private func made(_ handle: OpaquePointer?) throws -> OpaquePointer {
  guard let handle = unsafe handle else {
    throw CallError("there is no memory for a handle", status: PF_LIMIT)
  }
  return unsafe handle
}

extension EngineObject: HandleObject {}

/// A class whose objects are behind handles.
public protocol HandleObject: AnyObject {}

extension HandleObject {
  /// The object of a handle, which the C functions have checked.
  @inline(__always)
  static func at(_ handle: OpaquePointer?) -> Self {
    let object = unsafe pf_object_of(UnsafeRawPointer(handle))
    return unsafe Unmanaged<Self>.fromOpaque(object.unsafelyUnwrapped).takeUnretainedValue()
  }

  /// A reference that a handle holds.
  fileprivate var retained: UnsafeMutableRawPointer {
    unsafe Unmanaged.passRetained(self).toOpaque()
  }

  /// A handle of a part of an engine.
  func handle(_ kind: Int32, of engine: OpaquePointer?) throws -> OpaquePointer {
    try unsafe made(OpaquePointer(pf_make_part(engine, retained, kind)))
  }
}

// MARK: Opening

/// Gives a handle of the engine that `body` opens with threads as options have them.
public func opening(
  _ options: UnsafePointer<pf_options>?, _ engine: UnsafeMutablePointer<OpaquePointer?>?,
  _ error: ErrorText, _ body: (_ threads: Int32) throws -> EngineObject
) -> Int32 {
  unsafe error?.pointee = nil
  var threads: Int32 = 0
  let status = unsafe pf_threads(options, &threads, error)
  guard status == PF_OK else { return status }
  return unsafe answering(error) {
    let engine = try unsafe result(engine)
    unsafe engine.pointee = try body(threads).handle()
  }
}

extension EngineObject {
  /// As options have it: 0 for the cores that the process may use.
  public static func threads(_ options: Int32) -> Int? {
    let count = options & ~PF_IGNORES_ZONES
    if count != 1 { pf_note_threads() }
    return count == 0 ? nil : Int(count)
  }

  /// What is done with users whose time zone the machine does not have.
  public static func unknownZones(
    _ options: Int32, else other: UnknownZones = .refuse
  ) -> UnknownZones {
    options & PF_IGNORES_ZONES != 0 ? .ignore : other
  }

  /// The options of a child of `fork` that has lost the threads of its parent.
  private static func options(_ options: Int32, _ hasLostThreads: Bool) -> Int32 {
    hasLostThreads ? options & PF_IGNORES_ZONES | 1 : options
  }

  static func open(bytes: [UInt8], threads: Int32, _ watch: Watch) throws -> EngineObject {
    let paths = bytes.isEmpty ? SettingsPaths() : SettingsPaths(bytes)
    return try open(paths, threads: threads, watch, reopen: nil)
  }

  static func open(paths: SettingsPaths, threads: Int32, _ watch: Watch) throws -> EngineObject {
    try open(paths, threads: threads, watch) { hasLostThreads in
      unsafe try open(paths: paths, threads: options(threads, hasLostThreads), Watch(nil))
    }
  }

  private static func open(
    _ paths: SettingsPaths, threads: Int32, _ watch: Watch,
    reopen: (@Sendable (_ hasLostThreads: Bool) throws -> EngineObject)?
  ) throws -> EngineObject {
    var (paths, watch) = (paths, watch)
    paths.unknownZones = unknownZones(threads, else: .fail)
    try watch.askNow(0)
    let service = try FanoutService(paths, threads: Self.threads(threads)) { try watch.ask($0) }
    return EngineObject(service, unknownZones: paths.unknownZones, reopen: reopen)
  }

  static func open(
    snapshot path: String, _ identity: SnapshotIdentity, threads: Int32
  ) throws -> EngineObject {
    let engine = try Fanout(
      snapshot: path, identity: identity, threads: Self.threads(threads),
      unknownZones: unknownZones(threads))
    return EngineObject(
      FanoutService(engine), unknownZones: unknownZones(threads, else: .fail)
    ) { hasLostThreads in
      try open(snapshot: path, identity, threads: options(threads, hasLostThreads))
    }
  }

  /// Opens settings whose users and members are in streams.
  static func open(
    settings: [UInt8], users: ArrowStream?, members: ArrowStream?, threads: Int32, _ watch: Watch
  ) throws -> EngineObject {
    var paths = settings.isEmpty ? SettingsPaths() : SettingsPaths(settings)
    for stream in [users, members].compactMap(\.self) {
      paths.settings.append(stream.rows.rawValue)
      paths.streams[stream.rows.rawValue] = stream
    }
    return try open(paths, threads: threads, watch, reopen: nil)
  }
}

// MARK: Values

/// An instant of a number of milliseconds.
func instant(_ milliseconds: Int64, _ name: StaticString) throws -> Instant {
  guard (0...Instant.maximumMilliseconds).contains(milliseconds) else {
    throw CallError(
      "\(name) is \(milliseconds); it must be milliseconds, 0 ... \(Instant.maximumMilliseconds)")
  }
  return Instant(milliseconds: milliseconds)
}

/// The text of bytes, which must be UTF-8.
@inline(__always)
func text(
  _ bytes: UnsafePointer<CChar>?, _ size: Int, _ name: StaticString
) throws -> String {
  guard let bytes = unsafe bytes else {
    guard size == 0 else { throw CallError("\(name) is NULL, but not of size 0") }
    return ""
  }
  let buffer = unsafe UnsafeRawBufferPointer(start: bytes, count: size)
  if size <= 15, let short = unsafe shortASCII(buffer) { return short }
  guard let text = unsafe String(validating: buffer, as: UTF8.self) else {
    throw CallError("\(name) is not UTF-8", status: PF_INVALID)
  }
  return text
}

/// A text of up to 15 bytes if they are ASCII: it is stored in the value, and needs no other check.
@inline(__always)
private func shortASCII(_ bytes: UnsafeRawBufferPointer) -> String? {
  guard let start = bytes.baseAddress else { return "" }
  var all: UInt8 = 0
  for index in 0..<bytes.count { unsafe all |= bytes[index] }
  guard all < 0x80 else { return nil }
  return unsafe String(unsafeUninitializedCapacity: bytes.count) { buffer in
    guard let to = UnsafeMutableRawPointer(buffer.baseAddress) else { return 0 }
    unsafe to.copyMemory(from: start, byteCount: bytes.count)
    return bytes.count
  }
}

func identifier(
  _ bytes: UnsafePointer<CChar>?, _ size: Int, _ name: StaticString
) throws -> Identifier {
  Identifier(try unsafe text(bytes, size, name))
}

/// The bytes of a pointer and a size.
func bytes(
  _ start: UnsafeRawPointer?, _ size: Int, _ words: StaticString
) throws -> [UInt8] {
  guard unsafe start != nil || size == 0 else {
    throw CallError("\(words) NULL, but not of size 0")
  }
  return unsafe Array(UnsafeRawBufferPointer(start: start, count: size))
}

/// Whether bytes of NDJSON have no line but blank ones.
func isBlank(_ bytes: [UInt8]) -> Bool {
  bytes.allSatisfy { $0 == 0x20 || $0 == 0x09 || $0 == 0x0A || $0 == 0x0D }
}

/// Where a function writes what it gives.
@inline(__always)
func result<Value>(
  _ pointer: UnsafeMutablePointer<Value>?
) throws -> UnsafeMutablePointer<Value> {
  guard let pointer = unsafe pointer else { throw CallError("a pointer for the result is NULL") }
  return unsafe pointer
}

/// A text that ends with a zero.
public func text(
  _ characters: UnsafePointer<CChar>?, _ name: StaticString
) throws -> String {
  guard let characters = unsafe characters else { throw CallError("\(name) is NULL") }
  guard let text = unsafe String(validatingCString: characters) else {
    throw CallError("\(name) is not UTF-8", status: PF_INVALID)
  }
  return text
}
