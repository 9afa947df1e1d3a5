import Foundation
import Testing

@testable import push_fanout

/// Goal: `serve` becomes the server's program with the same arguments, wherever that is, and says
/// what to do when there is none.
@Suite struct ServeTests {
  private func run(_ place: Workplace, _ environment: String, _ arguments: String) throws -> Run {
    // In a folder of its own: beside the tests' program there may be a server.
    try place.shell(
      """
      mkdir -p alone
      ln -f "$0" alone/push-fanout 2> /dev/null || cp "$0" alone/push-fanout
      env \(environment) alone/push-fanout serve \(arguments)
      """)
  }

  @Test func itBecomesTheServer() throws {
    try withWorkplace { place in
      // Signals are those of a program that was started by itself.
      try place.write(
        ["#!/bin/sh", #"echo "$@""#, "grep SigIgn /proc/$$/status | cut -f2", "exit 7"],
        as: "push-fanout-server")
      try place.shell("chmod +x push-fanout-server")
      let arguments = "--store 'a b' --listen=127.0.0.1:0 key -x"
      for environment in ["PUSH_FANOUT_SERVER=./push-fanout-server", "PATH=.:/usr/bin:/bin"] {
        let found = try run(place, environment, arguments)
        #expect(found.lines.first == "--store a b --listen=127.0.0.1:0 key -x", "\(found.errors)")
        // Neither SIGPIPE nor SIGTERM.
        let ignored = try #require(UInt64(found.lines.last ?? "", radix: 16))
        #expect(ignored & 0x5000 == 0, "\(environment)")
        #expect(found.status == 7)
      }
      let help = try run(place, "PUSH_FANOUT_SERVER=./push-fanout-server", "-- --help")
      #expect(help.output.hasPrefix("--help\n"))
    }
  }

  @Test func withoutTheServerItSaysWhatToDo() throws {
    try withWorkplace { place in
      let named = try run(place, "PUSH_FANOUT_SERVER=/none", "")
      #expect(named.status == 1)
      #expect(named.errors.contains("PUSH_FANOUT_SERVER=/none is not a program"))
      let missing = try run(place, "PATH=/none", "")
      #expect(missing.status == 1)
      #expect(missing.errors.contains("build it (make -C Server)"))
    }
  }

  @Test func itIsLookedForInOrder() {
    #expect(ServerSearch.candidates(environment: "x", program: "/a/b", search: "/c") == ["x"])
    #expect(
      ServerSearch.candidates(environment: nil, program: "/a/b", search: "/c::/d") == [
        "/a/push-fanout-server", "/a/../libexec/push-fanout/push-fanout-server",
        "/c/push-fanout-server", "./push-fanout-server", "/d/push-fanout-server",
      ])
  }
}
