import ArgumentParser
import Foundation
import Testing

@testable import PushServer

/// Goal: an option is the same as a flag, as a variable and as a key of the file; what is none of the
/// options is refused wherever it stands, in words that name the place.
@Suite struct OptionTests {
  private static func file(_ json: String) throws -> String {
    let path = try TestServer.temporaryFolder().appending(path: "server.json").path
    try json.write(toFile: path, atomically: true, encoding: .utf8)
    return path
  }

  /// Why a server does not start; empty if it does.
  private static func problem(
    _ json: String? = nil, _ flags: [String] = [], _ environment: [String: String] = [:]
  ) async throws -> String {
    let path = try json.map { try file($0) }
    do {
      _ = try await ServerConfiguration(
        ["--store", "a", "--insecure"] + (path.map { ["--config", $0] } ?? []) + flags,
        environment: environment)
      return ""
    } catch { return path.map { "\(error)".replacing($0, with: "FILE") } ?? "\(error)" }
  }

  @Test func `Every option is a flag, a variable, and a key of the file`() async throws {
    // A value that each takes, and that is not the default.
    let values = [
      "listen": "h:1", "adminListen": "[::1]:2", "clientScopes": "admin", "unknownZones": "ignore",
      "logLevel": "error", "follow": "http://a", "otlp": "http://b", "peers": "http://c,http://d",
      "decisionLogLimit": "1000000",
    ]
    let help = ServerCommand.helpMessage(columns: 200)
    let defaults = "\(try ServerOptions(flags: []))"
    let names = Set(OptionKey.all.map(\.name))
    #expect(OptionKey.ofOneApp.union(OptionKey.ofEachApp).isSubset(of: names))
    for key in OptionKey.all {
      #expect(help.contains("  \(key.flag) "))
      if key.name == "config" { continue }
      let value = values[key.name] ?? "7"
      let given = "\(try ServerOptions(flags: key.isSwitch ? [key.flag] : [key.flag, value]))"
      #expect(given != defaults, "\(key.name)")
      func shown(_ flags: [String], _ environment: [String: String]) async throws -> String {
        // Options that are missing or contradict each other are no matter of this.
        let read = try await ServerConfiguration.read(flags, environment)
        return "\(try ServerOptions(flags: read.values.flatMap(\.arguments)))"
      }
      let text = key.isSwitch ? "true" : value
      #expect(try await shown([], [key.variable(): text]) == given)
      let json = key.isSwitch || Int(value) != nil ? text : "\"\(text)\""
      let path = try Self.file("{\"\(key.name)\":\(json)}")
      #expect(try await shown(["--config", path], [:]) == given)
    }
  }

  @Test func `Values are refused by the name of their flag, variable, or key and file`()
    async throws
  {
    let found = try await [
      Self.problem(nil, ["--threads", "no"]), Self.problem(nil, ["--threads=0"]),
      Self.problem(nil, [], ["PUSH_FANOUT_THREADS": "no"]),
      Self.problem(#"{"threads":"no"}"#), Self.problem(#"{"threads":1.5}"#),
      Self.problem(#"{"threads":true}"#), Self.problem(#"{"threads":[1]}"#),
      Self.problem(#"{"audit":null}"#), Self.problem(nil, [], ["PUSH_FANOUT_CREATE": "maybe"]),
      Self.problem(#"{"create":"maybe"}"#), Self.problem(#"{"create":1}"#),
      Self.problem(nil, ["--listen", "8080"]),
      Self.problem(nil, [], ["PUSH_FANOUT_UNKNOWN_ZONES": "guess"]),
      Self.problem(#"{"clientScopes":"all"}"#),
      Self.problem(nil, [], ["PUSH_FANOUT_LOG_LEVEL": "loud"]),
    ]
    #expect(
      found == [
        "--threads no is not a number", "--threads 0 is not in 1...1024",
        "PUSH_FANOUT_THREADS no is not a number", "FILE: \"threads\" no is not a number",
        "FILE: \"threads\" 1.5 is not a number", "FILE: \"threads\" is not a text or a number",
        "FILE: \"threads\" is not a text or a number",
        "FILE: \"audit\" is not a text or a number",
        "PUSH_FANOUT_CREATE maybe is not true or false",
        "FILE: \"create\" is not true or false", "FILE: \"create\" is not true or false",
        "--listen 8080 is not HOST:PORT, like 127.0.0.1:8080 or [::1]:8080",
        "PUSH_FANOUT_UNKNOWN_ZONES guess is not refuse or ignore",
        "FILE: \"clientScopes\" all is no list of scopes with commas: these are \(Scope.names)",
        "PUSH_FANOUT_LOG_LEVEL loud is not debug, info, warning or error",
      ])
    // What a flag or a variable replaces is not looked at, and a switch can be taken back.
    #expect(
      try await Self.problem(
        #"{"threads":"no","bodyLimit":"no","create":true}"#, ["--threads", "2"],
        ["PUSH_FANOUT_BODY_LIMIT": "7", "PUSH_FANOUT_CREATE": "false"]) == "")
    let options = try await ServerConfiguration(
      ["--store", "a", "--insecure", "--config", Self.file(#"{"create":true,"audit":5}"#)],
      environment: ["PUSH_FANOUT_CREATE": "false"]
    ).options
    #expect(!options.create && options.audit == "5")
  }

  @Test func `A misspelt variable or key is refused with the name that is nearest`() async throws {
    let apps = #"{"apps":{"two-B":{"store":"b","keys":"l"}}}"#
    func variables(_ environment: [String: String], _ json: String? = nil) async throws -> String {
      guard let json else { return try await Self.problem(nil, [], environment) }
      let path = try Self.file(json)
      do {
        _ = try await ServerConfiguration(["--config", path], environment: environment)
        return ""
      } catch { return "\(error)" }
    }
    let found = try await [
      variables(["PUSH_FANOUT_BODY_LIMT": "1"]), variables(["PUSH_FANOUT_SOMETHING_ELSE": ""]),
      variables(["PUSH_FANOUT_APPS_ONE_STORE": "x"]),
      variables(["PUSH_FANOUT_APPS_TWO_B_BODY_LIMIT": "1"], apps),
      variables(["PUSH_FANOUT_APPS_TWO_B_BODYLIMIT": "1"], apps),
      variables(["PUSH_FANOUT_APPS_TWO_B_THREADS": "1"], apps),
      Self.problem(#"{"bodyLimt":1}"#), Self.problem(#"{"whatever":1}"#),
    ]
    #expect(
      found == [
        "the variable PUSH_FANOUT_BODY_LIMT is no option; did you mean PUSH_FANOUT_BODY_LIMIT?",
        "the variable PUSH_FANOUT_SOMETHING_ELSE is no option; push-fanout-server --help lists all "
          + "options",
        "the variable PUSH_FANOUT_APPS_ONE_STORE is no option; push-fanout-server --help lists all "
          + "options", "",
        "the variable PUSH_FANOUT_APPS_TWO_B_BODYLIMIT is no option; did you mean "
          + "PUSH_FANOUT_APPS_TWO_B_BODY_LIMIT?",
        "PUSH_FANOUT_APPS_TWO_B_THREADS is an option of the whole server: PUSH_FANOUT_THREADS",
        "FILE: unknown option \"bodyLimt\"; did you mean \"bodyLimit\"?",
        "FILE: unknown option \"whatever\"",
      ])
    // Variables of other programs of the project, and of a container beside such a service.
    for name in [
      "DEVELOP", "SERVER", "CACHE", "COMMAND", "SERVICE_HOST", "SERVICE_PORT", "SERVICE_PORT_HTTP",
      "PORT", "PORT_8080_TCP", "PORT_8080_TCP_PROTO", "SERVER_PORT_80_TCP_ADDR",
      "SERVER_SERVICE_HOST",
    ] {
      #expect(try await variables(["PUSH_FANOUT_\(name)": "tcp://10.0.0.1:8080"]) == "")
    }
    #expect(try await variables(["PUSH_FANOUTS": "1", "OTHER_BODY_LIMT": "1"]) == "")
  }

  @Test func `A file that has a key twice is refused`() async throws {
    for json in [
      #"{"insecure":true,"insecure":false}"#, #"{"bodyLimit":1,"threads":1,"bodyLimit":1}"#,
      #"{"store":"a","\u0073tore":"b"}"#,
      #"{"apps":{"one":{"store":"a","keys":"k"},"one":{"store":"b","keys":"k"}}}"#,
      #"{"apps":{"one":{"store":"a","keys":"k","store":"b"}}}"#,
    ] {
      let found = try await Self.problem(json)
      #expect(
        found.hasPrefix("FILE: ") && found.contains("is repeated in one object"),
        "\(json): \(found)")
    }
  }
}
