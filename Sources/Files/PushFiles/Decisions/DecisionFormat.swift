/// The formats in which decisions are written (formats.md, "Decisions").
///
/// The only list of formats: the command line takes its names and its help from here. A format is a
/// type that implements `DecisionEncoder` in a file of its own, a case, and a line of `encoder`.
public enum DecisionFormat: String, CaseIterable, Sendable {
  /// A JSON object for every decision.
  case ndjson
  /// A CSV row for every decision.
  case csv
  /// A JSON object for every message: how often each outcome occurred.
  case counts
  /// A JSON object for every message: who gets a push.
  case pushlist
  /// Totals over the run.
  case summary
  /// NumPy arrays in a folder: a byte for every member of each message's conversation.
  case npy

  /// Whether the format is a folder of several files, ``NumPyFolder``, and not one stream of bytes.
  public var isFolder: Bool { encoder.isFolder }

  /// Whether it has something for each decision, and not only counts.
  public var needsResults: Bool { encoder.needsResults }

  /// What writes the format.
  var encoder: any DecisionEncoder.Type {
    switch self {
    case .ndjson: NDJSONEncoder.self
    case .csv: CSVEncoder.self
    case .counts: CountsEncoder.self
    case .pushlist: PushListEncoder.self
    case .summary: SummaryEncoder.self
    case .npy: NumPyEncoder.self
    }
  }
}
