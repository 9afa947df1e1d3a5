import CArchive
import Foundation
import PushFanout
import PushFiles
import PushModel
import TestSupport
import Testing

@testable import PushImport

/// What an import made.
struct Imported {
  let report: ImportReport
  let settings: [String]
  let messages: [String]
  let json: String

  /// The kinds that were counted, each with its count and its people.
  var kinds: [String] {
    report.kinds.map { "\($0.name) \(report.counts[$0]!.count) \(report.counts[$0]!.peopleCount)" }
  }

  /// The records of the settings that are neither of the app nor of conversations, without their kind.
  var people: [String] {
    settings.filter { $0.contains("\"kind\":\"user\"") }.map {
      $0.replacing("{\"kind\":\"user\",\"id\":", with: "{")
    }
  }

  var members: [String] {
    settings.filter { $0.contains("\"kind\":\"member\"") }.map {
      $0.replacing("{\"kind\":\"member\",\"conversation\":", with: "{").replacing(
        "\"user\":", with: "")
    }
  }

  /// Who gets a push, `MESSAGE USER` each, sorted.
  func pushes() throws -> [String] {
    let lines = settings.joined(separator: "\n") + "\n"
    let fanout = try SettingsLoader.loadFanout(SettingsPaths(Array(lines.utf8)), threads: 1)
    let reader = try MessageReader(
      Array((messages.joined(separator: "\n") + "\n").utf8), rules: fanout.app.rules)
    var pushes: [String] = []
    while let message = try reader.next() {
      let result = fanout.decide(message)
      for rank in 0..<result.memberCount {
        let user = result.member(at: rank)
        if result.outcome(of: user)?.action == .push {
          pushes.append("\(message.id) \(result.id(of: user))")
        }
      }
    }
    return pushes.sorted()
  }
}

extension Importer {
  /// Runs an import into a folder that goes away.
  func imported(_ system: ImportSystem, _ path: String) throws -> Imported {
    try ScratchFolder.with { url in
      let path = path
      let output = url.appending(path: "world").path
      let folder = try OutputFolder(path: output, names: Importer.fileNames)
      defer { folder.abandon() }
      let report = try run(system, path, into: folder)
      try folder.finish()
      func lines(_ name: String) throws -> [String] {
        let text = try String(contentsOfFile: "\(output)/\(name)", encoding: .utf8)
        #expect(text.isEmpty || text.hasSuffix("\n"))
        return text.split(separator: "\n").map(String.init)
      }
      let names = try FileManager.default.contentsOfDirectory(atPath: output)
      #expect(names.sorted() == Importer.fileNames.sorted())
      return Imported(
        report: report, settings: try lines("settings.ndjson"),
        messages: try lines("messages.ndjson"), json: try lines("report.json").joined())
    }
  }

  /// Imports lines of Mattermost.
  func mattermost(
    _ lines: [String],
    _ change: (inout MattermostOptions, ScratchFolder) throws -> Void = { _, _ in }
  ) throws -> Imported {
    let folder = ScratchFolder()
    defer { withExtendedLifetime(folder) {} }
    var options = MattermostOptions()
    try change(&options, folder)
    let path = try folder.write(Array((lines.joined(separator: "\n") + "\n").utf8), as: "e.jsonl")
    return try imported(.mattermost(options), path)
  }

  /// Imports files of Zulip.
  func zulip(_ files: [String: String]) throws -> Imported {
    let folder = ScratchFolder()
    defer { withExtendedLifetime(folder) {} }
    for (name, text) in files { try folder.write(Array(text.utf8), as: name) }
    return try imported(.zulip, folder.url.path)
  }

  /// What is wrong with an import, without the folder; "" if nothing is.
  static func problem(_ body: () throws -> Imported) -> String {
    do {
      _ = try body()
      return ""
    } catch let problem as ImportProblem {
      let text = "\(problem)"
      let start = text.range(of: "/push-[0-9A-F-]*/", options: .regularExpression)
      return start.map { String(text[$0.upperBound...]) } ?? text
    } catch {
      return "\(error)"
    }
  }
}

/// Lines of an export of Mattermost.
enum Line {
  static let town = #"{"type":"channel","channel":{"team":"t","name":"c"}}"#

  /// - Parameters:
  ///   - props: of the person, `"mobile":"all"`.
  ///   - member: of the membership in `town`; nil for none.
  static func user(
    _ name: String, _ props: String = "", in member: String? = "", _ more: String = ""
  )
    -> String
  {
    let teams = member.map {
      #","teams":[{"name":"t","channels":[{"name":"c","notify_props":{\#($0)}}]}]"#
    }
    return
      #"{"type":"user","user":{"username":"\#(name)","notify_props":{\#(props)}\#(teams ?? "")\#(more)}}"#
  }

  static func direct(_ names: String...) -> String {
    let people = names.map { #"{"username":"\#($0)"}"# }.joined(separator: ",")
    return #"{"type":"direct_channel","direct_channel":{"participants":[\#(people)]}}"#
  }

  static func post(_ text: String, by author: String = "dee", at: Int = 5, _ more: String = "")
    -> String
  {
    #"{"type":"post","post":{"team":"t","channel":"c",\#(body(text, author, at))\#(more)}}"#
  }

  static func directPost(_ text: String, _ names: String...) -> String {
    let people = names.map { "\"\($0)\"" }.joined(separator: ",")
    return
      #"{"type":"direct_post","direct_post":{"channel_members":[\#(people)],\#(body(text, names[0], 5))}}"#
  }

  static func body(_ text: String, _ author: String, _ at: Int) -> String {
    #""user":"\#(author)","message":"\#(text)","create_at":\#(at)"#
  }
}

/// Archives that tests make.
enum Archive {
  /// - Parameters:
  ///   - options: of libarchive, `zip:compression=store`.
  static func make(
    _ entries: [(name: String, text: String)], zip: Bool, options: String = ""
  ) -> [UInt8] {
    let archive = unsafe archive_write_new()
    defer { unsafe _ = archive_write_free(archive) }
    if zip {
      unsafe archive_write_set_format_zip(archive)
    } else {
      unsafe archive_write_set_format_pax_restricted(archive)
      unsafe archive_write_add_filter_gzip(archive)
    }
    if !options.isEmpty { unsafe _ = archive_write_set_options(archive, options) }
    let size = entries.reduce(1 << 16) { $0 + $1.text.utf8.count + 4096 }
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 8)
    defer { unsafe memory.deallocate() }
    var used = 0
    unsafe archive_write_open_memory(archive, memory.baseAddress, size, &used)
    for (name, text) in entries {
      let entry = unsafe archive_entry_new()
      unsafe archive_entry_set_pathname(entry, name)
      unsafe archive_entry_set_size(entry, Int64(text.utf8.count))
      unsafe archive_entry_set_filetype(entry, 0o100_000)
      unsafe archive_entry_set_perm(entry, 0o644)
      unsafe archive_write_header(archive, entry)
      var text = text
      text.withUTF8 { unsafe _ = archive_write_data(archive, $0.baseAddress, $0.count) }
      unsafe archive_entry_free(entry)
    }
    unsafe archive_write_close(archive)
    return unsafe Array(memory[..<used])
  }
}
