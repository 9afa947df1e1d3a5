internal import Glibc
internal import PushModel

/// Imports what `manage.py export` or the settings of an organization give (section 3).
struct ZulipImport {
  /// The app's record (I-30).
  static var app: AppSettings {
    var app = AppSettings(rules: .open)
    app.open.threadPlain = .everyone
    return app
  }

  private enum Part {
    case realm
    case messages(Int)
  }

  /// - Parameter sorter: brings messages together with who was mentioned in them.
  func read(
    _ path: String, into world: ImportedWorld, _ run: ImportRun, _ sorter: RunSorter
  ) throws {
    let target = ZulipWorld(world, sorter, ImportRun.isZone)
    var hasRealm = false
    func read(_ input: InputFile, _ part: Part) throws {
      var number = 0
      if case .messages(let file) = part { number = file } else { hasRealm = true }
      let pieces = DocumentPieces(input)
      try run.reading(input).run(
        { () throws(ImportProblem) in try pieces.next() }, parse: ZulipRows.parse
      ) { rows in try target.add(rows, of: input.shortName, number) }
    }
    if let names = Self.names(ofFolder: path) {
      for (name, part) in names {
        let input = try InputFile("\(path)/\(name)")
        if try input.next() { try read(input, part) }
      }
    } else {
      let input = try InputFile(path)
      var folder: Substring?
      while try input.next() {
        guard !input.entry.isEmpty else {
          throw ImportProblem(path, "it is neither a folder nor an archive")
        }
        guard let (name, parent) = Self.parts(input.entry), let part = Self.part(name) else {
          continue
        }
        if let folder, folder != parent {
          throw ImportProblem(input.name, "it is not in the folder of the other files")
        }
        folder = parent
        try read(input, part)
      }
    }
    guard hasRealm else { throw ImportProblem(path, "there is no realm.json in it") }
    try target.finish()
  }

  /// What a file is by its name; nil for what is not read.
  private static func part(_ name: Substring) -> Part? {
    if name == "realm.json" { return .realm }
    guard name.hasPrefix("messages-"), name.hasSuffix(".json"),
      let number = Int(name.dropFirst(9).dropLast(5)), number >= 0
    else { return nil }
    return .messages(number)
  }

  /// The name of an entry, and the one folder that it is in; nil for one that is elsewhere.
  private static func parts(_ entry: String) -> (name: Substring, folder: Substring)? {
    let path = entry.hasPrefix("./") ? entry.dropFirst(2) : entry[...]
    let parts = path.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count <= 2, let name = parts.last,
      parts.count == 1 || !["", ".."].contains(parts[0])
    else { return nil }
    return (name, parts.count == 2 ? parts[0] : "")
  }

  /// The files of a folder in their order; nil for what is no folder.
  private static func names(ofFolder path: String) -> [(name: String, part: Part)]? {
    guard let folder = unsafe opendir(path) else { return nil }
    defer { unsafe closedir(folder) }
    guard let offset = MemoryLayout<dirent>.offset(of: \.d_name) else { return nil }
    var found: [(name: String, part: Part)] = []
    while let entry = unsafe readdir(folder) {
      let characters = unsafe UnsafeRawPointer(entry) + offset
      let name = unsafe String(cString: characters.assumingMemoryBound(to: CChar.self))
      if let part = part(name[...]) { found.append((name, part)) }
    }
    return found.sorted { left, right in
      func order(_ part: Part) -> Int {
        if case .messages(let number) = part { number } else { -1 }
      }
      return (order(left.part), left.name) < (order(right.part), right.name)
    }
  }
}
