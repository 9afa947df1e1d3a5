/// Counts why payloads do not say what was asked for: the notes that say that something is missing
/// or too much, and not those on how recipients have set their pushes.
public struct ContentNoteTally: Sendable {
  /// The most distinct notes that are counted one by one: senders may use any number of names.
  public static let limit = 10

  /// The notes in the order in which they were first met, each with the number of its payloads.
  public var counts: [(note: ContentNote, payloads: Int)] {
    notes.map { (note: $0, payloads: payloads[$0] ?? 0) }
  }
  /// How often notes occurred beyond the first ``limit``.
  public private(set) var otherCount = 0
  private var notes: [ContentNote] = []
  private var payloads: [ContentNote: Int] = [:]

  /// Nothing counted yet.
  public init() {}

  /// Counts the notes of a payload.
  ///
  /// - Complexity: O(notes of the payload).
  public mutating func add(_ content: RenderedContent) {
    for note in content.notes where note.isUnexpected {
      if payloads[note] != nil {
        payloads[note, default: 0] += 1
      } else if notes.count < Self.limit {
        notes.append(note)
        payloads[note] = 1
      } else {
        otherCount += 1
      }
    }
  }
}

extension ContentNote {
  /// Whether the note is about something missing or too long, rather than about a user's settings.
  fileprivate var isUnexpected: Bool {
    switch self {
    case .templateMissing, .bodyEmpty, .bodyBlank, .argumentMissing, .cutOff: true
    case .noText, .translated, .notTranslated: false
    }
  }
}
