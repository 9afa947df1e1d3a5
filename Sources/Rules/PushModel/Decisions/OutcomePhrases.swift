/// Every outcome in words.
///
/// - Source: decision-rules.md, sections 4 and 5; docs/outcome-codes.csv has the outcomes.
public enum OutcomePhrases {
  /// What an outcome means; of one that is not known its key, as a later version may have more.
  public static func phrase(_ action: String, _ reason: String, _ scope: String?) -> String {
    phrase(key: [action, reason, scope].compactMap { $0 }.joined(separator: "/"))
  }

  /// The same of a key like `push/allowed/default`.
  public static func phrase(key: String) -> String { phrases[key] ?? key }

  package static let phrases: [String: String] = [
    "push/allowed/quietHours": "Pushed: the level inside quiet hours lets it pass",
    "local/allowed/quietHours":
      "Shown by the app itself: the level inside quiet hours lets it pass",
    "push/forced/quietHours": "Pushed by force, over the level inside quiet hours",
    "none/levelNone/quietHours": "Stopped: the level inside quiet hours is none",
    "push/allowed/channel": "Pushed: the level set for the channel lets it pass",
    "none/notMentioned/quietHours":
      "Stopped, no mention: the level inside quiet hours admits mentions only",
    "push/forced/channel": "Pushed by force, over the level set for the channel",
    "none/directChatLevel/quietHours":
      "Stopped in a direct chat: the level inside quiet hours admits mentions only",
    "push/allowed/conversation": "Pushed: the level set for the conversation lets it pass",
    "local/allowed/channel": "Shown by the app itself: the level set for the channel lets it pass",
    "push/forced/conversation": "Pushed by force, over the level set for the conversation",
    "none/levelNone/channel": "Stopped: the level set for the channel is none",
    "push/allowed/type": "Pushed: the level of this type of conversation lets it pass",
    "none/notMentioned/channel":
      "Stopped, no mention: the level set for the channel admits mentions only",
    "push/forced/type": "Pushed by force, over the level of this type of conversation",
    "none/directChatLevel/channel":
      "Stopped in a direct chat: the level set for the channel admits mentions only",
    "push/allowed/channelDefault": "Pushed: the channel's default level lets it pass",
    "local/allowed/conversation":
      "Shown by the app itself: the level set for the conversation lets it pass",
    "push/forced/channelDefault": "Pushed by force, over the channel's default level",
    "none/levelNone/conversation": "Stopped: the level set for the conversation is none",
    "push/allowed/groupDefault": "Pushed: the group's default level lets it pass",
    "none/notMentioned/conversation":
      "Stopped, no mention: the level set for the conversation admits mentions only",
    "push/forced/groupDefault": "Pushed by force, over the group's default level",
    "none/directChatLevel/conversation":
      "Stopped in a direct chat: the level set for the conversation admits mentions only",
    "push/allowed/appKey": "Pushed: the App Key's level lets it pass",
    "local/allowed/type":
      "Shown by the app itself: the level of this type of conversation lets it pass",
    "push/forced/appKey": "Pushed by force, over the App Key's level",
    "none/levelNone/type": "Stopped: the level of this type of conversation is none",
    "push/allowed/app": "Pushed: the user's own level lets it pass",
    "none/notMentioned/type":
      "Stopped, no mention: the level of this type of conversation admits mentions only",
    "push/forced/app": "Pushed by force, over the user's own level",
    "none/directChatLevel/type":
      "Stopped in a direct chat: the level of this type of conversation admits mentions only",
    "push/allowed/default": "Pushed: no level set anywhere",
    "local/allowed/channelDefault":
      "Shown by the app itself: the channel's default level lets it pass",
    "push/forced/default": "Pushed by force; no level set anywhere",
    "none/levelNone/channelDefault": "Stopped: the channel's default level is none",
    "none/notMentioned/channelDefault":
      "Stopped, no mention: the channel's default level admits mentions only",
    "none/directChatLevel/channelDefault":
      "Stopped in a direct chat: the channel's default level admits mentions only",
    "local/allowed/groupDefault":
      "Shown by the app itself: the group's default level lets it pass",
    "none/levelNone/groupDefault": "Stopped: the group's default level is none",
    "none/notMentioned/groupDefault":
      "Stopped, no mention: the group's default level admits mentions only",
    "none/directChatLevel/groupDefault":
      "Stopped in a direct chat: the group's default level admits mentions only",
    "local/allowed/appKey": "Shown by the app itself: the App Key's level lets it pass",
    "none/levelNone/appKey": "Stopped: the App Key's level is none",
    "none/notMentioned/appKey":
      "Stopped, no mention: the App Key's level admits mentions only",
    "none/directChatLevel/appKey":
      "Stopped in a direct chat: the App Key's level admits mentions only",
    "local/allowed/app": "Shown by the app itself: the user's own level lets it pass",
    "none/levelNone/app": "Stopped: the user's own level is none",
    "none/notMentioned/app":
      "Stopped, no mention: the user's own level admits mentions only",
    "none/directChatLevel/app":
      "Stopped in a direct chat: the user's own level admits mentions only",
    "local/allowed/default": "Shown by the app itself: no level set anywhere",
    "none/levelNone/default": "Stopped: the level is none by default",
    "none/notMentioned/default": "Stopped, no mention: the default level admits mentions only",
    "none/directChatLevel/default":
      "Stopped in a direct chat: the default level admits mentions only",
    "none/quietHours/quietHours": "Stopped by quiet hours: their level is none",
    "none/quietHours/app": "Stopped by the user's quiet hours",
    "none/muted/app": "Stopped by the user's mute",
    "none/muted/conversation": "Stopped by the conversation's mute",
    "none/chatRoom": "Never pushed: a chat room",
    "none/onlineOnly": "Never pushed: a message for those who are online only",
    "none/messageType": "Never pushed: a message of this type",
    "none/silentMessage": "Never pushed: the sender asked for silence",
    "none/expired": "Too old to be pushed",
    "none/online": "Not needed: the recipient was connected",
    "none/kicked": "No device: all had been kicked",
    "none/loggedOut": "No device: all were logged out",
    "none/noToken": "No device: none that was offline had a push token",
    "none/filtered": "No device: the message's filter left none",
    "none/localIneligible": "In the background: such a message is not shown",
    "none/localDisabled": "In the background: message notifications are switched off",
    "none/localInfoMissing": "In the background: names that a notification shows are missing",
    "none/localHandledByApp": "In the background: the app's own callback took it",
    "push/allowed/thread": "Pushed: the level set for the thread lets it pass",
    "push/forced/thread": "Pushed by force; the level set for the thread lets it pass",
    "none/levelNone/thread": "Stopped: the level set for the thread is none",
    "none/levelExcludes/thread":
      "Stopped: the level set for the thread does not take such messages",
    "push/allowed/user": "Pushed: the user's level for everything lets it pass",
    "push/forced/user": "Pushed by force; the user's level for everything lets it pass",
    "none/levelNone/user": "Stopped: the user's level for everything is none",
    "none/levelExcludes/user":
      "Stopped: the user's level for everything does not take such messages",
    "push/allowed/conversationDefault": "Pushed: the conversation's default level lets it pass",
    "push/forced/conversationDefault":
      "Pushed by force; the conversation's default level lets it pass",
    "none/levelNone/conversationDefault": "Stopped: the conversation's default level is none",
    "none/levelExcludes/conversationDefault":
      "Stopped: the conversation's default level does not take such messages",
    "push/allowed/appDefault": "Pushed: the app's default level lets it pass",
    "push/forced/appDefault": "Pushed by force; the app's default level lets it pass",
    "none/levelNone/appDefault": "Stopped: the app's default level is none",
    "none/levelExcludes/appDefault":
      "Stopped: the app's default level does not take such messages",
    "none/levelExcludes/conversation":
      "Stopped: the level set for the conversation does not take such messages",
    "none/muted/thread": "Stopped by the thread's mute",
    "none/muted/user": "Stopped by the user's own mute",
    "none/quietHours/user": "Stopped by the user's own quiet hours",
    "none/quietHours/appDefault": "Stopped by the app's quiet hours",
    "none/senderBlocked": "Never pushed: the recipient blocks the sender",
    "none/notFollowing": "Not concerned: the recipient does not follow the thread",
  ]
}

extension Outcome {
  /// What the outcome means, in words.
  public var phrase: String { OutcomePhrases.phrase(key: key) }
}
