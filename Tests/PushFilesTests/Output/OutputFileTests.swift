import Foundation
import PushFiles
import Testing

/// Goal: an output file appears under its name complete or not at all, and nothing else is left in
/// its folder.
@Suite struct OutputFileTests {
  private static let large = Array(repeating: UInt8(ascii: "x"), count: 3_000_000)

  @Test func aFileAppearsWhenItIsFinished() throws {
    try withFolder { folder in
      let output = try OutputFile(path: folder.path("out"))
      try output.write("a".utf8)
      try output.write(Self.large)
      let temporary = try #require(output.temporaryName)
      #expect(try folder.names() == [URL(filePath: temporary).lastPathComponent])
      #expect(temporary.hasPrefix(folder.path("out.")))
      try output.finish()
      #expect(try folder.names() == ["out"])
      #expect(try folder.read("out").utf8.count == Self.large.count + 1)
    }
  }

  @Test func anAbandonedFileLeavesNothing() throws {
    try withFolder { folder in
      let output = try OutputFile(path: folder.path("out"))
      try output.write(Self.large)
      output.abandon()
      output.abandon()
      #expect(try folder.names() == [])
      do {
        let dropped = try OutputFile(path: folder.path("out"))
        try dropped.write(Self.large)
      }
      #expect(try folder.names() == [])
      let finished = try OutputFile(path: folder.path("out"))
      try finished.finish()
      finished.abandon()
      #expect(try folder.names() == ["out"])
    }
  }

  @Test func anOldFileStaysUntilANewOneReplacesIt() throws {
    try withFolder { folder in
      try folder.write("old".utf8, as: "out")
      try FileManager.default.createSymbolicLink(
        atPath: folder.path("link"), withDestinationPath: "out")
      let abandoned = try OutputFile(path: folder.path("out"))
      try abandoned.write(Self.large)
      #expect(try folder.read("out") == "old")
      abandoned.abandon()
      #expect(try folder.read("out") == "old")

      let first = try OutputFile(path: folder.path("out"))
      try first.write("new".utf8)
      try first.finish()
      #expect(try folder.read("out") == "new")
      // A link stays a link; the file it names is replaced.
      let second = try OutputFile(path: folder.path("link"))
      try second.write("newer".utf8)
      try second.finish()
      #expect(try folder.read("out") == "newer")
      #expect(
        try FileManager.default.destinationOfSymbolicLink(atPath: folder.path("link")) == "out")
      #expect(try folder.names() == ["link", "out"])
    }
  }

  /// As a shell's redirection does: the link stays, and what it names comes into being.
  @Test func theTargetOfALinkThatLeadsNowhereIsCreated() throws {
    try withFolder { folder in
      let files = FileManager.default
      try files.createDirectory(atPath: folder.path("there"), withIntermediateDirectories: false)
      for (link, target) in [
        ("near", "made"), ("chain", "near2"), ("near2", "there/made"),
        ("absolute", folder.path("there/other")),
      ] {
        try files.createSymbolicLink(atPath: folder.path(link), withDestinationPath: target)
      }
      for name in ["near", "chain", "absolute"] {
        let output = try OutputFile(path: folder.path(name))
        try output.write(name.utf8)
        try output.finish()
      }
      #expect(try folder.names() == ["absolute", "chain", "made", "near", "near2", "there"])
      let links = try ["near", "chain", "near2", "absolute"].map {
        try files.destinationOfSymbolicLink(atPath: folder.path($0))
      }
      #expect(links == ["made", "near2", "there/made", folder.path("there/other")])
      #expect(
        try ["made", "there/made", "there/other"].map(folder.read) == ["near", "chain", "absolute"])
    }
  }

  @Test func aLinkToNoFolderOrToItselfIsNotReplaced() throws {
    try withFolder { folder in
      for (link, target) in [("lost", "none/out"), ("a", "b"), ("b", "a")] {
        try FileManager.default.createSymbolicLink(
          atPath: folder.path(link), withDestinationPath: target)
      }
      let found = ["lost", "a"].map { name in
        do throws(OutputProblem) {
          _ = try OutputFile(path: folder.path(name))
          return "opened"
        } catch {
          return folder.short(error)
        }
      }
      #expect(
        found == [
          "cannot write lost: No such file or directory",
          "cannot write a: Too many levels of symbolic links",
        ])
      #expect(try folder.names() == ["a", "b", "lost"])
    }
  }

  @Test func aDeviceIsWrittenDirectly() throws {
    let output = try OutputFile(path: "/dev/null")
    #expect(output.temporaryName == nil)
    try output.write(Self.large)
    try output.finish()
    let status = try FileManager.default.attributesOfItem(atPath: "/dev/null")
    #expect(status[.type] as? FileAttributeType == .typeCharacterSpecial)

    let full = try OutputFile(path: "/dev/full")
    try full.write("a".utf8)
    let problem = #expect(throws: OutputProblem.self) { try full.finish() }
    #expect(problem?.description == "cannot write /dev/full: No space left on device")
  }

  @Test func whatCannotBeWrittenSaysWhy() throws {
    try withFolder { folder in
      try folder.write("x".utf8, as: "file")
      let found = ["none/out", "", "file/out"].map { name in
        do throws(OutputProblem) {
          _ = try OutputFile(path: folder.path(name))
          return "opened"
        } catch {
          return folder.short(error)
        }
      }
      #expect(
        found == [
          "cannot write none/out: No such file or directory", "cannot write FOLDER: Is a directory",
          "cannot write file/out: Not a directory",
        ])
    }
  }
}
