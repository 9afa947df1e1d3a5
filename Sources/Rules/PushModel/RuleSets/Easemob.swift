extension RuleSet.Properties {
  static let easemob = RuleSet.Properties(
    vendorName: "Easemob", hasPushContent: true,
    kinds: [.private, .group, .thread, .room],
    threadParents: [.group],
    levels: .named(
      [.unset, .all, .mention, .blocked], orWritten: NotificationLevel.easemobSpelling),
    everyoneHidesNames: false,
    scopes: [.conversation, .app, .default],
    options: [
      .choice("zeroZeroMeans", \.easemob.zeroZeroMeans),
      .choice("intervalEnd", \.easemob.intervalEnd), .choice("forceScope", \.easemob.forceScope),
      .choice("flagConflict", \.easemob.flagConflict),
      .flag("atListAllInArray", \.easemob.atListAllInArray),
      .flag("atListStringAsId", \.easemob.atListStringAsID),
      .choice("atListIdCase", \.easemob.atListIDCase),
      .flag("atListLegacyApnsExt", \.easemob.atListLegacyAPNsExt),
      .flag("mentionBypassesDnd", \.easemob.mentionBypassesDND),
      .choice("singleChatMentionOnly", \.easemob.singleChatMentionOnly),
      .flag("pushTransparent", \.easemob.pushTransparent),
      .choice("threadScope", \.easemob.threadScope),
      .seconds("expireSeconds", \.easemob.expireSeconds),
    ],
    fields: [
      .devicePolicy, .advancedPush, .userLevel, .userMute, .memberMute, .quietInterval,
      .levelSpellings, .displayLanguage, .templates, .nickname, .force, .onlineOnly, .filter, .ext,
      .translations, .display, .anyName, .backgroundSince, .mentionLevel, .quietHoursObject,
      .deviceAddress,
    ])
}
