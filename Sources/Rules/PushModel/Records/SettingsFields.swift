// The fields of the records of settings: this is the only list of them. What reads, writes, compares
// or merges records is a visitor.

/// What is done with each field of a record.
@usableFromInline package protocol FieldVisitor<Record>: ~Copyable {
  associatedtype Record
  associatedtype Failure: Error = Never

  /// Marked `@inline(__always)`, so that it is compiled for each field by itself.
  mutating func visit(_ field: RecordField<Record>) throws(Failure)
}

extension FieldVisitor where Self: ~Copyable {
  @inlinable @inline(__always)
  package mutating func visit(
    _ name: StaticString, _ value: FieldValue<Record>,
    of owner: VendorFields = VendorFields(rawValue: 0),
    columns: RowFields = RowFields(rawValue: 0)
  ) throws(Failure) {
    try visit(RecordField(name: name, owner: owner, columns: columns, value: value))
  }
}

/// A record whose fields are listed.
@usableFromInline package protocol RecordFields {
  /// Visits each field, in the order in which it is written.
  static func visitFields<Visitor: FieldVisitor<Self> & ~Copyable>(
    _ visitor: inout Visitor
  ) throws(Visitor.Failure)
}

/// A field of a record.
@usableFromInline package struct RecordField<Record> {
  /// Its name in every format.
  @usableFromInline package let name: StaticString
  /// What a rule set has that has the field; empty where all have it.
  @usableFromInline package let owner: VendorFields
  /// The columns that it has in CSV files; empty for none.
  @usableFromInline package let columns: RowFields
  /// The form of its value, and where it is.
  @usableFromInline package let value: FieldValue<Record>

  @inlinable init(
    name: StaticString, owner: VendorFields, columns: RowFields, value: FieldValue<Record>
  ) {
    (self.name, self.owner, self.columns, self.value) = (name, owner, columns, value)
  }
}

/// The fields of a user or a member that a CSV file has columns of.
@usableFromInline package struct RowFields: OptionSet, Sendable {
  @usableFromInline package let rawValue: UInt8

  @inlinable package init(rawValue: UInt8) { self.rawValue = rawValue }

  @inlinable package static var level: Self { Self(rawValue: 1) }
  @inlinable package static var mutedUntil: Self { Self(rawValue: 2) }
  @inlinable package static var timeZone: Self { Self(rawValue: 4) }
  /// When quiet hours begin and end, or how long they last.
  @inlinable package static var quietWindow: Self { Self(rawValue: 8) }
  @inlinable package static var quietLevel: Self { Self(rawValue: 16) }
  @inlinable package static var quietTimeZone: Self { Self(rawValue: 32) }
  @inlinable package static var since: Self { Self(rawValue: 64) }
  /// The three of quiet hours, as a number: a literal of elements makes an array for each visit.
  @inlinable package static var quietHours: Self { Self(rawValue: 8 + 16 + 32) }
}

/// The form of a field's value, with its default where that is not plain.
///
/// A case has few parts: with one of several texts, the compiler no longer worked the key paths out.
@usableFromInline package enum FieldValue<Record> {
  case level(WritableKeyPath<Record, NotificationLevel>)
  case kindLevels(WritableKeyPath<Record, KindLevels>)
  case channelLevels(WritableKeyPath<Record, [Identifier: NotificationLevel]>)
  /// Quiet hours of a vendor.
  case quietHours(WritableKeyPath<Record, QuietHours?>)
  /// Quiet hours that are windows of the week.
  case quietWindows(WritableKeyPath<Record, QuietHours?>)
  case zone(WritableKeyPath<Record, String>)
  /// The zone of a user who has set one.
  case ownZone(WritableKeyPath<Record, String?>)
  case instant(WritableKeyPath<Record, Instant>)
  /// A flag; one without a default is always written.
  case flag(WritableKeyPath<Record, Bool>, default: Bool? = false)
  /// A flag that is written whenever it is answered.
  case answer(WritableKeyPath<Record, Bool?>)
  /// An object of two flags: whether information is missing, and whether the app handles them.
  case localNotification(WritableKeyPath<Record, Bool>, WritableKeyPath<Record, Bool>)
  case classes(WritableKeyPath<Record, MessageClasses>)
  case texts(
    WritableKeyPath<Record, [String]>, check: ([String]) throws(SettingsWriteError) -> Void)
  case ids(
    WritableKeyPath<Record, [Identifier]>,
    check: (([Identifier]) throws(SettingsWriteError) -> Void)? = nil)
  case devicePolicy(WritableKeyPath<Record, AppSettings.DevicePolicy>)
  case devices(WritableKeyPath<Record, [Device]?>)
}

extension AppSettings: RecordFields {
  @inlinable package static func visitFields<Visitor: FieldVisitor<Self> & ~Copyable>(
    _ visitor: inout Visitor
  ) throws(Visitor.Failure) {
    try visitor.visit("timeZone", .zone(\.timeZone))
    try visitor.visit("devicePolicy", .devicePolicy(\.devicePolicy), of: .devicePolicy)
    try visitor.visit("advancedPush", .flag(\.advancedPush, default: nil), of: .advancedPush)
    try visitor.visit("level", .level(\.level), of: .appLevel, columns: .level)
    try visitor.visit("quiet", .quietWindows(\.quietHours), of: .quietWindows)
    try visitor.visit(
      "messageNotification", .flag(\.messageNotification, default: nil), of: .messageNotification)
  }
}

extension UserSettings: RecordFields {
  @inlinable package static func visitFields<Visitor: FieldVisitor<Self> & ~Copyable>(
    _ visitor: inout Visitor
  ) throws(Visitor.Failure) {
    try visitor.visit("level", .level(\.level), of: .userLevel, columns: .level)
    try visitor.visit("levels", .kindLevels(\.levels), of: .kindLevels)
    try visitor.visit(
      "quietHours", .quietHours(\.quietHours), of: .quietHoursObject, columns: .quietHours)
    try visitor.visit("quiet", .quietWindows(\.quietHours), of: .quietWindows)
    try visitor.visit("timeZone", .ownZone(\.timeZone), columns: .timeZone)
    try visitor.visit("mutedUntil", .instant(\.mutedUntil), of: .userMute, columns: .mutedUntil)
    try visitor.visit(
      "pushWhenDesktopOnline", .flag(\.pushWhenDesktopOnline), of: .pushWhenDesktopOnline)
    try visitor.visit(
      "localNotification", .localNotification(\.localInformationMissing, \.localHandledByApp),
      of: .localNotification)
    try visitor.visit("mutedAllow", .classes(\.mutedAllow), of: .mutedAllow)
    try visitor.visit("allowForce", .flag(\.allowForce, default: true), of: .allowForce)
    try visitor.visit("keywords", .texts(\.keywords, check: Self.check(keywords:)), of: .keywords)
    try visitor.visit("importantSenders", .ids(\.importantSenders), of: .importantSenders)
    try visitor.visit("blockedSenders", .ids(\.blockedSenders), of: .blockedSenders)
    try visitor.visit("devices", .devices(\.devices))
  }
}

extension MemberSettings: RecordFields {
  @inlinable package static func visitFields<Visitor: FieldVisitor<Self> & ~Copyable>(
    _ visitor: inout Visitor
  ) throws(Visitor.Failure) {
    try visitor.visit("level", .level(\.level), columns: .level)
    try visitor.visit("mutedUntil", .instant(\.mutedUntil), of: .memberMute, columns: .mutedUntil)
    try visitor.visit("since", .instant(\.since), columns: .since)
    try visitor.visit("channels", .channelLevels(\.channels), of: .channels)
    try visitor.visit("important", .flag(\.isImportant), of: .important)
    try visitor.visit("follow", .answer(\.isFollowing), of: .follow)
    try visitor.visit("roles", .ids(\.roles, check: Self.check(roles:)), of: .roles)
  }
}

// MARK: What the list says

extension RecordFields {
  /// The list, as far as it does not depend on a record.
  package static var list: FieldList<Self> {
    var list = FieldList<Self>()
    visitFields(&list)
    return list
  }

  /// Which of the fields are set.
  @inlinable package var vendorFields: VendorFields {
    var used = UsedFields(record: self)
    Self.visitFields(&used)
    return used.owners
  }

  /// Replaces the fields that have some of these columns by those of a row.
  @inlinable package mutating func replace(_ columns: RowFields, with row: Self) {
    var merge = RowMerge(record: self, row: row, columns: columns)
    Self.visitFields(&merge)
    self = merge.record
  }
}

package struct FieldList<Record>: FieldVisitor {
  /// The names of all fields.
  package private(set) var names: [String] = []
  /// Those that have columns.
  package private(set) var inRows: [(columns: RowFields, name: String, owner: VendorFields)] = []
  /// What rule sets have of those that have none.
  package private(set) var besideRows: VendorFields = []

  package mutating func visit(_ field: RecordField<Record>) {
    names.append("\(field.name)")
    if field.columns.isEmpty {
      besideRows.formUnion(field.owner)
    } else {
      inRows.append((field.columns, "\(field.name)", field.owner))
    }
  }
}

@usableFromInline struct UsedFields<Record>: FieldVisitor {
  @usableFromInline let record: Record
  @usableFromInline var owners: VendorFields = []

  @inlinable init(record: Record) { self.record = record }

  @inlinable @inline(__always)
  mutating func visit(_ field: RecordField<Record>) {
    if let owner = field.owner(in: record) { owners.formUnion(owner) }
  }
}

extension RecordField {
  /// The owner of the field, or of the form of its value; nil where it has the default.
  @inlinable @inline(__always)
  package func owner(in record: Record) -> VendorFields? {
    switch value {
    case .level(let path): record[keyPath: path].isSet ? owner : nil
    case .kindLevels(let path): record[keyPath: path] != KindLevels() ? owner : nil
    case .channelLevels(let path): record[keyPath: path].isEmpty ? nil : owner
    case .quietHours(let path):
      record[keyPath: path].flatMap { $0.field == .quietWindows ? nil : $0.field }
    case .quietWindows(let path): record[keyPath: path]?.field == .quietWindows ? owner : nil
    case .zone, .devicePolicy: owner
    case .ownZone(let path): record[keyPath: path] != nil ? owner : nil
    case .instant(let path): record[keyPath: path] > .zero ? owner : nil
    case .flag(let path, let plain): record[keyPath: path] != plain ? owner : nil
    case .answer(let path): record[keyPath: path] != nil ? owner : nil
    case .localNotification(let missing, let handled):
      record[keyPath: missing] || record[keyPath: handled] ? owner : nil
    case .classes(let path): record[keyPath: path].isEmpty ? nil : owner
    case .texts(let path, _): record[keyPath: path].isEmpty ? nil : owner
    case .ids(let path, _): record[keyPath: path].isEmpty ? nil : owner
    case .devices(let path): record[keyPath: path] != nil ? owner : nil
    }
  }
}

// MARK: Rows of CSV files

@usableFromInline struct RowMerge<Record>: FieldVisitor {
  @usableFromInline var record: Record
  @usableFromInline let row: Record
  @usableFromInline let columns: RowFields

  @inlinable init(record: Record, row: Record, columns: RowFields) {
    (self.record, self.row, self.columns) = (record, row, columns)
  }

  @inlinable @inline(__always)
  mutating func visit(_ field: RecordField<Record>) {
    if field.columns.isDisjoint(with: columns) { return }
    switch field.value {
    case .level(let path): record[keyPath: path] = row[keyPath: path]
    case .ownZone(let path): record[keyPath: path] = row[keyPath: path]
    case .instant(let path): record[keyPath: path] = row[keyPath: path]
    case .quietHours(let path):
      record[keyPath: path] = record[keyPath: path].merged(with: row[keyPath: path], columns)
    default: preconditionFailure("rows do not have \(field.name)")
    }
  }
}

extension QuietHours? {
  @usableFromInline func merged(with new: QuietHours?, _ columns: RowFields) -> QuietHours? {
    // Rows cannot say windows of the week, so they leave them.
    if case .windows = self { return self }
    let merged = columns.contains(.quietWindow) ? new : self
    // What a window lets through, and its zone, have columns of their own.
    guard case .span(let stored) = self, case .span(let window) = merged else { return merged }
    let inRow = columns.contains(.quietWindow) ? window : nil
    return .span(
      window.with(
        levelOf: columns.contains(.quietLevel) ? inRow : stored,
        timeZone: columns.contains(.quietTimeZone) ? inRow?.timeZone : stored.timeZone))
  }
}
