internal import Algorithms
internal import PushModel
internal import PushSupport
internal import QuietTime
internal import Synchronization

/// The quiet hours of an app's schedules, date by date.
///
/// Daily schedules have the same transitions while zones keep their offsets, so few dates of a year
/// are computed from bitmaps. Any thread may ask for any instant.
final class QuietCalendar: Sendable {
  private struct Day {
    let day: Int64
    let transitions: QuietTransitions
    var phases: [Int: SchedulePhases] = [:]
    var use: UInt64 = 0
  }

  private struct State {
    var days: [Day] = []
    var uses: UInt64 = 0
  }

  private let rules: RuleTables
  private let state = Lock(State())
  private static let count = Atomic(0)
  /// Unique in the process.
  let id = QuietCalendar.count.add(1, ordering: .relaxed).newValue
  /// The most dates that are kept, and bytes of phases of one date.
  private static let keptDays = 4
  private static let keptBytes = 8 << 20

  init(_ rules: RuleTables) { self.rules = rules }

  /// The phases of a table's schedules at an instant, in milliseconds since the epoch.
  ///
  /// - Complexity: O(1) if asked for before; otherwise O(transitions of the date), and O(schedules)
  ///   for a new date.
  func phases(at now: Int64, _ table: borrowing ScheduleTable) -> SchedulePhases {
    let day = now / 86_400_000
    let second = Int(now / 1000 - day * 86_400)
    return state.withLock { state in
      state.uses += 1
      let found = state.days.firstIndex { $0.day == day }
      var index = found ?? state.days.count
      if found == nil || state.days[index].transitions.patterns.count < table.count {
        let transitions = transitions(of: day, table, state.days)
        if let found {
          state.days[found] = Day(day: day, transitions: transitions)
        } else {
          if state.days.count == Self.keptDays {
            index = state.days.indices.min { state.days[$0].use < state.days[$1].use } ?? 0
            state.days[index] = Day(day: day, transitions: transitions)
          } else {
            state.days.append(Day(day: day, transitions: transitions))
          }
        }
      }
      state.days[index].use = state.uses
      let transitions = state.days[index].transitions
      let number = transitions.instants.partitioningIndex { Int($0) > second }
      if let known = state.days[index].phases[number] { return known }
      if (state.days[index].phases.count + 1) * table.count > Self.keptBytes {
        state.days[index].phases = [:]
      }
      let quiet = SchedulePhases(transitions, day: day, index: number, id)
      state.days[index].phases[number] = quiet
      return quiet
    }
  }

  private func transitions(
    of day: Int64, _ table: borrowing ScheduleTable, _ known: [Day]
  ) -> QuietTransitions {
    let (start, end) = (day * 86_400, (day + 1) * 86_400)
    let same = known.first {
      guard let even = $0.transitions.even else { return false }
      return $0.transitions.patterns.count >= table.count && even.contains(start - 1)
        && end <= even.upperBound
    }
    if let same { return same.transitions }
    var transitions = QuietTransitions()
    if let before = known.first(where: { $0.day == day }) { transitions = before.transitions }
    // New schedules may tell apart two dates that had the same patterns.
    let isShared = known.contains { $0.day != day && $0.transitions.id == transitions.id }
    if transitions.id == 0 || isShared {
      transitions.id = Self.count.add(1, ordering: .relaxed).newValue
    }
    transitions.extend(to: table, day: day, QuietPhases(rules))
    return transitions
  }
}

extension QuietTransitions {
  /// - Complexity: O(added schedules + transitions of all patterns).
  fileprivate mutating func extend(
    to table: borrowing ScheduleTable, day: Int64, _ phases: QuietPhases
  ) {
    let known = patterns.count
    guard known < table.count else { return }
    let start = day * 86_400
    var even = self.even ?? (known == 0 ? start - 1..<Int64.max : 0..<0)
    var zones: Set<String> = []
    for index in known..<table.count {
      guard let schedule = table.schedule(UInt32(index)) else {
        append(table.isRefused(UInt32(index)) ? StateRules.refusedPhase : 0, [])
        continue
      }
      let bitmap = DayBitmap(schedule, day: day)
      let areApps = table.areApps(UInt32(index))
      let first = phases[bitmap.level(second: 0), areApps]
      var changes: [(second: Int32, phase: UInt8)] = []
      for second in bitmap.transitions {
        let phase = phases[bitmap.level(second: Int(second)), areApps]
        if phase != changes.last?.phase ?? first { changes.append((second, phase)) }
      }
      append(first, changes)
      if !schedule.repeatsDaily {
        even = 0..<0
      } else if zones.insert(schedule.zone.name).inserted {
        let change = schedule.zone.nextTransition(after: start - 1) ?? Int64.max
        even = even.clamped(to: change < start + 86_400 ? 0..<0 : start - 1..<change)
      }
    }
    self.even = even.isEmpty ? nil : even
    mergeAppended()
  }
}
