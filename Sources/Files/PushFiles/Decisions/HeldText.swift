public import PushModel
internal import PushSupport

/// Rows of decisions that are suppressed now and would push later.
public struct HeldText: Sendable {
  private let isCSV: Bool

  /// - Parameter path: a file's name; `.csv` at its end makes rows CSV, anything else NDJSON.
  public init(path: String) { isCSV = FilePath.has(path, extension: ".csv") }

  /// What stands before all rows.
  public var header: [UInt8] {
    isCSV ? Array("message,user,reason,scope,at,pushAt\n".utf8) : []
  }

  /// - Parameters:
  ///   - outcome: why it does not push at the message's instant.
  ///   - pushAt: when it would.
  public func append(
    _ message: Message, _ user: Identifier, _ outcome: Outcome, pushAt: Instant,
    to bytes: inout [UInt8]
  ) {
    let scope = outcome.scope?.name
    let (at, pushAt) = (message.at.milliseconds, pushAt.milliseconds)
    if isCSV {
      bytes.appendCSV(message.id.text)
      bytes.append(UInt8(ascii: ","))
      bytes.appendCSV(user.text)
      bytes.append(contentsOf: ",\(outcome.reason.name),\(scope ?? ""),\(at),\(pushAt)\n".utf8)
      return
    }
    bytes.append(contentsOf: "{\"message\":".utf8)
    bytes.appendJSON(message.id.text)
    bytes.append(contentsOf: ",\"user\":".utf8)
    bytes.appendJSON(user.text)
    bytes.append(contentsOf: ",\"reason\":\"\(outcome.reason.name)\"".utf8)
    if let scope { bytes.append(contentsOf: ",\"scope\":\"\(scope)\"".utf8) }
    bytes.append(contentsOf: ",\"at\":\(at),\"pushAt\":\(pushAt)}\n".utf8)
  }
}
