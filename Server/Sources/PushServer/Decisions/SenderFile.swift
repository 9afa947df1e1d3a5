internal import HTTPTypes
internal import PushFiles
internal import PushModel
internal import Synchronization

/// How an app's requests are made: the file of `--senders`.
final class SenderFile: Sendable {
  private let path: String
  /// What was read last, and by which rules; nil before those of the settings are known.
  private let read: Mutex<(rules: RuleSet?, senders: [PushSender])>

  /// - Throws: ``OptionError`` for a file that is wrong by any rules.
  init(_ path: String) throws(OptionError) {
    self.path = path
    read = Mutex((nil, []))
    try reload(for: nil)
  }

  /// Reads the file again.
  ///
  /// - Parameter rules: those of the settings; nil where they are not open yet.
  /// - Throws: ``OptionError`` for a file that is wrong; then what was read stays.
  func reload(for rules: RuleSet?) throws(OptionError) {
    do throws(FileProblem) { try load(rules) } catch { throw OptionError("\(error)") }
  }

  private func load(_ rules: RuleSet?) throws(FileProblem) {
    let senders = try SenderReader.load([path], rules: rules)
    read.withLock { $0 = (rules, senders) }
  }

  /// The senders by rules, which may have become others since the file was read.
  ///
  /// - Throws: ``ServerFailure`` 422. Clients are not told where the file lies.
  func senders(for rules: RuleSet) throws(ServerFailure) -> [PushSender] {
    if read.withLock({ $0.rules != rules }) {
      do throws(FileProblem) { try load(rules) } catch {
        throw ServerFailure(
          .unprocessableContent, "invalid_options",
          "the server's senders cannot be used, line \(error.line ?? 1): \(error.problem)")
      }
    }
    return read.withLock { $0.senders }
  }
}
