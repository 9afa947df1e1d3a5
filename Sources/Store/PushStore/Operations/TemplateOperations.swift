internal import Foundation
internal import GRDB
public import PushContent
internal import PushFanout
internal import PushModel

/// Easemob's templates, which its console and its REST interface write.
///
/// A change stands in the feed as ``Change/template``.
extension StoreWrite {
  /// Sets a template, which replaces the one of its name. When it is the same, nothing is written.
  ///
  /// - Throws: ``StoreError/otherRules(_:)``.
  public mutating func setTemplate(_ template: PushTemplate) throws {
    try queries.require(.easemob)
    let before = try queries.templates()[template.name]
    guard before != template else { return }
    try queries.db.execute(
      sql: "INSERT OR REPLACE INTO templates VALUES (?, ?, ?)",
      arguments: [
        template.name, Data(template.titleSource.utf8), Data(template.contentSource.utf8),
      ])
    steps.append(.template(template.name, template))
    try record(.template, values: ChangedValues(old: before?.words, new: template.words))
  }

  /// Removes a template; users may have chosen it, and see the generic text then.
  ///
  /// - Throws: ``StoreError/otherRules(_:)`` or ``StoreError/unknownTemplate(_:)``.
  public mutating func removeTemplate(_ name: String) throws {
    try queries.require(.easemob)
    guard let before = try queries.templates()[name] else {
      throw StoreError.unknownTemplate(name)
    }
    try queries.db.execute(sql: "DELETE FROM templates WHERE name = ?", arguments: [name])
    steps.append(.template(name, nil))
    try record(.template, values: ChangedValues(old: before.words, new: nil))
  }
}

extension PushTemplate {
  /// For an entry of the feed, which has no other name.
  fileprivate var words: String { "\(name): \(titleSource) / \(contentSource)" }
}

extension StoreReader {
  /// The templates that are stored.
  public func templates() throws -> TemplateCatalog { try read { try $0.templates() } }
}

extension SettingsQueries {
  func templates() throws -> TemplateCatalog {
    var catalog = TemplateCatalog()
    for row in try Row.fetchAll(db, sql: "SELECT name, title, content FROM templates") {
      let template = try? PushTemplate(
        name: try get(row, 0, "templates.name"), title: try id(row, 1, "templates.title").text,
        content: try id(row, 2, "templates.content").text)
      try catalog.add(try known(template, "templates.content"))
    }
    return catalog
  }
}

extension SettingsStore {
  /// Renders by the settings that ``fanout`` decides by: display settings and templates as of the
  /// same commit, however they change. It is made at the first call, and follows from then on.
  ///
  /// - Throws: ``StoreError/readOnly(_:)`` for a store that was opened for reading, whose engine
  ///   does not follow; ``StoreReader/fanoutWithContent(threads:)`` reads both as of one commit.
  /// - Complexity: O(users with display settings) for the first call, while other writes wait.
  public func liveRenderer() throws -> LiveRenderer {
    if let made = content.renderer { return made }
    return try betweenCommits { _ in
      try content.renderer
        ?? reader.read { queries in
          let made = LiveRenderer(
            try queries.rules(), try queries.templates(), try queries.contentDirectory(),
            version: fanout.settingsVersion)
          content.renderer = made
          return made
        }
    }
  }
}
