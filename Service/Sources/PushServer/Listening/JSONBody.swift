internal import Foundation
internal import HTTPTypes
internal import NIOCore
internal import PushModel

/// Small JSON bodies, taken apart.
enum JSONBody {
  /// - Throws: ``ServerFailure`` 400.
  static func object(_ bytes: ByteBuffer, line: Int? = nil) throws(ServerFailure) -> [String: Any] {
    if let texts = TextScanner.object(bytes) { return texts }
    let data = Data(bytes.readableBytesView)
    guard !data.isEmpty else { throw .badRequest("the body is empty; send a JSON object") }
    guard String(validating: data, as: UTF8.self) != nil else {
      throw ServerFailure(.badRequest, "invalid_line", "the text is not UTF-8", line: line)
    }
    guard let object = try? JSONSerialization.jsonObject(with: data),
      let fields = object as? [String: Any]
    else {
      throw ServerFailure(.badRequest, "invalid_line", "not a JSON object", line: line)
    }
    return fields.filter { !($0.value is NSNull) }
  }

  static func check(_ fields: [String: Any], knows names: Set<String>) throws(ServerFailure) {
    for name in fields.keys.sorted() where !names.contains(name) {
      throw .badRequest("unknown field \"\(name)\"; there are \(names.sorted())")
    }
  }

  static func text(_ fields: [String: Any], _ name: String) throws(ServerFailure) -> String? {
    guard let value = fields[name] else { return nil }
    guard let text = value as? String else { throw .badRequest("\"\(name)\" is not a string") }
    return text
  }

  static func identifier(_ fields: [String: Any], _ name: String) throws(ServerFailure)
    -> Identifier
  {
    guard let text = try text(fields, name), !text.isEmpty else {
      throw .badRequest("\"\(name)\" is missing, or is empty")
    }
    return Identifier(text)
  }

  static func flag(_ fields: [String: Any], _ name: String) throws(ServerFailure) -> Bool? {
    guard let value = fields[name] else { return nil }
    guard let number = value as? NSNumber, CFBoolean.isOne(number) else {
      throw .badRequest("\"\(name)\" is not true or false")
    }
    return number.boolValue
  }

  static func number(_ fields: [String: Any], _ name: String) throws(ServerFailure) -> Int? {
    guard let value = fields[name] else { return nil }
    guard let number = value as? NSNumber, !CFBoolean.isOne(number),
      let whole = Int(exactly: number.doubleValue)
    else { throw .badRequest("\"\(name)\" is not a whole number") }
    return whole
  }
}

private enum CFBoolean {
  /// Whether a number of `JSONSerialization` was `true` or `false`.
  static func isOne(_ number: NSNumber) -> Bool {
    let type = unsafe String(cString: number.objCType)
    return type == "c" || type == "B"
  }
}

/// Reads objects whose values are texts without escapes, as those of most writes are.
/// `JSONSerialization`, which reads all others, takes several times as long.
private struct TextScanner {
  private let bytes: [UInt8]
  private var position = 0

  /// nil for any other object, and for what is none.
  static func object(_ bytes: ByteBuffer) -> [String: Any]? {
    var scanner = TextScanner(bytes: Array(bytes.readableBytesView))
    guard scanner.take("{") else { return nil }
    var fields: [String: Any] = [:]
    repeat {
      guard let name = scanner.text(), scanner.take(":"), let value = scanner.text(),
        fields.updateValue(value, forKey: name) == nil
      else { return nil }
    } while scanner.take(",")
    return scanner.take("}") && scanner.isAtEnd() ? fields : nil
  }

  private init(bytes: [UInt8]) { self.bytes = bytes }

  private mutating func isAtEnd() -> Bool {
    while position < bytes.count {
      switch bytes[position] {
      case 0x20, 0x09, 0x0A, 0x0D: position += 1
      default: return false
      }
    }
    return true
  }

  private mutating func take(_ character: Unicode.Scalar) -> Bool {
    guard !isAtEnd(), bytes[position] == UInt8(ascii: character) else { return false }
    position += 1
    return true
  }

  private mutating func text() -> String? {
    guard take("\"") else { return nil }
    let start = position
    while position < bytes.count, bytes[position] >= 0x20, bytes[position] != UInt8(ascii: "\\") {
      if bytes[position] == UInt8(ascii: "\"") {
        defer { position += 1 }
        return String(validating: bytes[start..<position], as: UTF8.self)
      }
      position += 1
    }
    return nil
  }
}
