/// The price of a million pushes, in any currency.
public struct PushPrice: Hashable, Sendable {
  /// The price of a million.
  public let perMillion: Double
  /// What stands in front of the number and behind it: `$`, ` EUR`.
  private let front: String
  private let behind: String

  /// Reads a price: one number, and any text in front of it or behind it: `0.50`, `$0.50`,
  /// `0.50 EUR`; nil for a text without a number, or with more than one.
  public init?(_ text: String) {
    let isPart = { (character: Character) in character.isASCII && character.isNumber }
    guard let start = text.firstIndex(where: isPart) else { return nil }
    let number = text[start...].prefix { isPart($0) || $0 == "." }
    guard let price = Double(number), price.isFinite, price < 1e9,
      !text[number.endIndex...].contains(where: isPart),
      !text[..<start].contains(where: { $0 == "." || $0 == "-" || $0 == "\u{2212}" })
    else { return nil }
    perMillion = price
    front = String(text[..<start])
    behind = String(text[number.endIndex...])
  }

  /// What so many pushes cost.
  func amount(_ pushes: Double) -> Double { pushes * perMillion / 1e6 }

  /// The same as text: hundredths, and of less than a tenth two digits.
  func text(_ pushes: Double) -> String {
    let amount = amount(pushes)
    if amount > 0, amount < 0.0001 { return "<\u{A0}\(front)0.0001\(behind)" }
    let decimals = amount == 0 || amount >= 0.1 ? 2 : amount >= 0.01 ? 3 : amount >= 0.001 ? 4 : 5
    return front + Figures.fixed(amount, decimals: decimals) + behind
  }
}
