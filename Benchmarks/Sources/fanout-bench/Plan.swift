import BenchSupport

/// A group of measurements.
enum Suite: String, CaseIterable {
  /// A generated day in its order.
  case day
  /// The same messages by several threads, reading of answers, conversations by size, and eviction.
  case service
  /// Messages a second, as one property of the day's world after the other changes.
  case curve
  /// Files of settings into the engine.
  case load
  /// Plain messages to groups of all sizes.
  case decide
  /// Messages that mention or force, to one size.
  case kinds
  case update
  /// Open rules: keywords, and a day beside Easemob's.
  case open

  /// Those that are measured unless others are named: all but the one that takes many minutes.
  static let usual = allCases.filter { $0 != .curve }

  /// Whether its figures are printed as lines, on worlds of its own.
  var printsLines: Bool { [.day, .service, .curve, .load, .open].contains(self) }

  var decides: Bool { self == .decide || self == .kinds }
}

/// What a run measures.
struct Plan {
  let users: Int
  let rounds: Int
  let memberships: Int
  let suites: [Suite]
  let cases: [Case]
  /// The parts of the service.
  let parts: [String]
  /// The parts of open rules.
  let openParts: [String]
  /// The files that are loaded.
  let forms: [String]
  static let serviceParts = [
    "still", "along", "late", "answers", "sizes", "changes", "eviction",
  ]

  /// Contestants that decide the same.
  struct Case {
    let suite: Suite
    let name: String
    let size: Int
    let kind: MessageKind
  }

  /// - Parameter filter: which cases, by their names.
  init(
    users: Int, rounds: Int, memberships: Int, suites: [Suite], filter: (String) -> Bool
  ) {
    self.users = users
    self.rounds = rounds
    self.memberships = memberships
    let sizes = Contest.sizes.filter { $0 <= users }
    var cases: [Case] = []
    if suites.contains(.decide) {
      cases += sizes.map { Case(suite: .decide, name: "\($0)", size: $0, kind: .plain) }
    }
    if suites.contains(.kinds) {
      let size = sizes.filter { $0 <= 100_000 }.max() ?? users
      cases += MessageKind.allCases.filter { $0 != .plain }.map {
        Case(suite: .kinds, name: "\(size)-\($0)", size: size, kind: $0)
      }
    }
    let chosen = cases.filter { filter($0.name) }
    self.cases = chosen
    let parts = Self.serviceParts.filter(filter)
    self.parts = parts
    let openParts = OpenSuite.parts.filter(filter)
    self.openParts = openParts
    let forms = suites.contains(.load) ? Loading.forms.filter(filter) : []
    self.forms = forms
    self.suites = suites.filter { suite in
      switch suite {
      case .day, .curve: filter(suite.rawValue)
      case .service: !parts.isEmpty
      case .open: !openParts.isEmpty
      case .load: !forms.isEmpty
      case .decide, .kinds: chosen.contains { $0.suite == suite }
      case .update: filter("level")
      }
    }
  }

  /// The sizes of groups that the world must have.
  var sizes: [Int] {
    var sizes = Set(cases.map(\.size))
    // Members whose levels change.
    if suites.contains(.update) {
      sizes.insert(Contest.sizes.last { $0 <= users } ?? users)
    }
    return sizes.sorted()
  }

  var needsTwoThreads: Bool { cases.contains { $0.size >= 100_000 } }
}
