public import PushFanout
public import PushFiles
internal import PushModel

extension Comparer {
  /// Compares what happens in files in two worlds, from beginning to end.
  ///
  /// - Parameters:
  ///   - files: what happens, the same for both.
  ///   - a: the changes of the one world, in their order; their texts are its label in the result.
  ///     `b` likewise.
  ///   - options: how it is done.
  ///   - skipped: called with each bad line of messages or presence, which is then left out of both
  ///     worlds; nil for a bad line to be an error.
  ///   - people: takes a row for each person when all is compared; nil for no rows.
  ///   - progress: called now and then with what has been compared, and the share of the messages'
  ///     files that has been read, 0...1; nil when their sizes are not known.
  ///   - world: loads the world as it is without changes; called once.
  /// - Throws: what `world`, `people` or `progress` throws, `FileProblem`, ``WhatIf/Problem``, or
  ///   ``FanoutError/unknownTimeZone(_:)`` for that of the options.
  public static func compare(
    _ files: ReplayFiles, a: [WhatIf], b: [WhatIf], _ options: CompareOptions = CompareOptions(),
    skipped: ((FileProblem) -> Void)? = nil, people: PeopleRows? = nil,
    progress: (_ done: ReplayProgress, _ share: Double?) throws -> Void = { _, _ in },
    world: () throws -> Fanout
  ) throws -> CompareResult {
    let first = try world()
    let second = first.fork()
    var touched = TouchedRooms.none
    func change(_ fanout: Fanout, _ changes: [WhatIf]) throws -> [ChangeReach] {
      let reach = try changes.map { try $0.apply(to: fanout, &touched) ?? ChangeReach() }
      try files.options.slice.apply(to: fanout, mayCome: !files.changes.isEmpty)
      return reach
    }
    let (reachA, reachB) = (try change(first, a), try change(second, b))
    let events = try ReplayEventPairs(
      files, rules: (first.app.rules, second.app.rules), skipped: skipped)
    let comparer = try Comparer(
      first, second, touched, labels: (a.map(\.text), b.map(\.text)), options)
    var count = 0
    while let event = try events.next() {
      do throws(FileProblem.Problem) { try comparer.add(event.a, event.b) } catch {
        try events.refuse(error)
      }
      count += 1
      if count & 0xFF == 0 { try progress(comparer.progress, events.progress) }
    }
    var result = comparer.finish()
    try people?.write(isCompared: true, comparer.forEachPerson)
    (result.a.reach, result.b.reach) = (reachA, reachB)
    return result
  }

  /// Checks that every file can be read as often as it is named.
  ///
  /// - Parameters:
  ///   - world: the files of the world; none for a store.
  ///   - files: what happens.
  ///   - changes: those of both worlds.
  /// - Throws: ``FileProblem/Problem/cannotBeReadAgain``, for standard input and pipes.
  public static func checkCanBeRead(
    _ world: SettingsPaths, _ files: ReplayFiles, _ changes: [WhatIf]
  ) throws(FileProblem) {
    var named: Set<String> = []
    let messages = files.messages.map { FileKind.file(named: $0) }
    let settings = world.settings + world.users + world.members
    for path in settings + messages + files.presence + changes.compactMap(\.path)
    where !named.insert(path).inserted { try FileProblem.checkCanBeReadAgain(path) }
  }
}
