extension SettingsOperation {
  /// The names of all operations.
  public static let names = CodingKeys.allCases.map(\.rawValue)
  /// The names of those that the server takes in requests.
  public static let served = CodingKeys.allCases.filter(\.isServed).map(\.rawValue)
}

extension SettingsOperation.CodingKeys {
  /// Whether requests may have it: a new operation has to choose.
  fileprivate var isServed: Bool {
    switch self {
    case .setSilentModeForAll, .setSilentModeForConversation, .clearRemindTypeForConversation,
      .updatePushServiceForGroups, .updatePushServiceForUsers,
      .setPreferredNotificationLanguage, .updatePushDisplayName, .setPushTemplate,
      .setConversationNotificationLevel, .setConversationChannelNotificationLevel,
      .setConversationTypeNotificationLevel, .setNotificationQuietHours,
      .removeNotificationQuietHours, .setUltraGroupConversationDefaultNotificationLevel,
      .setUltraGroupConversationChannelDefaultNotificationLevel, .setPushReceiveStatus,
      .setLevel, .setDefaultLevel, .muteUntil, .setMutedAllow, .setAllowForce, .addQuietWindow,
      .removeQuietWindow, .clearQuietWindows, .addKeyword, .removeKeyword, .addSender,
      .removeSender, .setImportant, .setFollow, .setRoles, .setTimeZone, .addMember,
      .removeMember, .removeUser, .removeConversation, .bindToken, .unbindToken,
      .setDeviceState:
      true
    // Of the app, of older clients, or of the command alone.
    case .setNoDisturbing, .setConversationNotificationStatus, .setAdvancedPush,
      .setDevicePolicy, .setTemplate, .removeTemplate, .setAppKeyLevel, .setAppLevel,
      .setMessageNotification, .updatePushDisplayStyle, .setRemark, .setOfflineMessages,
      .kickDevice, .logOutDevice, .removeDevice:
      false
    }
  }
}
