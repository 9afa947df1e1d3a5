internal import Foundation
internal import PushStore

/// What a store was before: `FILE.follow` beside it.
///
/// A store that follows has the epoch that it follows and the last entry of that feed which it has.
/// A store that was promoted has neither, but the epochs that it supersedes.
struct Lineage: Codable, Sendable, Equatable {
  /// The epoch that is followed; nil for a primary.
  var follows: String?
  /// The last entry of the followed feed that the store has.
  var cursor: String?
  /// Epochs that this store supersedes; no store of them is a primary any more.
  var supersedes: [String] = []

  static func path(_ store: String) -> String { store + ".follow" }

  /// - Returns: nil where there is none.
  /// - Throws: ``OptionError`` for a file that cannot be used.
  static func read(beside store: String) throws(OptionError) -> Lineage? {
    let path = path(store)
    guard FileManager.default.fileExists(atPath: path) else { return nil }
    do {
      return try JSONDecoder().decode(Lineage.self, from: Data(contentsOf: URL(filePath: path)))
    } catch {
      throw OptionError(
        "\(path) cannot be read, which says whether \(store) is a primary: \(error)")
    }
  }

  /// Replaces the file.
  func write(beside store: String) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys]
    try encoder.encode(self).write(to: URL(filePath: Self.path(store)), options: .atomic)
  }

  /// What a store was before that is opened as a primary.
  ///
  /// - Throws: ``OptionError`` for the copy of a follower, unless it is promoted.
  static func ofPrimary(_ store: String, promotes: Bool) throws -> Lineage {
    var lineage = try read(beside: store) ?? Lineage()
    guard promotes || lineage.follows == nil else {
      throw OptionError(
        "\(store) is the copy of a follower: start it with --follow URL, or make it a primary with "
          + "--promote, when the server that it followed has ended for good")
    }
    if lineage.follows != nil {
      lineage.promote()
      try lineage.write(beside: store)
    }
    return lineage
  }

  /// Ends following: the store's own epoch supersedes the one that it followed.
  mutating func promote() {
    if let follows { supersedes.append(follows) }
    follows = nil
    cursor = nil
  }
}
