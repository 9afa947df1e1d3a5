internal import CArchive
internal import Glibc
internal import PushSupport

/// What bytes are read from.
protocol ByteSource: AnyObject {
  /// Reads bytes; 0 at the end.
  func read(into buffer: UnsafeMutableRawBufferPointer) throws(ImportProblem) -> Int
}

/// A file that is read from its first byte to its last: as it is, as gzip unpacks it, or the entries of
/// a zip or tar archive one after the other. Nothing is unpacked to the disk.
@safe final class InputFile: ByteSource {
  let path: String
  /// The entry that is read; empty where the file is no archive.
  private(set) var entry = ""
  /// Bytes of the file; nil when it is no regular file.
  private let byteCount: Int64?
  private let archive: OpaquePointer
  /// Of the thread while libarchive reads names, which are UTF-8 by it.
  private let locale = unsafe newlocale(1 << LC_CTYPE, "C.UTF-8", nil)
  /// A zip whose end is missing: its entries are read all the same, so that the one is named at which it
  /// is cut.
  private var isCut = false
  /// Bytes of the entry that were handed out, and where in the file it begins.
  private var (unpacked, packedStart): (Int64, Int64) = (0, 0)
  /// What the archive says that the entry has.
  private var stated: Int64?

  private static let blockSize = 256 * 1024
  /// An entry may unpack to so many bytes for each of its own, and the slack.
  private static let (ratio, slack): (Int64, Int64) = (200, 64 << 20)

  init(_ path: String) throws(ImportProblem) {
    self.path = path
    var status = stat()
    if path != "-" {
      guard unsafe stat(path, &status) == 0 else {
        throw ImportProblem(path, "it cannot be opened: \(SystemError.last.message)")
      }
      if status.st_mode & S_IFMT == S_IFDIR { throw ImportProblem(path, "it is a folder") }
    }
    byteCount = status.st_mode & S_IFMT == S_IFREG ? Int64(status.st_size) : nil
    if byteCount == 0 { throw ImportProblem(path, "it is empty") }
    guard let archive = unsafe archive_read_new() else {
      throw ImportProblem(path, "there is too little memory to read it")
    }
    unsafe self.archive = unsafe archive
    unsafe archive_read_support_filter_gzip(archive)
    unsafe archive_read_support_format_zip(archive)
    unsafe archive_read_support_format_tar(archive)
    unsafe archive_read_support_format_raw(archive)
    unsafe archive_read_support_format_empty(archive)
    let result =
      if path == "-" {
        unsafe archive_read_open_fd(archive, STDIN_FILENO, Self.blockSize)
      } else {
        unsafe archive_read_open_filename(archive, path, Self.blockSize)
      }
    guard result == ARCHIVE_OK else { throw problem }
    if byteCount != nil { isCut = try lacksEndOfZip() }
  }

  deinit {
    unsafe _ = archive_read_free(archive)
    if let locale = unsafe locale { unsafe freelocale(locale) }
  }

  /// The file and the entry.
  var name: String { entry.isEmpty ? path : "\(path)/\(entry)" }

  /// The same without the folder that the file is in: a report says nothing of it.
  var shortName: String {
    String(name.dropFirst(path.lastIndex(of: "/").map { path[...$0].count } ?? 0))
  }

  /// The share of the file that was read, 0...1; nil when its size is not known.
  var share: Double? {
    byteCount.map { Double(position) / Double($0) }
  }

  private var position: Int64 { unsafe archive_filter_bytes(archive, -1) }

  /// Whether the file is no archive: it has one entry without a name.
  private var isPlain: Bool {
    let format = unsafe archive_format(archive)
    return format == ARCHIVE_FORMAT_RAW || format == ARCHIVE_FORMAT_EMPTY
  }

  /// Goes to the next regular file in the archive; false at its end. A file that is no archive is the one
  /// entry of itself.
  func next() throws(ImportProblem) -> Bool {
    let before = unsafe uselocale(locale)
    defer { unsafe _ = uselocale(before) }
    while true {
      var header: OpaquePointer?
      switch unsafe archive_read_next_header(archive, &header) {
      case ARCHIVE_EOF:
        if isCut { throw ImportProblem(name, "the archive is cut off behind it") }
        return false
      case ARCHIVE_OK, ARCHIVE_WARN: break
      default: throw problem
      }
      (unpacked, packedStart) = (0, position)
      if isPlain { return true }
      entry = unsafe Self.name(of: header!)
      stated = unsafe archive_entry_size_is_set(header) == 0 ? nil : archive_entry_size(header)
      if unsafe archive_entry_filetype(header) == S_IFREG,
        unsafe archive_entry_hardlink(header) == nil
      {
        return true
      }
    }
  }

  /// Reads bytes of the entry; 0 at its end.
  func read(into buffer: UnsafeMutableRawBufferPointer) throws(ImportProblem) -> Int {
    let count = unsafe archive_read_data(archive, buffer.baseAddress, buffer.count)
    guard count >= 0 else { throw problem }
    unpacked += Int64(count)
    if count == 0, let stated, stated != unpacked {
      throw ImportProblem(
        name, "it cannot be read: it has \(unpacked) bytes, and the archive says \(stated)")
    }
    if unpacked > (position - packedStart) * Self.ratio + Self.slack {
      throw ImportProblem(
        name, "it unpacks to more than \(Self.ratio) times its size, which no export does")
    }
    return count
  }

  /// A name that is not UTF-8 is none that is looked for.
  private static func name(of header: OpaquePointer) -> String {
    let name = unsafe archive_entry_pathname(header)
    return unsafe name.map { unsafe String(cString: $0) } ?? "?"
  }

  private var problem: ImportProblem {
    let text = unsafe archive_error_string(archive).map { unsafe String(cString: $0) }
    let line = text?.split(separator: "\n").first ?? "the archive is damaged"
    return ImportProblem(name, "it cannot be read: \(line)")
  }

  /// Whether a file begins like a zip and has no directory of its entries at its end.
  private func lacksEndOfZip() throws(ImportProblem) -> Bool {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else {
      throw ImportProblem(path, "it cannot be opened: \(SystemError.last.message)")
    }
    defer { close(descriptor) }
    // The directory's end has 22 bytes, and a remark of at most 65,535 behind it.
    let size = Int(byteCount ?? 0)
    let count = min(size, 65_557)
    var (head, tail) = ([UInt8](repeating: 0, count: 4), [UInt8](repeating: 0, count: count))
    unsafe head.withUnsafeMutableBytes { unsafe _ = pread(descriptor, $0.baseAddress, 4, 0) }
    guard head == [0x50, 0x4B, 3, 4] else { return false }
    unsafe tail.withUnsafeMutableBytes {
      unsafe _ = pread(descriptor, $0.baseAddress, count, off_t(size - count))
    }
    return !tail.indices.contains { tail[$0...].starts(with: [0x50, 0x4B, 5, 6]) }
  }
}
