import PushModel

/// Stands for the network: takes every payload, keeps the last one a device, and refuses a device
/// whose token it does not know any more.
actor FakeSender: PushSender {
  private var staleTokens: Set<Identifier>
  private(set) var lastPayload: [Identifier: String] = [:]

  init(staleTokens: Set<Identifier>) { self.staleTokens = staleTokens }

  func send(_ payload: ArraySlice<UInt8>, to device: Device, of user: Identifier) -> Bool {
    if staleTokens.contains(device.id) { return false }
    lastPayload[user] = String(decoding: payload, as: UTF8.self)
    return true
  }
}
