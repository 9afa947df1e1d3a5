/// Fields that most records do not have: one word, where all have their defaults. A record is copied
/// and compared for each change, and with a word for each field that took 8 % longer.
@usableFromInline
struct RareFields<Fields: DefaultedFields>: Hashable, Sendable {
  @usableFromInline
  final class Box: Sendable {
    @usableFromInline let fields: Fields
    @inlinable init(_ fields: Fields) { self.fields = fields }
  }

  /// nil where all have their defaults. (An `indirect enum` crashes Swift 6.3's compiler.)
  @usableFromInline var box: Box?

  @inlinable init() {}

  @inlinable var fields: Fields {
    get { box?.fields ?? Fields() }
    set { box = newValue == Fields() ? nil : Box(newValue) }
  }

  @inlinable static func == (one: Self, other: Self) -> Bool {
    one.box === other.box || one.fields == other.fields
  }

  @inlinable func hash(into hasher: inout Hasher) { hasher.combine(box?.fields) }
}

/// Fields with a default each.
@usableFromInline
protocol DefaultedFields: Hashable, Sendable {
  init()
}
