internal import PushRules

/// Validates files of settings and messages, whatever they are, as one world.
public struct FileChecker {
  /// What files turned out to hold.
  public private(set) var world = SettingsPaths()
  public private(set) var messages: [String] = []
  public private(set) var problems: [FileProblem] = []
  public private(set) var recordCount = 0

  /// Checks files.
  ///
  /// A CSV file is told by its columns and an NDJSON file by its first record; settings are read
  /// first, whatever the order, as messages are judged by their rules.
  ///
  /// - Parameter progress: called now and then with the share of the file at hand that has been
  ///   read, 0...1; not called when it is not known.
  /// - Complexity: O(bytes); the settings are in memory.
  public init(_ paths: [String], progress: @escaping (Double) -> Void = { _ in }) {
    for path in paths { sort(path) }
    let (settings, found, records) = SettingsLoader.check(world, progress: progress)
    problems += found
    recordCount += records
    for path in messages { checkMessages(path, settings.app.rules, progress) }
  }

  private mutating func sort(_ path: String) {
    do throws(FileProblem.Problem) {
      switch FileKind.named(path) {
      case .csv:
        let header = try CSVTable.header(of: path)
        if header.contains("at") {
          messages.append(path)
        } else if header.contains("user") {
          world.members.append(path)
        } else {
          world.users.append(path)
        }
      case .ndjson:
        if try JSONLines.looksLikeMessages(path) {
          messages.append(path)
        } else {
          world.settings.append(path)
        }
      case nil: throw .unknownFileKind
      }
    } catch {
      problems.append(FileProblem(file: path, line: error.lineAtOpening, problem: error))
    }
  }

  private mutating func checkMessages(
    _ path: String, _ rules: RuleSet, _ progress: (Double) -> Void
  ) {
    let reader: MessageReader
    do throws(FileProblem) {
      reader = try MessageReader(path: path, rules: rules)
    } catch {
      problems.append(error)
      return
    }
    while true {
      do throws(FileProblem) {
        guard try reader.next() != nil else { break }
        if reader.recordCount & 0x3FFF == 0, let share = reader.progress { progress(share) }
      } catch {
        problems.append(error)
        if !error.isOfOneLine { break }
      }
    }
    recordCount += reader.recordCount
  }
}

extension CSVTable {
  /// The names in a file's header, whatever they are.
  static func header(of path: String) throws(FileProblem.Problem) -> [String] {
    let table = try CSVTable(path: path, columns: nil, required: [])
    return table.header
  }
}

extension JSONLines {
  /// Whether the first record that can be read is a message: one without a kind, in a conversation
  /// or at an instant.
  static func looksLikeMessages(_ path: String) throws(FileProblem.Problem) -> Bool {
    let lines = try JSONLines(path: path)
    while true {
      do throws(FileProblem.Problem) {
        guard let line = try lines.next() else { return false }
        let keys = line.fields.map(\.key.text)
        return !keys.contains("kind") && (keys.contains("at") || keys.contains("conversation"))
      } catch {
        if !error.isOfOneLine { return false }
      }
    }
  }
}
