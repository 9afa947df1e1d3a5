internal import PushModel

/// A JSON object for every decision.
struct NDJSONEncoder: DecisionEncoder {
  private let showsDevices: Bool
  /// What follows the user in each row, by the outcome's code; before devices, if they are shown.
  private let rowEnds: [[UInt8]]

  init(_ options: EncodingOptions) {
    showsDevices = options.showsDevices
    let end = options.showsDevices ? "" : "}\n"
    rowEnds = Self.byCode { outcome in
      let (action, reason) = (outcome.action.name, outcome.reason.name)
      let scope = outcome.scope.map { ",\"scope\":\"\($0.name)\"" } ?? ""
      return Array(",\"action\":\"\(action)\",\"reason\":\"\(reason)\"\(scope)\(end)".utf8)
    }
  }

  func encode(_ decisions: MessageDecisions, to piece: inout EncodedPiece) {
    var start = Array("{\"message\":".utf8)
    start.appendJSON(decisions.message.id.text)
    start.append(contentsOf: ",\"user\":".utf8)
    piece.reserve(decisions.ranks.count * (start.count + 64))
    unsafe decisions.forEachRecipient { (user, id, code) -> Void in
      piece.bytes.append(contentsOf: start)
      unsafe piece.bytes.appendJSON(id)
      piece.bytes.append(contentsOf: rowEnds[Int(code)])
      if showsDevices {
        let devices = decisions.devices(of: user)
        if !devices.isEmpty { Self.append(devices, to: &piece.bytes) }
        piece.bytes.append(contentsOf: "}\n".utf8)
      }
    }
  }

  private static func append(_ devices: [Identifier], to bytes: inout [UInt8]) {
    bytes.append(contentsOf: ",\"devices\":[".utf8)
    for (index, device) in devices.enumerated() {
      if index > 0 { bytes.append(UInt8(ascii: ",")) }
      bytes.appendJSON(device.text)
    }
    bytes.append(UInt8(ascii: "]"))
  }
}
