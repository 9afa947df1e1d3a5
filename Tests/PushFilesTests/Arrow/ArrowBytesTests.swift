import Foundation
import Glibc
import PushFiles
import TestSupport
import Testing

/// Goal: streams of bytes, as pyarrow writes them (Streams/make-streams), have the rows that were
/// written; and whatever bytes there are, nothing outside of them is read, and the answer is rows
/// or a problem. The bytes end where memory ends, so that a read behind them ends the test.
@Suite struct ArrowBytesTests {
  private static let folder = Repository.root.appending(
    path: "Tests/PushFilesTests/Arrow/Streams", directoryHint: .isDirectory)

  private static func bytes(_ name: String) throws -> [UInt8] {
    Array(try Data(contentsOf: folder.appending(path: name)))
  }

  /// The rows as lines, read so many bytes at a time, and what went wrong behind them.
  private static func read(
    _ bytes: [UInt8], upTo limit: Int = .max
  ) -> (lines: [UInt8], problem: String?) {
    let guarded = GuardedBytes(bytes)
    var lines: [UInt8] = []
    do throws(FileProblem) {
      let stream = try unsafe ArrowStream(bytes: guarded.bytes, of: .messages)
      var isMore = true
      while isMore {
        var part: [UInt8] = []
        defer { lines += part }
        isMore = try stream.appendNDJSON(to: &part, upTo: limit)
      }
      return (lines, nil)
    } catch {
      return (lines, "\(error)")
    }
  }

  @Test(arguments: ["narrow", "wide", "views", "sliced"])
  func `Rows of every type are the lines that were written`(_ name: String) throws {
    let bytes = try Self.bytes("\(name).arrows")
    let expected = String(decoding: try Self.bytes("messages.ndjson"), as: UTF8.self)
    for limit in [1, 100, Int.max] {
      let (lines, problem) = Self.read(bytes, upTo: limit)
      #expect(problem == nil)
      #expect(String(decoding: lines, as: UTF8.self) == expected, "\(limit) bytes at a time")
    }
  }

  @Test func `Ids may be numbers, instants are in milliseconds, and a stream may have no rows`()
    throws
  {
    let (lines, problem) = Self.read(try Self.bytes("numbers.arrows"))
    #expect(problem == nil)
    #expect(
      String(decoding: lines, as: UTF8.self)
        == #"{"id":"65535","conversation":"-1","at":1700000000000}"# + "\n")
    let empty = Self.read(try Self.bytes("empty.arrows"))
    #expect(empty.lines.isEmpty && empty.problem == nil)
  }

  @Test func `What is not read says why`() throws {
    let expected = [
      "compressed.arrows":
        "messages: the stream is compressed; send it without compression",
      "dates.arrows":
        "messages.at: a column of the type \"date\" cannot be read; it must be text, integers, "
        + "bool, a timestamp, a struct or a list",
      "deltas.arrows":
        "messages: the stream adds to a dictionary, which is not read; send whole dictionaries",
      "file.arrow": "messages: the body is an Arrow file; send an Arrow stream",
      "messages.ndjson": "messages: the body is not an Arrow stream",
    ]
    var found: [String: String] = [:]
    for name in expected.keys { found[name] = Self.read(try Self.bytes(name)).problem }
    #expect(found == expected)
    #expect(Self.read([]).problem == "messages: the body is not an Arrow stream")
  }

  @Test(arguments: ["narrow", "wide", "views", "sliced", "numbers"])
  func `A stream that is cut has the rows of whole batches, or a problem`(_ name: String) throws {
    let bytes = try Self.bytes("\(name).arrows")
    let whole = Self.read(bytes).lines
    var wrong: [Int] = []
    var complete = 0
    for count in bytes.indices {
      let (lines, problem) = Self.read(Array(bytes[..<count]))
      if !whole.starts(with: lines) { wrong.append(count) }
      // Between two messages, and where the mark of the end is cut off.
      if problem == nil { complete += 1 }
    }
    #expect(wrong == [])
    #expect((2...9).contains(complete), "\(complete) prefixes are whole streams")
  }

  @Test func `Changed streams are read or refused, and never read past`() throws {
    let streams = try ["narrow", "wide", "views", "sliced", "numbers"].map {
      try Self.bytes("\($0).arrows")
    }
    for seed in seeds([1, 2, 3]) {
      var random = SeededGenerator(seed: seed)
      var (read, refused) = (0, 0)
      for _ in 0..<4000 {
        var bytes = random.pick(streams)
        for _ in 0..<Int.random(in: 1...4, using: &random) {
          Self.change(&bytes, &random)
        }
        if Self.read(bytes, upTo: 4096).problem == nil { read += 1 } else { refused += 1 }
      }
      #expect(read > 100 && refused > 100, "seed \(seed): \(read) read, \(refused) refused")
    }
  }

  /// Sets a byte, or four or eight to a number that offsets and sizes go wrong by.
  private static func change(_ bytes: inout [UInt8], _ random: inout SeededGenerator) {
    let width = random.pick([1, 1, 4, 8])
    let start = Int.random(in: 0...(bytes.count - width), using: &random) / width * width
    let number = random.pick([
      0, 1, -1, 7, 8, 0x7FFF_FFFF, -0x8000_0000, .max, .min, Int64(bytes.count),
      Int64.random(in: -300...300, using: &random), Int64.random(in: .min ... .max, using: &random),
    ])
    for index in 0..<width {
      bytes[start + index] = UInt8(truncatingIfNeeded: number >> (8 * Int64(index)))
    }
  }

  @Test func `A row that names one long text again and again is refused`() throws {
    // 2,100 indices of a text of 4 KiB: a row of 8.6 MB from 8 kB.
    let (lines, problem) = Self.read(try Self.bytes("long.arrows"))
    #expect(lines.isEmpty)
    #expect(problem == "messages:1: the line is longer than 8388608 bytes")
  }
}

/// Bytes that end where the memory that can be read ends.
///
/// SAFETY: the bytes are read while this lives.
@safe private final class GuardedBytes {
  let bytes: UnsafeRawBufferPointer
  private let start: UnsafeMutableRawPointer
  private let size: Int

  init(_ content: [UInt8]) {
    let page = sysconf(Int32(_SC_PAGESIZE))
    let pages = (content.count + page - 1) / page * page
    size = pages + page
    unsafe start = mmap(nil, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)!
    precondition(unsafe start != MAP_FAILED)
    unsafe mprotect(start + pages, page, PROT_NONE)
    let first = unsafe start + (pages - content.count)
    unsafe content.withUnsafeBytes {
      unsafe first.copyMemory(from: $0.baseAddress ?? UnsafeRawPointer(first), byteCount: $0.count)
    }
    unsafe bytes = UnsafeRawBufferPointer(start: first, count: content.count)
  }

  deinit { unsafe munmap(start, size) }
}
