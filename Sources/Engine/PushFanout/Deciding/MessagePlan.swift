internal import PushModel

/// What is known of a message before recipients are examined.
struct MessagePlan {
  /// The outcome of a message that is stopped for all.
  var uniform: Outcome?
  /// Otherwise its class, for recipients not mentioned by name, and for those mentioned.
  var messageClass = 0
  var namedClass = 0
  var mentions: MentionedUsers?
  /// Nil if all devices may get the message (E-50).
  var filter: DeviceFilter?

  @inline(__always)
  init(
    _ message: borrowing Message, _ target: borrowing ConversationTarget,
    _ tables: borrowing Tables
  ) {
    plan(message, target, tables)
  }
}

extension DeviceFilter {
  var isEmpty: Bool {
    acceptDeviceIDs.isEmpty && ignoreDeviceIDs.isEmpty && acceptNotifierNames.isEmpty
      && ignoreNotifierNames.isEmpty
  }

  /// E-50.
  func lets(_ device: Device) -> Bool {
    if ignoreDeviceIDs.contains(device.id) { return false }
    if !acceptDeviceIDs.isEmpty, !acceptDeviceIDs.contains(device.id) { return false }
    guard let notifier = device.notifier else { return acceptNotifierNames.isEmpty }
    if ignoreNotifierNames.contains(notifier) { return false }
    return acceptNotifierNames.isEmpty || acceptNotifierNames.contains(notifier)
  }
}

extension MentionedUsers {
  /// Calls `body` with each user mentioned by name, perhaps repeatedly.
  func forEachUser(in tables: Tables, _ body: (UInt32) -> Void) {
    let users = tables.userIDs.lookup
    for id in ids {
      if folds {
        users.forEachIndex(loweredTo: id.lowercased(), body)
      } else if let user = users.index(of: id, hash: users.hash(id)) {
        body(user)
      }
    }
  }
}
