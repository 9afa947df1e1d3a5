import Testing

@testable import PushReport

/// Goal: numbers are written as people read them, no share is rounded to nothing or to all, and
/// nothing from a file can be more than text.
@Suite struct FiguresTests {
  @Test func wholeNumbersAndShortOnes() {
    let found = [0, 999, 1000, -1_234_567, 13_400_000_000].map(Figures.exact)
    #expect(found == ["0", "999", "1,000", "\u{2212}1,234,567", "13,400,000,000"])
    let short = [
      0, 0.25, 27.34, 99, 9999, 9_999.6, 12_345, 999_949, 999_951, 1.5e9, 2e13, 9.1e15,
    ].map { Figures.short($0).replacing("\u{A0}", with: " ") }
    #expect(
      short == [
        "0", "0.25", "27.3", "99", "9,999", "10.0 k", "12.3 k", "1.00 M", "1.00 M", "1.50 billion",
        "20.0 trillion", "9.10 quadrillion",
      ])
    let ticks = [0, 0.5, 500, 15_000, 1.5e6, 2e6, 1e9]
      .map { Figures.tick($0).replacing("\u{A0}", with: " ") }
    #expect(ticks == ["0", "0.5", "500", "15 k", "1.5 M", "2 M", "1 bn"])
  }

  @Test func shares() {
    let parts = [(0, 5), (5, 5), (1, 3), (1, 100_000), (1, 3000), (99_999, 100_000), (3, 0)]
    let found = parts.map { Figures.share($0.0, of: $0.1).replacing("\u{A0}", with: " ") }
    #expect(found == ["0 %", "100 %", "33.3 %", "< 0.1 %", "< 0.1 %", "> 99.9 %", "\u{2013}"])
  }

  @Test func changes() {
    let pairs = [(5, 5), (100, 5), (1000, 1032), (3000, 2999), (0, 4), (4, 0)]
    let found = pairs.map { CompareReport.change($0, $1).replacing("\u{A0}", with: " ") }
    #expect(
      found == [
        "\u{B1}0", "\u{2212}95.0 %", "+3.2 %", "less than 0.1 %", "+4", "\u{2212}100 %",
      ])
  }

  @Test func durations() {
    let found = [0, 0.000_000_5, 0.000_18, 0.0229, 1.885, 119.4, 200, 7300, 200_000].map {
      Figures.seconds($0).replacing("\u{A0}", with: " ")
    }
    #expect(
      found == [
        "0.00 ns", "500 ns", "180 \u{B5}s", "22.9 ms", "1.89 s", "119 s", "3 min 20 s",
        "2 h 1 min", "2 d 7 h",
      ])
  }

  @Test func numbersThatNobodyExpectedDoNotStopIt() {
    let found = [Double.nan, .infinity, 1e300, -1e300].map { Figures.fixed($0, decimals: 2) }
    #expect(found[0] == "0.00" && found[1] == "0.00")
    #expect(found[2].hasPrefix("90,000,000,000,000,000"))
    #expect(found[3].hasPrefix("\u{2212}90,000,000,000,000,000"))
  }

  @Test func textIsOnlyText() {
    #expect(Escaping.text("<b a='1'>&\"") == "&lt;b a=&#39;1&#39;&gt;&amp;&quot;")
    #expect(
      Escaping.text("a\u{0}b\u{7}\u{1F}\u{7F}\u{85}")
        == "a\u{27E8}U+0000\u{27E9}b\u{27E8}U+0007\u{27E9}\u{27E8}U+001F\u{27E9}"
        + "\u{27E8}U+007F\u{27E9}\u{27E8}U+0085\u{27E9}")
    #expect(
      Escaping.text("\u{202E}\u{2066}\u{200B}\u{2028}\u{FEFF}")
        == "\u{27E8}U+202E\u{27E9}\u{27E8}U+2066\u{27E9}\u{27E8}U+200B\u{27E9}"
        + "\u{27E8}U+2028\u{27E9}\u{27E8}U+FEFF\u{27E9}")
    #expect(Escaping.text("群组 \u{1F600} é") == "群组 \u{1F600} é")
    #expect(Escaping.text("\u{FFFE}\u{1FFFF}") == "\u{27E8}U+FFFE\u{27E9}\u{27E8}U+1FFFF\u{27E9}")
    let long = String(repeating: "x", count: 5000)
    #expect(Escaping.identifier(long).count == Escaping.maximumCount + 1)
    #expect(Escaping.identifier(String(repeating: "x", count: 96)).count == 96)
  }
}
