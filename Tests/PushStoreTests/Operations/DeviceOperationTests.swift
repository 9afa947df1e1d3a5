import PushFanout
import PushModel
import PushStore
import TestSupport
import Testing

/// Goal: tokens and presence change what the rules look at, E-64 to E-68 and.
@Suite struct DeviceOperationTests {
  static let noon = OperationWorld.noon

  private func devices(_ world: OperationWorld) throws -> [Device] {
    try world.store.devices(of: "u")
  }

  /// formats.md: without a list there is the default device; the first operation makes the list.
  @Test(arguments: RuleSet.allCases)
  func aBoundDeviceReplacesTheDefault(rules: RuleSet) throws {
    try withWorld(rules) { world in
      #expect(try devices(world) == [.default])
      try world.expect([.devices]) { try $0.bindToken(ofDevice: "p1", notifier: "apns", of: "u") }
      #expect(try devices(world) == [Device(id: "p1", notifier: "apns")])
      try world.changes { try $0.bindToken(ofDevice: "w", kind: .web, of: "u") }
      #expect(
        try devices(world) == [Device(id: "p1", notifier: "apns"), Device(id: "w", kind: .web)])
      // A new token has a certificate of its own, or none; the kind stays.
      try world.changes { try $0.bindToken(ofDevice: "w", notifier: "n", of: "u") }
      try world.changes { try $0.bindToken(ofDevice: "p1", of: "u") }
      #expect(
        try devices(world) == [Device(id: "p1"), Device(id: "w", kind: .web, notifier: "n")])
      try world.expect([]) { try $0.bindToken(ofDevice: "p1", of: "u") }
    }
  }

  @Test func theDefaultDeviceItselfCanBeOperatedOn() throws {
    try withWorld(.easemob) { world in
      try world.expect([.devices]) { try $0.setState(.offline, ofDevice: "default", of: "u") }
      #expect(world.store.fanout.user("u")?.devices == [.default])
      try world.expect([]) { try $0.setState(.offline, ofDevice: "default", of: "u") }
      try world.changes { try $0.bindToken(ofDevice: "p1", of: "u") }
      let ids = try devices(world).map(\.id)
      #expect(ids == ["default", "p1"])
      try world.changes { try $0.bindToken(ofDevice: "default", of: "v") }
      try world.changes { try $0.bindToken(ofDevice: "p1", of: "v") }
      #expect(try world.store.devices(of: "v").map(\.id) == ["default", "p1"])
    }
  }

  @Test(arguments: RuleSet.allCases)
  func unknownDevicesAreRefused(rules: RuleSet) throws {
    try withWorld(rules) { world in
      let refused = { (id: Identifier) in StoreError.unknownDevice(user: "u", device: id) }
      try world.refuses(refused("p1")) { try $0.setState(.foreground, ofDevice: "p1", of: "u") }
      try world.changes { try $0.bindToken(ofDevice: "p1", of: "u") }
      try world.refuses(refused("p2")) { try $0.setState(.foreground, ofDevice: "p2", of: "u") }
      try world.refuses(refused("p2")) { try $0.kick(device: "p2", of: "u") }
      try world.refuses(refused("p2")) { try $0.unbindToken(ofDevice: "p2", of: "u") }
      try world.refuses(refused("p2")) { try $0.logOut(device: "p2", of: "u", keepingToken: true) }
      try world.refuses(refused("default")) { try $0.remove(device: "default", of: "u") }
      try world.refuses(StoreError.idLength(0)) { try $0.bindToken(ofDevice: "", of: "u") }
    }
  }

  /// O-30: a device that was seen is seen again when its state is told; the background has no grace.
  @Test func seenDevices() throws {
    try withWorld(.open) { world in
      try world.changes { write in
        try write.updateUser("u", .devices) { user in
          user.devices = [
            Device(id: "p", seenAt: Instant(milliseconds: 5)), Device(id: "q"),
          ]
        }
      }
      try world.changes {
        try $0.setState(.foreground, ofDevice: "p", of: "u")
        try $0.setState(.background, ofDevice: "q", of: "u")
      }
      #expect(
        try devices(world) == [
          Device(id: "p", state: .foreground, seenAt: Self.noon),
          Device(id: "q", state: .background),
        ])
      #expect(world.outcome(in: "group") == "none/online")
      #expect(world.outcome(in: "group", at: Self.noon.after(minutes: 2)) == "push/allowed/default")
    }
  }

  /// E-64: the background is online. R-53: until the grace is over, which begins once.
  @Test func background() throws {
    try withWorld(.easemob) { world in
      try world.changes { try $0.setState(.background, ofDevice: "default", of: "u") }
      #expect(world.outcome(in: "group", at: Self.noon.after(minutes: 600)) == "none/online")
      try world.changes { try $0.setState(.offline, ofDevice: "default", of: "u") }
      #expect(world.outcome(in: "group") == "push/allowed/default")
      try world.changes { try $0.setState(.foreground, ofDevice: "default", of: "u") }
      #expect(world.outcome(in: "group") == "none/online")
    }
    try withWorld(.rongcloud) { world in
      try world.changes { try $0.setState(.background, ofDevice: "default", of: "u") }
      #expect(try devices(world).first?.backgroundSince == Self.noon)
      let again = try world.changes(at: Self.noon.after(minutes: 1)) {
        try $0.setState(.background, ofDevice: "default", of: "u")
      }
      #expect(again == [])
      #expect(world.outcome(in: "group") == "local/allowed/default")
      #expect(
        world.outcome(in: "group", at: Instant(milliseconds: Self.noon.milliseconds + 119_999))
          == "local/allowed/default")
      #expect(
        world.outcome(in: "group", at: Self.noon.after(minutes: 2)) == "push/allowed/default")
      try world.changes { try $0.setState(.foreground, ofDevice: "default", of: "u") }
      #expect(try devices(world).first?.backgroundSince == nil)
      #expect(world.outcome(in: "group") == "none/online")
    }
  }

  /// E-66: kicked is neither online nor offline, until the state is told again.
  @Test func kicking() throws {
    try withWorld(.easemob) { world in
      try world.changes { try $0.kick(device: "default", of: "u") }
      #expect(world.outcome(in: "group") == "none/kicked")
      try world.changes { try $0.bindToken(ofDevice: "default", of: "u") }
      #expect(world.outcome(in: "group") == "none/kicked")
      try world.changes { try $0.setState(.offline, ofDevice: "default", of: "u") }
      #expect(world.outcome(in: "group") == "push/allowed/default")
    }
  }

  /// E-67: logged out, with its token it still gets pushes; R-52: it gets none.
  @Test(arguments: [true, false])
  func loggingOut(keepsToken: Bool) throws {
    try withWorld(.easemob) { world in
      try world.changes { try $0.bindToken(ofDevice: "p", notifier: "n", of: "u") }
      try world.expect([.devices]) { try $0.logOut(device: "p", of: "u", keepingToken: keepsToken) }
      #expect(
        world.outcome(in: "group") == (keepsToken ? "push/allowed/default" : "none/noToken"))
      #expect(
        try devices(world) == [
          Device(
            id: "p", state: .loggedOut, hasToken: keepsToken, notifier: keepsToken ? "n" : nil)
        ])
    }
    try withWorld(.rongcloud) { world in
      try world.changes { try $0.logOut(device: "default", of: "u", keepingToken: keepsToken) }
      #expect(world.outcome(in: "group") == "none/loggedOut")
    }
  }

  /// E-68: without a token there is no target.
  @Test func unbinding() throws {
    try withWorld(.easemob) { world in
      try world.changes { try $0.unbindToken(ofDevice: "default", of: "u") }
      #expect(world.outcome(in: "group") == "none/noToken")
      try world.expect([]) { try $0.unbindToken(ofDevice: "default", of: "u") }
      try world.changes { try $0.bindToken(ofDevice: "default", of: "u") }
      #expect(world.outcome(in: "group") == "push/allowed/default")
      try world.changes { try $0.remove(device: "default", of: "u") }
      #expect(world.store.fanout.user("u")?.devices == [])
      #expect(try devices(world) == [])
      #expect(world.outcome(in: "group") == "none/noToken")
    }
  }

  /// Several operations can be one write.
  @Test func manyInOneWrite() throws {
    try withWorld(.easemob) { world in
      let changes = try world.changes(from: "p1") {
        try $0.bindToken(ofDevice: "p1", of: "u")
        try $0.setState(.foreground, ofDevice: "p1", of: "u")
        try $0.setSilentMode(SilentModeWrite(level: .mention), of: "u")
      }
      #expect(changes == [.devices, .devices, .userLevel])
      // All of them or none.
      let end = try world.end()
      world.expectError(StoreError.unknownDevice(user: "u", device: "p9")) {
        _ = try world.store.write(at: Self.noon) {
          try $0.unbindToken(ofDevice: "p1", of: "u")
          try $0.kick(device: "p9", of: "u")
        }
      }
      #expect(try devices(world) == [Device(id: "p1", state: .foreground)])
      #expect(try world.end() == end)
    }
  }
}
