internal import PushModel

/// A CSV row for every decision.
struct CSVEncoder: DecisionEncoder {
  /// What follows the user in each row, by the outcome's code.
  private let rowEnds = OutcomeTexts { $1 += Self.cells(of: $0) }

  init(_ options: EncodingOptions) {}

  var header: [UInt8] { Array("message,user,action,reason,scope\n".utf8) }

  func encode(_ decisions: some MessageDecisions, to piece: inout EncodedPiece) {
    var start: [UInt8] = []
    start.appendCSV(decisions.message.id.text)
    start.append(UInt8(ascii: ","))
    piece.reserve(decisions.count * (start.count + 64))
    unsafe start.withUnsafeBufferPointer { start in
      rowEnds.withTexts { ends in
        unsafe decisions.forEachRecipient(withDevices: false) { (_, id, code) -> Void in
          unsafe piece.bytes.append(start, csv: id, ends[code])
        }
      }
    }
  }

  /// The cells of an outcome, each behind its comma, and the end of the row.
  static func cells(of outcome: Outcome) -> [UInt8] {
    Array(",\(outcome.action.name),\(outcome.reason.name),\(outcome.scope?.name ?? "")\n".utf8)
  }
}
