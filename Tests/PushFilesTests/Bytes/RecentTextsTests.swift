import TestSupport
import Testing

@testable import PushFiles

/// Goal: a text is found with what was noted for it last, or not at all.
@Suite struct RecentTextsTests {
  private func meaning(of text: String, in texts: RecentTexts<7, Int>) -> Int? {
    unsafe withText(text) { unsafe texts.meaning(of: $0) }
  }

  private func note(_ text: String, _ meaning: Int, in texts: inout RecentTexts<7, Int>) {
    unsafe withText(text) { unsafe texts.note($0, meaning) }
  }

  /// Other characters are behind it.
  private func withText<Value>(
    _ text: String, _ body: (UnsafeRawBufferPointer) -> Value
  ) -> Value {
    unsafe (Array(text.utf8) + Array(repeating: 0x41, count: 64)).withUnsafeBytes {
      unsafe body(UnsafeRawBufferPointer(rebasing: $0[..<text.utf8.count]))
    }
  }

  @Test func onlyTheSameTextIsFound() {
    let noted = ["", "\0", ",,,", "none,22:00,7:00,", String(repeating: "x", count: 55)]
    var texts = RecentTexts<7, Int>(slotBits: 14)
    #expect(noted.map { meaning(of: $0, in: texts) } == Array(repeating: nil, count: 5))
    for (index, text) in noted.enumerated() { note(text, index, in: &texts) }
    #expect(noted.map { meaning(of: $0, in: texts) } == [0, 1, 2, 3, 4])
    let others = [
      "\0\0", ",,,\0", ",,", "none,22:00,7:0,", String(repeating: "x", count: 54),
      String(repeating: "x", count: 56),
    ]
    #expect(others.map { meaning(of: $0, in: texts) } == Array(repeating: nil, count: 6))
    note(",,,", 9, in: &texts)
    #expect(meaning(of: ",,,", in: texts) == 9)
    texts.removeAll()
    #expect(noted.map { meaning(of: $0, in: texts) } == Array(repeating: nil, count: 5))
  }

  @Test func longTextsAreNotKept() {
    var texts = RecentTexts<7, Int>(slotBits: 14)
    let long = String(repeating: "x", count: RecentTexts<7, Int>.maximumLength + 1)
    note(long, 1, in: &texts)
    #expect(meaning(of: long, in: texts) == nil)
  }

  /// More texts than there are slots: a later one takes the slot of an earlier one.
  @Test func aTextIsFoundUntilAnotherTakesItsSlot() {
    var texts = RecentTexts<7, Int>(slotBits: 14)
    let all = (0..<40_000).map { "text \($0)" }
    for (index, text) in all.enumerated() {
      note(text, index, in: &texts)
      if meaning(of: text, in: texts) != index { Issue.record("\(text) is not found") }
    }
    let found = all.map { meaning(of: $0, in: texts) }
    #expect(zip(found.indices, found).allSatisfy { $1 == nil || $1 == $0 })
    #expect(found.count { $0 != nil } > 10_000)
    #expect(found.contains(nil))
  }
}
