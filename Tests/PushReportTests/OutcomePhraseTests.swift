import Foundation
import PushModel
import PushReplay
import TestSupport
import Testing

@testable import PushReport

/// Goal: each outcome has words of its own, on the pages too.
@Suite struct OutcomePhraseTests {
  @Test func everyCodeHasAPhrase() throws {
    let file = Repository.root.appending(path: "docs/outcome-codes.csv")
    let rows = try String(contentsOf: file, encoding: .utf8).split(separator: "\n").dropFirst()
    let keys = rows.map { row in
      row.split(separator: ",").dropFirst().joined(separator: "/")
    }
    #expect(keys.count > 70)
    #expect(Set(keys) == Set(OutcomePhrases.phrases.keys))
    #expect(Set(Outcome.coded.map(\.outcome.key)) == Set(keys))
    #expect(Set(OutcomePhrases.phrases.values).count == keys.count)
    // A reader needs no name that a program has.
    let names = Set(Reason.allCases.map(\.name) + Scope.allCases.map(\.name)).filter { name in
      name.contains { $0.isUppercase }
    }
    let wrong = OutcomePhrases.phrases.values.filter { text in names.contains { text.contains($0) }
    }
    #expect(wrong == [])
  }

  /// Phrases are composed: each is as somebody read it.
  @Test func phrasesAreThoseThatWereRead() throws {
    let file = Repository.root.appending(path: "Tests/PushReportTests/phrases.txt")
    let read = try String(contentsOf: file, encoding: .utf8).split(separator: "\n").map(String.init)
    #expect(OutcomePhrases.phrases.map { "\($0): \($1)" }.sorted() == read)
  }

  @Test func anUnknownOutcomeIsItsKey() {
    #expect(OutcomePhrases.phrase("none", "later", nil) == "none/later")
    #expect(
      OutcomePhrases.phrase("none", "online", nil) == "Not needed: the recipient was connected")
  }

  @Test func pagesSayIt() throws {
    let compared = try CompareReport(SampleComparison.make(hours: 30)).html
    #expect(compared.contains("Pushed: no level set anywhere"))
    #expect(
      compared.contains("Stopped, no mention: the user&#39;s own level admits mentions only"))
    #expect(
      compared.contains("Reactions are not simulated: the same messages come at the same instants"))
    #expect(compared.contains("docs/generate.md"))
    let replayed = try ReplayReport(SampleResult.make(hours: 30)).html
    #expect(replayed.contains("Stopped by the user&#39;s quiet hours"))
    #expect(replayed.contains("What went in: 943 users that the settings know."))
    // Speed is of interest to few readers.
    let parts = replayed.components(separatedBy: "<footer>")
    #expect(!parts[0].contains("decisions a second") && !parts[0].contains("faster than"))
    #expect(parts[1].contains("Decided in 250\u{A0}ms on 2 threads, "))
  }
}
