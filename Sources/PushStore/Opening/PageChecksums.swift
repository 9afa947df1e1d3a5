internal import CPushSQLite
internal import Foundation
internal import GRDB

/// The checksum in each page of a store's file, which CPushSQLite writes and compares.
///
/// It is in the last 8 bytes of a page, which SQLite keeps free for it, and the page's number has
/// part in it: a changed bit, a page of zeros and a page at another page's offset are noticed when
/// the page is read, before anything is decided by it.
enum PageChecksums {
  /// Where SQLite finds a file, as a URI of the VFS that checks checksums.
  ///
  /// - Parameters:
  ///   - checks: whether the pages have checksums.
  ///   - parameters: further parameters of the URI, like `immutable=1`.
  static func location(
    _ path: String, checks: Bool, _ parameters: [String] = []
  ) throws -> String {
    let code = ps_register()
    guard code == SQLITE_OK else {
      throw StoreError.database(path, reason: "SQLite cannot be set up (\(code))")
    }
    // A relative path could begin like a name that SQLite takes for something else.
    let prefix = path.hasPrefix("/") ? "file://" : "file:./"
    var uri = prefix
    for byte in path.utf8 {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "/"), UInt8(ascii: "."),
        UInt8(ascii: "-"), UInt8(ascii: "_"):
        uri.unicodeScalars.append(UnicodeScalar(byte))
      default:
        uri += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
      }
    }
    let sums = checks ? ["checksums=1"] : []
    let name = unsafe String(cString: ps_vfs_name)
    return uri + "?" + (["vfs=\(name)"] + sums + parameters).joined(separator: "&")
  }

  /// The header on the first page of a file.
  enum Form {
    /// A store whose pages have checksums.
    case checked
    /// A store without, as earlier versions made them; or a database whose tables must be looked
    /// at.
    case plain
  }

  /// - Parameters:
  ///   - path: what errors call the store.
  ///   - file: where it is, with its snapshot beside it.
  /// - Throws: ``StoreError/empty(_:hasSnapshot:)``, ``StoreError/notAStore(_:reason:)`` or
  ///   ``StoreError/damaged(_:reason:)``.
  static func form(of inode: StoreInode, _ path: String, _ file: String) throws -> Form {
    let header = inode.bytes(0..<512)
    guard !header.isEmpty else {
      let snapshot = SnapshotKeeper.path(file)
      throw StoreError.empty(
        path, hasSnapshot: FileManager.default.fileExists(atPath: snapshot))
    }
    // https://www.sqlite.org/fileformat.html, 1.3. What is shorter than the smallest page is taken
    // for an empty database by SQLite.
    guard header.count == 512, header.starts(with: "SQLite format 3\0".utf8) else {
      throw StoreError.notAStore(path, reason: "file is not a database")
    }
    let id = header[68..<72].reduce(0 as UInt32) { $0 << 8 | UInt32($1) }
    let different = (id ^ UInt32(bitPattern: Schema.applicationID)).nonzeroBitCount
    if different == 0 { return .checked }
    // No bit by itself makes one of the other: a checked store whose id was changed also has room
    // for checksums, which one without never has.
    let hasRoom = Int32(header[20]) == ps_checksum_size
    if hasRoom && different <= 4 {
      throw StoreError.damaged(path, reason: "its header was changed")
    }
    return .plain
  }

  /// Has a database that is being made, or that is about to be vacuumed, keep room for checksums.
  static func reserve(_ db: Database) throws {
    let code = unsafe ps_reserve(db.sqliteConnection)
    guard code == SQLITE_OK else {
      throw DatabaseError(resultCode: ResultCode(rawValue: code))
    }
  }

  /// The number of the first page whose checksum is wrong, free pages included; nil for none.
  static func firstWrongPage(_ db: Database) throws -> UInt32? {
    var page: UInt32 = 0
    let code = unsafe ps_scan(db.sqliteConnection, &page)
    guard code == SQLITE_OK else {
      throw DatabaseError(resultCode: ResultCode(rawValue: code))
    }
    return page == 0 ? nil : page
  }
}
