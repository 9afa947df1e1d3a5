import PushFanout
import PushFiles
import PushModel
import Testing

/// Every world and every problem in these tests goes through both loaders, the one of values and the
/// one of the engine, which have to agree.
extension TestFolder {
  /// What stops a world from being loaded; "loaded" when nothing does.
  func problem(
    _ paths: SettingsPaths, sourceLocation: SourceLocation = #_sourceLocation
  ) -> String {
    let (settings, problem) = load(paths)
    let (fanout, packedProblem) = loadFanout(paths)
    #expect(packedProblem == problem, "by the engine", sourceLocation: sourceLocation)
    if let settings, let fanout {
      let found = differences(settings, fanout)
      #expect(found == [], "by the engine", sourceLocation: sourceLocation)
    }
    return problem
  }

  /// The world in files, which has to be one without problems.
  func world(
    _ paths: SettingsPaths, sourceLocation: SourceLocation = #_sourceLocation
  ) throws -> World {
    let settings = try SettingsLoader.load(paths)
    let found = differences(settings, try SettingsLoader.loadFanout(paths, threads: 1))
    #expect(found == [], "by the engine", sourceLocation: sourceLocation)
    return World(settings)
  }

  private func load(_ paths: SettingsPaths) -> (settings: FanoutSettings?, problem: String) {
    do throws(FileProblem) {
      return (try SettingsLoader.load(paths), "loaded")
    } catch {
      return (nil, short(error))
    }
  }

  private func loadFanout(_ paths: SettingsPaths) -> (fanout: Fanout?, problem: String) {
    do {
      return (try SettingsLoader.loadFanout(paths, threads: 1), "loaded")
    } catch let problem as FileProblem {
      return (nil, short(problem))
    } catch {
      return (nil, "no problem of a file: \(error)")
    }
  }
}

/// Where the engine's settings are others than those it was to be made of.
func differences(_ settings: FanoutSettings, _ fanout: Fanout) -> [String] {
  guard fanout.app == settings.app else { return ["app: \(fanout.app)"] }
  guard fanout.userCount == settings.userCount else { return ["users: \(fanout.userCount)"] }
  var found: [String] = []
  let conversations = settings.conversationIDs
  let users = (0..<UInt32(settings.userCount)).map { UserIndex($0) }
  for user in users {
    let id = settings.id(of: user)
    if fanout.id(of: user) != id { found.append("id \(user): \(fanout.id(of: user))") }
    if fanout.user(id) != settings.user(user) {
      found.append("user \(id): \(String(describing: fanout.user(id)))")
    }
  }
  for conversation in conversations {
    if fanout.conversation(conversation) != settings.conversation(conversation) {
      found.append("\(conversation): \(String(describing: fanout.conversation(conversation)))")
    }
    for user in users {
      let member = fanout.member(settings.id(of: user), of: conversation)
      if member != settings.member(user, of: conversation) {
        found.append("\(user) of \(conversation): \(String(describing: member))")
      }
    }
  }
  return found
}
