/// Results of replays and comparisons as JSON: what `replay` and `compare` write and `report`
/// reads. Results are `Decodable`, too.
public enum ReplayFile {
  /// The kind of result in a file.
  public enum Content: Sendable {
    /// The result of a replay.
    case replay(ReplayResult)
    /// The result of a comparison.
    case comparison(CompareResult)
  }

  /// A result as JSON: keys in byte order, so that the same result gives the same bytes.
  public static func bytes(_ result: some ResultFrame) throws -> [UInt8] {
    try ResultEncoder.bytes(result)
  }
}
