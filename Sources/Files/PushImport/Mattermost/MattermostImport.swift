internal import PushModel

/// What is said to an import of Mattermost beside the export.
package struct MattermostOptions: Sendable {
  /// The server's setting of collapsed threads.
  package var collapsesThreads = true
  /// From so many members of a channel on, `@channel` reaches nobody: MaxNotificationsPerChannel.
  package var mentionLimit = 1000
  /// Files of what the export leaves out.
  package var (users, statuses, members, groups): (String?, String?, String?, String?)

  package init() {}
}

/// Imports the archive of `mmctl export create`, or its import.jsonl (section 2).
struct MattermostImport {
  let options: MattermostOptions

  /// The app's record (I-21).
  var app: AppSettings {
    var app = AppSettings(rules: .open)
    app.open.threadPlain = options.collapsesThreads ? .followers : .everyone
    return app
  }

  /// How lines begin that are parsed with what others before them have said: users' and posts'.
  private static let groups: [[StaticString]] = [
    ["{\"type\":\"user\","], ["{\"type\":\"post\",", "{\"type\":\"direct_post\","],
  ]

  /// What is made of a piece apart from the others: of one with nothing but posts its messages.
  private enum Rows: Sendable {
    case lines(MattermostLines)
    case posts(MattermostPosts.Output)
  }

  func read(_ path: String, into world: ImportedWorld, _ run: ImportRun) throws {
    let target = MattermostWorld(world, try MattermostSettings(options))
    let input = try InputFile(path)
    var found: String?
    while try input.next() {
      if !input.entry.isEmpty {
        let isWanted =
          !input.entry.contains("/") && !input.entry.contains("\\")
          && input.entry.hasSuffix(".jsonl")
        guard isWanted else { continue }
        if let found {
          throw ImportProblem(input.name, "it is a second .jsonl outside folders, beside \(found)")
        }
      }
      found = input.entry
      target.file = input.shortName
      let pieces = try LinePieces(input, groups: Self.groups)
      try run.reading(input).run { () throws(ImportProblem) in
        try pieces.next()
      } parse: { piece, reader in
        MattermostParser.parse(piece, reader, target, findsChannels: piece.group == 0).map {
          piece.group == 1 ? Rows.posts(target.posts(of: $0)) : .lines($0)
        }
      } take: { rows in
        switch rows {
        case .lines(let lines): try target.add(lines)
        case .posts(let posts): try target.add(posts)
        }
      }
    }
    guard found != nil else {
      throw ImportProblem(path, "there is no .jsonl outside folders in it")
    }
  }
}
