internal import CPushFanoutABI
internal import Glibc

/// Memory for the caller, which is freed by `free`.
///
/// SAFETY: memory that cannot be had ends the process, as elsewhere in Swift.
func allocate<Element: BitwiseCopyable>(
  _ type: Element.Type, _ count: Int
) -> UnsafeMutablePointer<Element> {
  guard let memory = unsafe malloc(max(1, count * MemoryLayout<Element>.stride)) else {
    fatalError("out of memory")
  }
  return unsafe memory.bindMemory(to: type, capacity: max(1, count))
}

/// A copy of a text, terminated.
func copy(_ text: some Collection<UInt8>) -> UnsafeMutablePointer<CChar> {
  let memory = unsafe allocate(CChar.self, text.count + 1)
  unsafe memory.withMemoryRebound(to: UInt8.self, capacity: text.count + 1) { memory in
    var end = 0
    for byte in text {
      unsafe memory[end] = byte
      end += 1
    }
    unsafe memory[end] = 0
  }
  return unsafe memory
}

/// A copy of elements.
func copy<Element: BitwiseCopyable>(_ elements: [Element]) -> UnsafePointer<Element> {
  let memory = unsafe allocate(Element.self, elements.count)
  unsafe elements.withUnsafeBufferPointer { elements in
    if let start = elements.baseAddress, elements.count > 0 {
      unsafe memory.update(from: start, count: elements.count)
    }
  }
  return unsafe UnsafePointer(memory)
}

/// Bytes that grow, and are handed over in the end.
///
/// SAFETY: its memory is its own until it is given away, once.
@safe struct ByteBuffer: ~Copyable {
  private var memory: UnsafeMutablePointer<UInt8>
  private var capacity: Int
  private(set) var count = 0

  init(capacity: Int = 256) {
    self.capacity = max(16, capacity)
    unsafe memory = allocate(UInt8.self, self.capacity)
  }

  deinit { unsafe free(memory) }

  @inline(__always)
  private mutating func reserve(_ more: Int) {
    if count + more > capacity { grow(more) }
  }

  private mutating func grow(_ more: Int) {
    capacity = max(capacity * 2, count + more)
    guard let larger = unsafe realloc(memory, capacity) else { fatalError("out of memory") }
    unsafe memory = larger.bindMemory(to: UInt8.self, capacity: capacity)
  }

  @inline(__always)
  mutating func append(_ bytes: UnsafeRawBufferPointer) {
    guard let start = bytes.baseAddress, bytes.count > 0 else { return }
    reserve(bytes.count)
    unsafe memcpy(memory + count, start, bytes.count)
    count += bytes.count
  }

  mutating func append(_ text: String) {
    var text = text
    text.withUTF8 { utf8 in unsafe append(UnsafeRawBufferPointer(utf8)) }
  }

  /// The bytes so far, and begins anew.
  mutating func take() -> UnsafeMutablePointer<UInt8> {
    let taken = unsafe memory
    unsafe memory = allocate(UInt8.self, 16)
    (capacity, count) = (16, 0)
    return unsafe taken
  }
}

/// Collects texts for a `pf_ids`.
struct IDCollector: ~Copyable {
  private var offsets: [UInt64] = [0]
  private var characters = ByteBuffer()

  init(capacity: Int = 0) { offsets.reserveCapacity(capacity + 1) }

  var count: Int { offsets.count - 1 }

  @inline(__always)
  mutating func append(_ id: UnsafeRawBufferPointer) {
    unsafe characters.append(id)
    offsets.append(UInt64(characters.count))
  }

  mutating func append(_ id: RawSpan) {
    unsafe id.withUnsafeBytes { unsafe append($0) }
  }

  mutating func append(_ id: String) {
    characters.append(id)
    offsets.append(UInt64(characters.count))
  }

  mutating func finish() -> pf_ids {
    let bytes = unsafe UnsafeRawPointer(characters.take()).assumingMemoryBound(to: CChar.self)
    return unsafe pf_ids(count: offsets.count - 1, offsets: copy(offsets), bytes: bytes)
  }
}
