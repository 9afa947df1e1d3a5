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
  /// - Parameter parameters: further parameters of the URI, like `immutable=1`.
  static func location(_ path: String, _ parameters: [String] = []) throws -> String {
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
    let name = unsafe String(cString: ps_vfs_name)
    return uri + "?" + (["vfs=\(name)"] + parameters).joined(separator: "&")
  }

  /// Has a database that is being made keep room for checksums.
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
