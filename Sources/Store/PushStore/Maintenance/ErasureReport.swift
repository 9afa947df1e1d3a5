internal import Foundation
internal import GRDB
public import PushModel

/// Where the bytes of an id are still found after it was erased.
///
/// A short id may be part of others: `u1` of `u10`. Values are what such bytes are explained by.
public struct ErasureReport: Hashable, Sendable {
  /// How often the bytes occur in a file.
  public struct File: Hashable, Sendable {
    /// The file's path.
    public let path: String
    /// How often.
    public let count: Int
  }

  /// Values of a column that contain the bytes.
  public struct Column: Hashable, Sendable {
    /// The table and the column, like `users.id`.
    public let name: String
    /// How many values contain them, and how many of these are equal to the id: another thing of
    /// the same id, as a conversation may be.
    public let containing, equal: Int
  }

  /// The database, its log and its snapshot, where they exist.
  public let files: [File]
  /// Columns with such values; none for an id that is part of no other text.
  public let columns: [Column]

  /// Whether the bytes are in none of the files.
  public var isClean: Bool { files.allSatisfy { $0.count == 0 } }
}

extension StoreReader {
  /// Searches the store's files, and the values in them, for the bytes of an id.
  ///
  /// - Complexity: O(size of the files).
  public func traces(of id: Identifier) throws -> ErasureReport {
    let bytes = [UInt8](id.text.utf8)
    let file = store.file
    let columns = try read { try $0.columns(containing: id) }
    var files = [ErasureReport.File(path: file, count: Self.count(bytes, in: store.inode))]
    for ending in ["-wal", ".snapshot"] {
      // No descriptor of the database itself is opened, see StoreInode.
      let data = try? Data(
        contentsOf: URL(fileURLWithPath: file + ending), options: .alwaysMapped)
      guard let data else { continue }
      var search = ByteSearch(bytes)
      search.feed(data)
      files.append(ErasureReport.File(path: file + ending, count: search.count))
    }
    return ErasureReport(files: files, columns: columns)
  }

  private static func count(_ bytes: [UInt8], in inode: StoreInode) -> Int {
    var search = ByteSearch(bytes)
    let size = Int(inode.status?.st_size ?? 0)
    for start in stride(from: 0, to: size, by: 1 << 20) {
      search.feed(inode.bytes(start..<min(size, start + 1 << 20)))
    }
    return search.count
  }
}

/// Counts where bytes occur in others that come in pieces.
private struct ByteSearch {
  private let pattern: [UInt8]
  /// The end of the pieces before, shorter than the pattern.
  private var rest: [UInt8] = []
  private(set) var count = 0

  init(_ pattern: [UInt8]) { self.pattern = pattern }

  mutating func feed(_ piece: some RandomAccessCollection<UInt8>) {
    let bytes = rest + piece
    unsafe bytes.withUnsafeBytes { bytes in
      guard bytes.count >= pattern.count else { return }
      for start in 0...bytes.count - pattern.count where unsafe bytes[start] == pattern[0] {
        var offset = 1
        while offset < pattern.count, unsafe bytes[start + offset] == pattern[offset] {
          offset += 1
        }
        if offset == pattern.count { count += 1 }
      }
    }
    rest = Array(bytes.suffix(pattern.count - 1))
  }
}

extension SettingsQueries {
  /// The columns with values that contain an id's bytes.
  fileprivate func columns(containing id: Identifier) throws -> [ErasureReport.Column] {
    let tables = try String.fetchAll(
      db,
      sql: """
        SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
        ORDER BY name
        """)
    var found: [ErasureReport.Column] = []
    for table in tables {
      for column in try db.columns(in: table) where ["BLOB", "TEXT"].contains(column.type) {
        let name = column.name
        let counts = try Row.fetchOne(
          db,
          sql: """
            SELECT count(*), coalesce(sum(CAST("\(name)" AS BLOB) = ?1), 0) FROM "\(table)"
            WHERE instr(CAST("\(name)" AS BLOB), ?1) > 0
            """, arguments: [id.bytes])
        guard let counts, counts[0] as Int > 0 else { continue }
        found.append(
          ErasureReport.Column(
            name: "\(table).\(name)", containing: counts[0], equal: counts[1]))
      }
    }
    return found
  }
}
