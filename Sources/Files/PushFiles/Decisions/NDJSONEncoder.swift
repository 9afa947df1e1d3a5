internal import PushModel

/// A JSON object for every decision.
struct NDJSONEncoder: DecisionEncoder {
  private let showsDevices: Bool
  /// What follows the user in each row, by the outcome's code; before devices, if they are shown.
  private let rowEnds: OutcomeTexts

  init(_ options: EncodingOptions) {
    showsDevices = options.showsDevices
    let end = options.showsDevices ? "" : "}\n"
    rowEnds = OutcomeTexts { (outcome, text) in
      text += "\",\"action\":\"".utf8
      text += outcome.action.name.utf8
      text += "\",\"reason\":\"".utf8
      text += outcome.reason.name.utf8
      if let scope = outcome.scope {
        text += "\",\"scope\":\"".utf8
        text += scope.name.utf8
      }
      text += "\"".utf8
      text += end.utf8
    }
  }

  func encode(_ decisions: some MessageDecisions, to piece: inout EncodedPiece) {
    var start = Array("{\"message\":".utf8)
    start.appendJSON(decisions.message.id.text)
    start.append(contentsOf: ",\"user\":\"".utf8)
    piece.reserve(decisions.count * (start.count + 64))
    unsafe start.withUnsafeBufferPointer { start in
      rowEnds.withTexts { ends in
        unsafe decisions.forEachRecipient(withDevices: showsDevices) { (user, id, code) -> Void in
          unsafe piece.bytes.append(start, json: id, ends[code])
          guard showsDevices else { return }
          var isFirst = true
          unsafe decisions.forEachDevice(of: user, code: code) { (device) -> Void in
            piece.bytes.append(contentsOf: isFirst ? Self.devicesStart : Self.comma)
            isFirst = false
            unsafe piece.bytes.appendJSON(device)
          }
          piece.bytes.append(contentsOf: isFirst ? Self.rowEnd : Self.devicesEnd)
        }
      }
    }
  }

  private static let devicesStart = Array(",\"devices\":[".utf8)
  private static let comma = Array(",".utf8)
  private static let rowEnd = Array("}\n".utf8)
  private static let devicesEnd = Array("]}\n".utf8)
}
