import BenchSupport
import PushContent
import PushModel

/// What a change of display settings costs a live renderer: a change of a copy of the directory of
/// all people, of which the last 64 versions are kept.
struct LiveRendering {
  let people: Int
  private static let changes = 20_000
  private static let kept = 64

  func measure() {
    var directory = ContentDirectory()
    for number in 0..<people { directory.setUser(BenchWorld.userID(number), display(number)) }
    var versions = Array(repeating: directory, count: Self.kept)
    let time = seconds {
      for number in 0..<Self.changes {
        let id = BenchWorld.userID(number * 104_729 % people)
        directory.setUser(id, display(number + people))
        versions[number % Self.kept] = directory
      }
    }
    let last = BenchWorld.userID((Self.changes - 1) * 104_729 % people)
    require(
      versions[(Self.changes - 1) % Self.kept].user(last) == display(Self.changes - 1 + people),
      "the last version has the last change")
    let each = time / Double(Self.changes) * 1_000_000
    say(
      "a live renderer's change beside \(people) people", "\(text(each)) µs", must: "<= 20",
      each <= 20)
  }

  private func display(_ number: Int) -> RecipientDisplay {
    var display = RecipientDisplay()
    display.name = "The name of person \(number)"
    display.style = number & 1 == 0 ? .messageSummary : .simpleBanner
    return display
  }
}
