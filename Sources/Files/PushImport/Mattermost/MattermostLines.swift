/// What lines of an export say, as far as it takes no table that later lines change. Texts stand
/// one after the other in ``texts``.
struct MattermostLines: Sendable {
  /// A part of ``texts``.
  struct Text: Sendable {
    var start: UInt32 = 0
    var count: UInt32 = 0
    var range: Range<Int> { Int(start)..<Int(start + count) }
  }

  enum Record: Sendable {
    /// A number among ``users``.
    case user(Int)
    /// `TEAM/CHANNEL`.
    case channel(String, isArchived: Bool)
    case bot(String)
    case direct([(name: String, props: MattermostMemberProps)])
    /// A number among ``posts``.
    case post(Int)
    case unknown
  }

  var texts: [UInt8] = []
  var records: [(record: Record, line: Int)] = []
  var users: [MattermostUser] = []
  /// Of users.
  var memberships: [MattermostMembership] = []
  /// Of users, what the report counts.
  var counts: [(kind: UnsaidKind, count: Int)] = []
  /// Behind a post its replies.
  var posts: [MattermostPost] = []
  /// Of posts, the names that may be mentions.
  var candidates: [(text: Text, dropsSigns: Bool)] = []
  /// Of posts with replies, who follows.
  var followers: [Text] = []

  mutating func add(_ text: some Collection<UInt8>) -> Text {
    let start = texts.count
    texts.append(contentsOf: text)
    return self.text(from: start)
  }

  /// Adds two texts with a slash between them.
  mutating func add(_ first: UnsafeRawBufferPointer, _ second: UnsafeRawBufferPointer) -> Text {
    let start = texts.count
    unsafe texts.append(contentsOf: first)
    texts.append(UInt8(ascii: "/"))
    unsafe texts.append(contentsOf: second)
    return self.text(from: start)
  }

  /// The end of ``texts``.
  func text(from start: Int) -> Text {
    Text(start: UInt32(start), count: UInt32(texts.count - start))
  }
}

struct MattermostUser: Sendable {
  let name: String
  let isDeactivated: Bool
  /// With what overlays say.
  let push: MattermostPushProps
  let keywords: [String]
  /// What the record says behind the id.
  let record: MattermostLines.Text
  let counts: Range<Int>
  let memberships: Range<Int>
}

struct MattermostMembership: Sendable {
  /// Where a channel is.
  enum Channel: Sendable {
    case named(MattermostLines.Text)
    case found(UInt32)
    case archived
    case unknown
  }

  let channel: Channel
  let record: ImportedMember
  let unknownValues: Int
}

struct MattermostPost: Sendable {
  /// 0 for a post, n for its n-th reply.
  var reply = 0
  var conversation = MattermostLines.Text()
  /// Whether it is in a direct channel of at most two people, where nothing is looked up.
  var isOfTwo = false
  var author = MattermostLines.Text()
  var at: Int64 = 0
  var text = MattermostLines.Text()
  var candidates = 0..<0
  var followers = 0..<0
  /// How many replies follow, a record each.
  var replyCount = 0
  var isSystem = false
  var isWebhook = false
  var isForced = false
}
