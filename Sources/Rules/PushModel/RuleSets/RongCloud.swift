extension RuleSet.Properties {
  static let rongcloud = RuleSet.Properties(
    vendorName: "RongCloud", hasPushContent: true,
    kinds: [.private, .group, .discussion, .customerService, .system, .ultraGroup, .room],
    threadParents: [.group],
    levels: .named(NotificationLevel.ofVendors) { text in
      guard let number = Int64(text), "\(number)" == text else { return nil }
      return try? NotificationLevel(rongCloudNumber: number)
    },
    everyoneHidesNames: true,
    scopes: [
      .quietHours, .channel, .conversation, .type, .channelDefault, .groupDefault, .appKey,
      .default,
    ],
    options: [
      .choice("singleMentionLevels", \.rongcloud.singleMentionLevels),
      .choice("quietZero", \.rongcloud.quietZero),
      .choice("ultraConversationLevel", \.rongcloud.ultraConversationLevel),
      .choice("boundary", \.rongcloud.boundary), .choice("span1439", \.rongcloud.span1439),
      .flag("mentionBypassesQuiet", \.rongcloud.mentionBypassesQuiet),
      .seconds("backgroundGraceSeconds", \.rongcloud.backgroundGraceSeconds),
    ],
    fields: [
      .appLevel, .messageNotification, .kindLevels, .quietSpan, .pushWhenDesktopOnline,
      .localNotification, .conversationLevel, .channels, .levelNumbers, .messageChannel,
      .isMentioned, .pushContent, .persisted, .backlog, .mentionedContent, .pushTitle, .objectName,
      .pushData, .display, .anyName, .backgroundSince, .mentionLevel, .quietHoursObject,
      .deviceAddress,
    ])
}
