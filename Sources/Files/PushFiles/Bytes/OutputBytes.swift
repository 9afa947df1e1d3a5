/// Results in memory instead of a file.
public final class OutputBytes {
  /// What has been written.
  public private(set) var bytes: [UInt8] = []

  /// Creates an output without bytes.
  public init() {}

  /// Takes what has been written.
  public func take() -> [UInt8] {
    defer { bytes = [] }
    return bytes
  }

  func put(_ more: [UInt8]) throws(OutputProblem) { append(more) }

  func append(_ more: some Sequence<UInt8>) { bytes.append(contentsOf: more) }
}

/// Where rows go that are put together one by one.
protocol RowOutput: AnyObject {
  func put(_ bytes: [UInt8]) throws(OutputProblem)
}
