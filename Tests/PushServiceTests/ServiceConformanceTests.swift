import PushFanout
import PushModel
import PushService
import TestSupport
import Testing

/// Goal: a service answers as any evaluator of the rules has to, however it is opened and asked.
@Suite struct ServiceConformanceTests {
  private static let seeds = TestSupport.seeds([503])

  @Test func inValues() throws {
    let problems = try EvaluatorConformance.problems(seeds: Self.seeds) {
      ServiceInValues(service: try FanoutService(Fanout($0, threads: 1)))
    }
    #expect(problems == [])
  }

  /// The settings are a change of a service that has none.
  @Test func byAChange() throws {
    let problems = try EvaluatorConformance.problems(seeds: Self.seeds) { settings in
      let service = FanoutService(
        try Fanout(app: AppSettings(rules: settings.app.rules), threads: 1))
      try service.change(SettingsBatch(settings, replacesApp: true), at: .zero)
      return ServiceInValues(service: service)
    }
    #expect(problems == [])
  }

  @Test func inBytes() throws {
    let problems = try EvaluatorConformance.problems(seeds: Self.seeds) { try ServiceInBytes($0) }
    #expect(problems == [])
  }

  @Test func onAStore() throws {
    let problems = try EvaluatorConformance.problems(seeds: Self.seeds) { try ServiceOnStore($0) }
    #expect(problems == [])
  }
}
