public import PushModel

/// The fields of a message that determine the content of its push.
///
/// An empty text counts as absent, except for a sound.
///
/// - Source: docs/formats.md, "What a push says".
public struct MessageContent: Hashable, Sendable {
  /// The message's text; nil for a message without one, like a picture.
  public var text: String?
  /// The text in other languages (Easemob).
  public var translations: [LanguageTag: String] = [:]

  // Easemob's, all of them in `ext`
  /// `em_apns_ext`.
  public var apns = APNsExtension()
  /// `em_push_ext`.
  public var push = PushExtension()
  /// `em_push_template`.
  public var template = TemplateUse()

  // RongCloud's, beside `Message.pushContent`
  /// What mentioned recipients see, instead of anything else.
  public var mentionedContent: String?
  /// The title of the push; nil for the default.
  public var pushTitle: String?
  /// The type of the message, like `RC:TxtMsg`; nil for that of its body.
  public var objectName: String?
  /// `appData` in the payload.
  public var pushData: String?

  /// What only requests look at.
  public var requests = RequestFields()

  /// Content with a text and nothing else.
  public init(text: String? = nil) { self.text = text }

  /// `em_apns_ext`: fields for Apple's devices only.
  public struct APNsExtension: Hashable, Sendable {
    /// `em_push_title`
    public var title: String?
    /// `em_alert_subTitle`
    public var subtitle: String?
    /// `em_push_content`
    public var content: String?
    /// `em_push_badge`, instead of the number of offline messages.
    public var badge: UInt32?
    /// `em_push_sound`; empty for silence.
    public var sound: String?
    /// `em_push_mutable_content`
    public var isMutable = false
    /// `em_push_content_available`
    public var isContentAvailable = false
    /// `em_push_category`
    public var category: String?
    /// `thread_id`
    public var threadID: String?
    /// `extern`: `e` in the payload.
    public var extra: RawJSON?

    /// Nothing set.
    public init() {}
  }

  /// `em_push_ext`: fields for all devices. A field that is in `em_apns_ext` too counts there.
  public struct PushExtension: Hashable, Sendable {
    /// `title`: the title of the push.
    public var title: String?
    /// `content`: the body of the push.
    public var content: String?
    /// `custom`: `e` in the payload.
    public var custom: RawJSON?
    /// `group_user_nickname`: the sender's nickname in the group.
    public var groupNickname: String?

    /// Nothing set.
    public init() {}
  }

  /// What only requests look at (S-4), by either vendor's names. An empty text counts as absent.
  public struct RequestFields: Hashable, Sendable {
    /// `em_apns_ext.em_push_collapse_key`, `iOSConfig.apnsCollapseId`.
    public var collapseID: String?
    /// `iOSConfig.threadId`
    public var threadID: String?
    /// `iOSConfig.category`
    public var category: String?
    /// `iOSConfig.richMediaUri`
    public var richMedia: String?
    /// `iOSConfig.interruptionLevel`
    public var level: InterruptionLevel?
    /// `em_android_push_ext.fcm_channel_id`, `androidConfig.fcmChannelId`.
    public var channel: String?
    /// `androidConfig.fcmCollapseKey`
    public var collapseKey: String?
    /// `androidConfig.fcmImageUrl`
    public var image: String?
    /// `em_android_push_ext.fcm_options.analytics_label`
    public var analyticsLabel: String?
    /// `disablePushTitle`: an alert of Apple's has no title (S-32).
    public var hidesTitle = false
    /// `forceShowDetailContent`: also those who want nothing shown see what it says (S-32).
    public var showsDetail = false

    /// Nothing set.
    public init() {}
  }

  /// `em_push_template`.
  public struct TemplateUse: Hashable, Sendable {
    /// The sender's choice; without one the arguments are for whatever template comes out.
    public var name: String?
    /// The values of `{0}`, `{1}` and so on in the template's title.
    public var titleArguments: [String] = []
    /// The values of `{0}`, `{1}` and so on in the template's content.
    public var contentArguments: [String] = []
    /// `directed_template`: another template for some of a group.
    public var directed: Directed?

    /// No template and no arguments.
    public init() {}

    /// A template that the sender has chosen for some recipients.
    public struct Directed: Hashable, Sendable {
      /// The recipients, in lower case; an id with a capital letter matches no user, as the vendor
      /// defines it.
      public var targets: [Identifier] = []
      /// The template's name.
      public var name: String
      /// The values of `{0}`, `{1}` and so on in the template's title.
      public var titleArguments: [String] = []
      /// The values of `{0}`, `{1}` and so on in the template's content.
      public var contentArguments: [String] = []

      /// A template without recipients and arguments.
      public init(name: String) { self.name = name }
    }
  }
}
