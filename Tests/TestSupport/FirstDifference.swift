/// Where two long arrays differ first, nil when they are equal. An expectation that compares them
/// itself looks for the shortest list of edits when it fails, which takes minutes.
package func firstDifference<Value: Equatable>(
  _ found: [Value], _ expected: [Value]
) -> String? {
  guard found != expected else { return nil }
  let index = zip(found, expected).enumerated().first { $0.element.0 != $0.element.1 }?.offset
  guard let index else { return "\(found.count) instead of \(expected.count)" }
  return "at \(index): \(found[index]) instead of \(expected[index])"
}
