import Foundation
import PushFiles
import PushReplay

/// What is wrong with a result file: one line, `FILE: what is wrong`.
struct ReplayFileProblem: Error, Hashable, Sendable, CustomStringConvertible {
  /// The file's name, as the caller gave it.
  let file: String
  /// What is wrong, without the name.
  let reason: String

  /// A problem with a file.
  init(file: String, reason: String) {
    self.file = file
    self.reason = reason
  }

  var description: String { "\(file): \(reason)" }
}

/// Reads results, and says in words what is wrong with a file.
extension ReplayFile {
  /// Only this, to tell what a file is before the rest of it is read.
  private struct Kind: Decodable {
    var pushFanoutReplay: Int?
    var pushFanoutCompare: Int?
  }

  /// Reads the result in a file, unpacked if it is gzip; `-` is standard input.
  ///
  /// - Throws: ``ReplayFileProblem`` or `FileProblem`.
  static func read(_ path: String) throws -> Content {
    try read(WholeFile.read(path), name: path)
  }

  /// Reads the bytes of a result.
  ///
  /// - Parameter path: what problems call the bytes.
  /// - Throws: ``ReplayFileProblem`` or `FileProblem`.
  static func read(_ bytes: [UInt8], name path: String) throws -> Content {
    try WholeFile.checkKeys(inJSON: bytes, of: path)
    let data = Data(bytes)
    do { return try JSONDecoder().decode(Whole.self, from: data).content } catch {
      switch error {
      case Refusal.sentence(let reason): throw ReplayFileProblem(file: path, reason: reason)
      case Refusal.ofResult(let error):
        throw ReplayFileProblem(file: path, reason: text(error, data))
      default:
        throw ReplayFileProblem(file: path, reason: "no result of a replay: \(text(error, data))")
      }
    }
  }

  /// Why a file is refused whose kind is known.
  private enum Refusal: Error {
    case sentence(String)
    /// By the decoder.
    case ofResult(any Error)
  }

  /// A result of either kind, which the file's own fields say: it is parsed once.
  private struct Whole: Decodable {
    let content: Content

    init(from decoder: any Decoder) throws {
      let kind = try Kind(from: decoder)
      switch (kind.pushFanoutReplay, kind.pushFanoutCompare) {
      case (_?, _?):
        throw Refusal.sentence(
          "is the result of a replay and of a comparison at once: it has both fields "
            + "\(ReplayResult.formatField) and \(CompareResult.formatField)")
      case (nil, nil):
        throw Refusal.sentence(
          "no result of a replay: the field \(ReplayResult.formatField) is missing")
      case (let format?, nil): content = .replay(try Self.result(format, decoder))
      case (nil, let format?): content = .comparison(try Self.result(format, decoder))
      }
    }

    private static func result<Result: ResultFrame>(
      _ format: Int, _ decoder: any Decoder
    ) throws -> Result {
      guard format == Result.format else {
        throw Refusal.sentence(
          "the result's format is \(format); this program reads \(Result.format)")
      }
      do { return try Result(from: decoder) } catch { throw Refusal.ofResult(error) }
    }
  }

  /// The message of a decoding error, in one line.
  private static func text(_ error: any Error, _ data: Data) -> String {
    switch error {
    case DecodingError.keyNotFound(let key, let context):
      return "the field \(fieldPath(context.codingPath + [key])) is missing"
    case DecodingError.valueNotFound(_, let context):
      return "the field \(fieldPath(context.codingPath)) is missing"
    case DecodingError.typeMismatch(let type, let context):
      return "\(fieldPath(context.codingPath)) is not \(name(type))"
    case DecodingError.dataCorrupted(let context) where context.codingPath.isEmpty:
      return whatIsBroken(data)
    case DecodingError.dataCorrupted(let context):
      return "\(fieldPath(context.codingPath)): \(line(context.debugDescription))"
    default:
      // The decoder's own error, which it reports as corrupted data only when it returns.
      return whatIsBroken(data)
    }
  }

  /// The decoder reports neither what is malformed nor where a number is not whole.
  private static func whatIsBroken(_ data: Data) -> String {
    do {
      let value = try JSONSerialization.jsonObject(with: data, options: .fragmentsAllowed)
      return "\(brokenNumber(in: value, at: "") ?? "a number") is not a whole number"
    } catch {
      let details = (error as NSError).userInfo["NSDebugDescription"] as? String
      return "not JSON: \(line(details ?? "\(error)"))"
    }
  }

  /// Where the first number is that is not whole or too large, but durations.
  private static func brokenNumber(in value: Any, at path: String) -> String? {
    switch value {
    case let list as [Any]:
      for (index, element) in list.enumerated() {
        if let found = brokenNumber(in: element, at: "\(path)[\(index)]") { return found }
      }
      return nil
    case let object as [String: Any]:
      for key in object.keys.sorted() where key != "cost" && key != "decidingSeconds" {
        let field = path.isEmpty ? key : "\(path).\(key)"
        if let found = brokenNumber(in: object[key]!, at: field) { return found }
      }
      return nil
    case let number as NSNumber:
      return Int(exactly: number) == nil ? path : nil
    default:
      return nil
    }
  }

  private static func line(_ text: String) -> String {
    text.split(whereSeparator: \.isNewline).joined(separator: " ")
  }

  /// `hours.messages[3]`
  private static func fieldPath(_ path: [any CodingKey]) -> String {
    let text = path.reduce("") { text, key in
      if let index = key.intValue { return "\(text)[\(index)]" }
      return text.isEmpty ? key.stringValue : "\(text).\(key.stringValue)"
    }
    return text.isEmpty ? "the result" : text
  }

  private static func name(_ type: any Any.Type) -> String {
    switch type {
    case is Int.Type, is Int64.Type: "a whole number"
    case is Double.Type: "a number"
    case is String.Type: "a text"
    case is [Any].Type: "a list"
    default: "an object"
    }
  }
}
