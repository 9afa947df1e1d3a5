internal import CPushSQLite
internal import Foundation
internal import GRDB
internal import PushModel

/// A statement that is run for many rows, or by every write, value by value: GRDB's arrays of values
/// and dictionaries of column names would take longer than SQLite.
///
/// Values are bound in the order of the question marks, before each execution.
@safe struct RepeatedStatement: ~Copyable {
  /// Keeps the handle alive.
  private let statement: Statement
  private let handle: OpaquePointer
  private let database: Database
  private var parameter: Int32 = 0
  /// Whether ``next()`` has come to the end.
  private var hasEnded = false

  init(_ db: Database, _ sql: String) throws {
    statement = try db.makeStatement(sql: sql)
    unsafe handle = statement.sqliteStatement
    database = db
  }

  /// A statement that the connection keeps, and that is not being run.
  init(cached sql: String, _ db: Database) throws {
    statement = try db.cachedStatement(sql: sql)
    unsafe handle = statement.sqliteStatement
    database = db
    // GRDB, which may have run it last, resets a statement when it runs it again. The code is that
    // of the last run.
    unsafe sqlite3_reset(handle)
  }

  mutating func bind(_ number: Int64) throws {
    parameter += 1
    try check(unsafe sqlite3_bind_int64(handle, parameter, number))
  }

  mutating func bind(_ flag: Bool) throws { try bind(flag ? 1 : 0 as Int64) }

  mutating func bindNull() throws {
    parameter += 1
    try check(unsafe sqlite3_bind_null(handle, parameter))
  }

  mutating func bind(_ number: Int64?) throws {
    if let number { try bind(number) } else { try bindNull() }
  }

  /// A BLOB of an id's characters.
  mutating func bind(_ id: Identifier) throws {
    parameter += 1
    try check(
      unsafe Self.withUTF8(id.text) {
        unsafe ps_bind_blob(handle, parameter, $0.baseAddress, Int32($0.count))
      })
  }

  mutating func bind(_ id: Identifier?) throws {
    if let id { try bind(id) } else { try bindNull() }
  }

  mutating func bind(text: String?) throws {
    guard let text else { return try bindNull() }
    parameter += 1
    try check(
      unsafe Self.withUTF8(text) {
        unsafe ps_bind_text(handle, parameter, $0.baseAddress, Int32($0.count))
      })
  }

  private static func withUTF8(_ text: String, _ body: (UnsafeBufferPointer<UInt8>) -> Int32)
    -> Int32
  {
    if let code = unsafe text.utf8.withContiguousStorageIfAvailable({ unsafe body($0) }) {
      return code
    }
    var text = text
    return text.withUTF8 { unsafe body($0) }
  }

  /// Runs with the values that are bound.
  mutating func run() throws { _ = unsafe try step { _ in } }

  /// The first column of the first row; nil for no row.
  mutating func firstNumber() throws -> Int64? {
    unsafe try step { unsafe sqlite3_column_int64($0, 0) }
  }

  /// What `read` makes of the first row; nil for no row.
  mutating func first<Value>(_ read: (StatementColumns) throws -> Value) throws -> Value? {
    try unsafe step { handle in
      let columns = unsafe StatementColumns(handle)
      return Result { try read(columns) }
    }?.get()
  }

  /// Calls `body` with each row.
  mutating func forEach(_ body: (StatementColumns) throws -> Void) throws {
    hasEnded = false
    while let row = try next() {
      do { try body(row) } catch {
        unsafe sqlite3_reset(handle)
        throw error
      }
    }
  }

  /// The next row, with the values that were bound before the first; nil at the end, and from then
  /// on.
  mutating func next() throws -> StatementColumns? {
    if hasEnded { return nil }
    parameter = 0
    let code = unsafe sqlite3_step(handle)
    if code == SQLITE_ROW { return unsafe StatementColumns(handle) }
    hasEnded = true
    try finish(code)
    return nil
  }

  private mutating func step<Value>(_ body: (OpaquePointer) -> Value) throws -> Value? {
    parameter = 0
    let code = unsafe sqlite3_step(handle)
    let value = code == SQLITE_ROW ? unsafe body(handle) : nil
    try finish(code)
    return value
  }

  /// - Parameter code: what the last step returned.
  private func finish(_ code: Int32) throws {
    // The reset returns the step's error, and the message is that of the connection until then.
    if code == SQLITE_ROW || code == SQLITE_DONE {
      try check(unsafe sqlite3_reset(handle))
    } else {
      let error = failure(code)
      unsafe sqlite3_reset(handle)
      throw error
    }
  }

  private func check(_ code: Int32) throws {
    if code != SQLITE_OK { throw failure(code) }
  }

  private func failure(_ code: Int32) -> DatabaseError {
    let connection = unsafe database.sqliteConnection
    let extended = unsafe sqlite3_extended_errcode(connection)
    return DatabaseError(
      resultCode: ResultCode(rawValue: extended == SQLITE_OK ? code : extended),
      message: unsafe String(cString: sqlite3_errmsg(connection)))
  }
}

/// Inserts rows of numbers, many by an execution: one costs SQLite more than a row does.
struct NumberRows: ~Copyable {
  private var one, many: RepeatedStatement
  private let columnCount: Int
  private var values: [Int64] = []
  private static let rowCount = 64

  /// - Parameter insertion: `INSERT INTO`, and the table.
  init(_ db: Database, _ insertion: String, columnCount: Int) throws {
    let row = "(" + Array(repeating: "?", count: columnCount).joined(separator: ", ") + ")"
    let rows = Array(repeating: row, count: Self.rowCount).joined(separator: ", ")
    let one = try RepeatedStatement(db, "\(insertion) VALUES \(row)")
    let many = try RepeatedStatement(db, "\(insertion) VALUES \(rows)")
    self.one = one
    self.many = many
    self.columnCount = columnCount
    values.reserveCapacity(Self.rowCount * columnCount)
  }

  /// Adds a row, which is inserted by ``finish()`` at the latest.
  @inline(__always)
  mutating func add(_ numbers: Int64...) throws {
    values.append(contentsOf: numbers)
    guard values.count == Self.rowCount * columnCount else { return }
    for value in values { try many.bind(value) }
    try many.run()
    values.removeAll(keepingCapacity: true)
  }

  /// Inserts what is left.
  mutating func finish() throws {
    for start in stride(from: 0, to: values.count, by: columnCount) {
      for value in values[start..<start + columnCount] { try one.bind(value) }
      try one.run()
    }
    values.removeAll(keepingCapacity: true)
  }
}

/// The columns of the row that a statement is at. A damaged row may hold anything.
@safe struct StatementColumns {
  private let handle: OpaquePointer

  init(_ handle: OpaquePointer) { unsafe self.handle = handle }

  func isNull(_ index: Int32) -> Bool { unsafe sqlite3_column_type(handle, index) == SQLITE_NULL }

  /// nil for anything but an integer.
  @inline(__always)
  func number(_ index: Int32) -> Int64? {
    // The value itself may be read, as a connection is used by one thread at a time; each function
    // of columns would look for it again.
    let value = unsafe sqlite3_column_value(handle, index)
    guard unsafe sqlite3_value_type(value) == SQLITE_INTEGER else { return nil }
    return unsafe sqlite3_value_int64(value)
  }

  /// The UTF-8 of a text or a BLOB; nil for anything else.
  func text(_ index: Int32) -> String? {
    let type = unsafe sqlite3_column_type(handle, index)
    guard type == SQLITE_TEXT || type == SQLITE_BLOB else { return nil }
    guard let bytes = unsafe sqlite3_column_blob(handle, index) else { return "" }
    let count = Int(unsafe sqlite3_column_bytes(handle, index))
    return unsafe String(
      validating: UnsafeRawBufferPointer(start: bytes, count: count), as: UTF8.self)
  }
}
