internal import Glibc
internal import PushSupport

/// The IANA time zone database, as a folder of compiled time zones (TZif files).
///
/// It is the system's: Debian's package `tzdata`, updated with it. A file is read when its zone is
/// asked for; who has its ``ZoneTable`` keeps that, so a process that is to use an update is
/// started again.
public struct ZoneDatabase: Sendable {
  /// Where the files are.
  public let folder: String
  /// The version of the data, like "2025b", by the first line of the folder's `tzdata.zi` or by
  /// `+VERSION`. Where both are missing, "hash-" and 16 hexadecimal digits, of the names and the
  /// bytes of all zones.
  public let version: String
  /// Every name that has a file, links included.
  public let names: Set<String>

  /// The system's database: in the folder that the environment's `TZDIR` names or, where that is
  /// not set, in the first that is there of those where C libraries look, and last that of the
  /// archive that the program is in. Opened once a process.
  public static let system = Result { () throws(ZoneDataError) in try openSystem() }

  /// Where glibc and musl look.
  static let usualFolders = ["/usr/share/zoneinfo", "/share/zoneinfo", "/etc/zoneinfo"]

  private static func openSystem() throws(ZoneDataError) -> ZoneDatabase {
    let own = unsafe getenv("TZDIR").map { unsafe String(cString: $0) } ?? ""
    let folders = own.isEmpty ? usualFolders : [own]
    let archived = own.isEmpty ? archivedFolders(program: FilePath.real("/proc/self/exe")) : []
    guard let folder = (folders + archived).first(where: { isFolder($0) }) else {
      throw .noDatabase(folders: folders)
    }
    return try ZoneDatabase(folder: folder)
  }

  /// Where `make dist` puts time zones, seen from `bin/push-fanout` and from
  /// `libexec/push-fanout/push-fanout-server`.
  static func archivedFolders(program: String?) -> [String] {
    let parts = program?.split(separator: "/") ?? []
    return [2, 3].filter { $0 <= parts.count }.map { depth in
      (parts.dropLast(depth) + ["share/push-fanout/zoneinfo"]).map { "/" + $0 }.joined()
    }
  }

  /// Opens the database in a folder.
  ///
  /// - Throws: ``ZoneDataError/noDatabase(folders:)`` when there is no such folder, or what is
  ///   wrong with it.
  /// - Complexity: O(names); O(bytes of all zones) where the folder has no version file.
  public init(folder: String) throws(ZoneDataError) {
    guard Self.isFolder(folder) else { throw .noDatabase(folders: [folder]) }
    self.folder = folder
    var names: Set<String> = []
    try Self.findNames(in: folder, "", &names)
    guard !names.isEmpty else { throw .malformed(file: folder, reason: "it holds no time zone") }
    self.names = names
    if let stated = Self.statedVersion(folder) {
      version = stated
    } else {
      version = try Self.hash(folder, names)
    }
  }

  /// Whether a name is one of the database, compared exactly, or another name of one (``ZoneLinks``).
  ///
  /// A C library also takes "PST8" and "UTC+8"; they are none.
  public func isName(_ name: String) -> Bool { fileName(of: name) != nil }

  /// The name of the file that a zone is read from; nil for what is no name.
  private func fileName(of name: String) -> String? {
    // A set of strings would also find a name spelled with the Kelvin sign for its K.
    guard name.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
    return names.contains(name)
      ? name : ZoneLinks.alternatives(to: name).first(where: names.contains)
  }

  /// The table of a zone, under the name that was asked for.
  ///
  /// - Throws: ``ZoneDataError``; ``ZoneDataError/unknownName(_:)`` for what is no name.
  /// - Complexity: a file is read; O(transitions), about 40 µs.
  public func zone(named name: String) throws(ZoneDataError) -> ZoneTable {
    guard let fileName = fileName(of: name) else { throw .unknownName(name) }
    let path = "\(folder)/\(fileName)"
    let bytes = try Self.read(path)
    let file: ZoneFile
    do throws(ZoneFile.Problem) {
      file = try ZoneFile(bytes)
    } catch {
      throw .malformed(file: path, reason: error.reason)
    }
    return ZoneTable(name: name, file)
  }

  // MARK: Names

  /// Finds the files that have names of zones: they and their folders begin with a capital letter.
  ///
  /// So `posix`, `right`, `localtime`, `posixrules` and tables like `zone.tab` are none. `Factory`
  /// means that no zone was set.
  private static func findNames(
    in folder: String, _ prefix: String, _ names: inout Set<String>
  ) throws(ZoneDataError) {
    guard let handle = unsafe opendir(folder) else {
      throw .unreadable(file: folder, reason: SystemError.last.message)
    }
    defer { unsafe closedir(handle) }
    guard let nameOffset = MemoryLayout<dirent>.offset(of: \.d_name) else { return }
    while let entry = unsafe readdir(handle) {
      let characters = unsafe UnsafeRawPointer(entry) + nameOffset
      let name = unsafe String(cString: characters.assumingMemoryBound(to: CChar.self))
      guard isPartOfName(name) else { continue }
      let path = "\(folder)/\(name)"
      let kind = unsafe Int(entry.pointee.d_type)
      if kind == Int(DT_DIR) || (kind == Int(DT_UNKNOWN) && isFolder(path)) {
        // No name of the database has more than three parts.
        let depth = prefix.utf8.count { $0 == UInt8(ascii: "/") }
        if depth < 3 { try findNames(in: path, "\(prefix)\(name)/", &names) }
      } else if prefix + name != "Factory" {
        names.insert(prefix + name)
      }
    }
  }

  /// Letters, digits, `+`, `-` and `_`, of which the first is a capital letter.
  private static func isPartOfName(_ name: String) -> Bool {
    guard let first = name.utf8.first, (0x41...0x5A).contains(first) else { return false }
    return name.utf8.allSatisfy { byte in
      (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
        || (0x30...0x39).contains(byte) || "+-_".utf8.contains(byte)
    }
  }

  // MARK: The version

  private static func statedVersion(_ folder: String) -> String? {
    for (file, prefix) in [("tzdata.zi", "# version "), ("+VERSION", "")] {
      guard let bytes = try? read("\(folder)/\(file)", upTo: 64), bytes.starts(with: prefix.utf8)
      else { continue }
      let version = bytes.dropFirst(prefix.utf8.count).prefix { $0 > 0x20 }
      guard (1...32).contains(version.count), version.allSatisfy({ $0 < 0x7F }) else { continue }
      return String(decoding: version, as: UTF8.self)
    }
    return nil
  }

  /// FNV-1a of the names and the bytes of all zones, in the order of names.
  private static func hash(
    _ folder: String, _ names: Set<String>
  ) throws(ZoneDataError) -> String {
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    for name in names.sorted() {
      for byte in Array(name.utf8) + [0] + (try read("\(folder)/\(name)")) {
        hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3
      }
    }
    let digits = String(hash, radix: 16)
    return "hash-" + String(repeating: "0", count: 16 - digits.count) + digits
  }

  // MARK: Files

  private static func isFolder(_ path: String) -> Bool {
    var status = stat()
    return unsafe stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
  }

  /// The largest file that is read; zones have up to some 4 kB.
  private static let sizeLimit = 1 << 20

  /// The bytes of a file, or its first ones.
  private static func read(
    _ path: String, upTo limit: Int? = nil
  ) throws(ZoneDataError) -> [UInt8] {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { throw .unreadable(file: path, reason: SystemError.last.message) }
    defer { close(descriptor) }
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0 else {
      throw .unreadable(file: path, reason: SystemError.last.message)
    }
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw .unreadable(file: path, reason: "it is not a regular file")
    }
    let size = min(Int(status.st_size), limit ?? .max)
    guard size <= sizeLimit else { throw .malformed(file: path, reason: "\(size) bytes") }
    var bytes = [UInt8](repeating: 0, count: size)
    var count = 0
    while count < size {
      let part = unsafe bytes.withUnsafeMutableBytes {
        unsafe pread(descriptor, $0.baseAddress! + count, size - count, off_t(count))
      }
      if part < 0, errno == EINTR { continue }
      guard part >= 0 else { throw .unreadable(file: path, reason: SystemError.last.message) }
      if part == 0 { throw .malformed(file: path, reason: "it is cut off") }
      count += part
    }
    return bytes
  }
}
