internal import PushRules

/// What a message comes to before any recipient is looked at.
struct MessagePlan {
  /// The one outcome of all recipients, if something stops the message for everybody.
  var uniform: Outcome?
  /// Otherwise the class of the message for those it does not name, and for those it names.
  var messageClass = 0
  var namedClass = 0
  var mentions: MentionedUsers?
  /// Which devices may get it, if not all (E-50).
  var filter: DeviceFilter?

  init(
    _ message: borrowing Message, _ target: borrowing ConversationStates.Target,
    _ tables: borrowing Tables
  ) {
    switch tables.app.rules {
    case .easemob: plan(easemob: message, target.kind, tables.app)
    case .rongcloud: plan(rongcloud: message, target, tables)
    }
  }
}

extension DeviceFilter {
  /// Whether the filter says nothing.
  var isEmpty: Bool {
    acceptDeviceIDs.isEmpty && ignoreDeviceIDs.isEmpty && acceptNotifierNames.isEmpty
      && ignoreNotifierNames.isEmpty
  }

  /// Whether a push may go to a device (E-50).
  func lets(_ device: Device) -> Bool {
    if ignoreDeviceIDs.contains(device.id) { return false }
    if !acceptDeviceIDs.isEmpty, !acceptDeviceIDs.contains(device.id) { return false }
    guard let notifier = device.notifier else { return acceptNotifierNames.isEmpty }
    if ignoreNotifierNames.contains(notifier) { return false }
    return acceptNotifierNames.isEmpty || acceptNotifierNames.contains(notifier)
  }
}
