import Foundation
import PushModel

/// The files of a folder of NumPy arrays, read by hand.
///
/// - Source: NumPy Enhancement Proposal 1, "A Simple File Format for NumPy Arrays".
struct NumPyFiles {
  /// What is not as formats.md says.
  struct Problem: Error, CustomStringConvertible {
    let description: String
  }

  private let folder: URL

  /// - Parameter names: of all files, sorted.
  init(_ folder: URL, _ names: [String]) throws {
    self.folder = folder
    let found = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    try Self.require(found == names, "files \(found)")
  }

  private func file(_ name: String) throws -> Data {
    try Data(contentsOf: folder.appending(path: name))
  }

  /// A one-dimensional array of whole numbers.
  func array(_ name: String, _ type: String) throws -> [Int] {
    try Self.numbers([UInt8](file(name)), name, type)
  }

  /// The rows of a CSV file without its header.
  func table(_ name: String, _ header: [String]) throws -> [[String]] {
    let rows = NumPyDecisions.csvRows(String(decoding: try file(name), as: UTF8.self))
    try Self.require(rows.first == header, "\(name): header \(rows.first ?? [])")
    return Array(rows.dropFirst())
  }

  func requireMetadata(_ format: String, _ numbers: [String: Int]) throws {
    let metadata =
      try JSONSerialization.jsonObject(with: file("metadata.json")) as? [String: Any] ?? [:]
    try Self.require(metadata["format"] as? String == format, "format")
    try Self.require(
      metadata.filter { $0.key != "format" } as? [String: Int] == numbers, "metadata \(metadata)")
  }

  static func require(_ condition: Bool, _ text: String) throws {
    if !condition { throw Problem(description: text) }
  }

  private static func numbers(_ bytes: [UInt8], _ name: String, _ type: String) throws -> [Int] {
    try require(bytes.count >= 10, "\(name): \(bytes.count) bytes")
    try require(bytes[..<8] == [0x93, 0x4E, 0x55, 0x4D, 0x50, 0x59, 1, 0], "\(name): magic")
    let start = 10 + Int(bytes[8]) + Int(bytes[9]) << 8
    try require(start % 64 == 0 && bytes.count >= start, "\(name): header's size")
    let size = type == "|u1" ? 1 : type == "<u4" ? 4 : 8
    let count = (bytes.count - start) / size
    try require((bytes.count - start) % size == 0, "\(name): size")
    let header = String(decoding: bytes[10..<start], as: UTF8.self)
    let dictionary = "{'descr': '\(type)', 'fortran_order': False, 'shape': (\(count),), }"
    try require(
      header.hasPrefix(dictionary) && header.hasSuffix("\n")
        && header.dropFirst(dictionary.count).dropLast().allSatisfy { $0 == " " },
      "\(name): header \(header)")
    return (0..<count).map { place in
      (0..<size).reduce(0) { $0 | Int(bytes[start + place * size + $1]) << (8 * $1) }
    }
  }

  static func slices(_ all: [Int], _ starts: [Int], _ name: String) throws -> [[Int]] {
    try require(
      starts.first == 0 && starts.last == all.count
        && zip(starts, starts.dropFirst()).allSatisfy(<=),
      name)
    return zip(starts, starts.dropFirst()).map { Array(all[$0..<$1]) }
  }
}
