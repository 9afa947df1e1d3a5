public import PushModel

/// What rendering a message needs to know of it, the same for all threads.
struct RenderingPlan: Sendable {
  let directory: ContentDirectory
  let layout: PayloadLayout
  private let words: Words
  /// The remarks that users have set for the sender.
  private let remarks: IdentifierMap<String>
  /// The users with another template of the sender, in lower case.
  private let targets: Set<Identifier>
  private let mentioned: Set<Identifier>
  private let mentionsEveryone: Bool

  init(
    _ renderer: ContentRenderer, _ message: Message, _ content: MessageContent,
    _ form: PayloadForm = .push, for sender: PushSender? = nil
  ) {
    precondition(
      form == .push || renderer.rules.fields.contains(.localNotification),
      "local notifications are RongCloud's (R-53)")
    directory = renderer.directory
    let conversation = directory.conversation(message.conversation)
    let senderName = message.sender.map { renderer.directory.pushName(of: $0) } ?? ""
    remarks = message.sender.map { renderer.directory.remarks(of: $0) } ?? IdentifierMap()
    let parts = VendorParts(
      renderer, message, content, form, for: sender, conversation.kind, name: conversation.name,
      senderName: senderName)
    words = parts.words
    layout = parts.layout
    targets = parts.targets
    mentioned = parts.mentioned
    mentionsEveryone = parts.mentionsEveryone
  }

  /// What of a recipient changes the words.
  func context(_ recipient: Identifier) -> RecipientContext {
    var context = own(recipient)
    let appearance = directory.appearance(of: recipient)
    context.preferences = directory.distinctPreferences[Int(appearance.preferencesIndex)]
    return context
  }

  /// What makes a recipient differ from others, but for the preferences.
  func own(_ recipient: Identifier) -> RecipientContext {
    var context = RecipientContext()
    context.remark = remarks[recipient]
    context.isDirected = isDirected(recipient)
    context.isMentioned = mentionsEveryone || mentioned.contains(recipient)
    return context
  }

  /// Whether a recipient is like all others of the same preferences.
  @inline(__always)
  func isUsual(_ recipient: Identifier) -> Bool {
    if remarks.contains(recipient) { return false }
    if !targets.isEmpty, isDirected(recipient) { return false }
    return mentioned.isEmpty || !mentioned.contains(recipient)
  }

  private func isDirected(_ recipient: Identifier) -> Bool {
    !targets.isEmpty && targets.contains(recipient.lowercased())
  }

  func choose(for context: RecipientContext, isTraced: Bool = false) -> ContentSelection {
    var selection = ContentSelection(isTraced: isTraced, plainBody: layout.plainBody)
    words.choose(for: context, &selection)
    return selection
  }
}

/// Renders one message, one recipient at a time.
///
/// The words are put together once for all recipients who see the same; for each of them, what is
/// their own is put between what all have.
///
/// - Complexity: O(bytes of the payload) a recipient, and without asking for memory, when others
///   before saw the same words and it need not be shortened.
public struct MessageRenderer: PieceRenderer {
  /// Words that some recipients see.
  private struct Variant: Sendable {
    let words: RenderedContent
    let template: PayloadTemplate
    /// The payload up to the badge with a shortened body, by the bytes of what is a recipient's
    /// own.
    var shortened: [Int: [UInt8]] = [:]
  }

  /// How a recipient's payload came about.
  struct State {
    var isShortened = false
    var problem: ContentProblem?
  }

  /// How many variants are kept from one piece of work to the next.
  private static let keptVariants = 256
  /// How many bytes of variants are kept.
  private static let keptBytes = 4 << 20
  /// With more preferences than this they are looked up, not listed.
  private static let listedPreferences = 4_096

  /// So many recipients are looked up in a row.
  static let lookAhead = 32

  let plan: RenderingPlan
  private let limit: Int
  private var variants: [Variant] = []
  /// About how much memory the variants take.
  private(set) var variantBytes = 0
  /// The variant of recipients that differ only in their preferences and traits, plus one, by the
  /// preferences' index and the traits.
  private var byPreferences: [UInt32] = []
  /// The variant of the others.
  private var byContext: [RecipientContext: Int] = [:]
  /// The vendor's plainest words, from those with the most beside them to those with the least, by
  /// traits.
  private var fallbacks: [RecipientTraits: [Int]] = [:]
  /// How many sets of traits are told apart.
  private let traitSets: Int

  init(_ plan: RenderingPlan) {
    self.plan = plan
    limit = plan.layout.limit
    traitSets = plan.layout.traits.isEmpty ? 1 : RecipientTraits.setCount
    removeVariants()
  }

  private mutating func removeVariants() {
    variants = []
    variantBytes = 0
    byContext = [:]
    fallbacks = [:]
    let count = plan.directory.distinctPreferences.count * traitSets
    byPreferences = Array(repeating: 0, count: count <= Self.listedPreferences ? count : 0)
  }

  /// Appends the payload of a recipient.
  ///
  /// - Returns: why it is not that of the message's content, but the vendor's plainest words; nil
  ///   when it is.
  @discardableResult
  public mutating func append(
    _ recipient: Identifier, to bytes: inout [UInt8]
  ) -> ContentProblem? {
    if hasManyVariants { removeVariants() }
    return append(recipient, plan.directory.appearance(of: recipient), to: &bytes).state.problem
  }

  /// The payload of a recipient, with its words.
  public mutating func render(_ recipient: Identifier) -> RenderedPush {
    if hasManyVariants { removeVariants() }
    var bytes: [UInt8] = []
    let (words, state) = append(recipient, plan.directory.appearance(of: recipient), to: &bytes)
    return RenderedPush(
      recipient: recipient, payload: bytes[...], content: variants[words].words,
      isShortened: state.isShortened, problem: state.problem)
  }

  /// Whether more variants are kept than a caller that renders one recipient at a time reuses.
  private var hasManyVariants: Bool {
    variants.count > ContentRenderer.pieceSize || variantBytes > Self.keptBytes * 16
  }

  mutating func piece(
    _ recipients: ArraySlice<Identifier>, byteLimit: Int
  ) -> Piece<RenderedStream.Item> {
    var piece = Piece<RenderedStream.Item>()
    trim()
    let before = variantBytes
    piece.items.reserveCapacity(recipients.count)
    var appearances: [ContentDirectory.Appearance] = []
    for (index, recipient) in recipients.enumerated() {
      // Reads in a row wait for memory at the same time.
      if index % Self.lookAhead == 0 {
        appearances = recipients.dropFirst(index).prefix(Self.lookAhead).map {
          plan.directory.appearance(of: $0)
        }
      }
      let (words, state) = append(recipient, appearances[index % Self.lookAhead], to: &piece.bytes)
      if piece.items.isEmpty {
        // Most payloads of a message are about as long as the first.
        let expected = piece.bytes.count * recipients.count * 17 / 16
        piece.bytes.reserveCapacity(min(expected, byteLimit))
      }
      piece.items.append(
        RenderedStream.Item(end: piece.bytes.count, words: UInt32(words), state: state))
      piece.byteCount = piece.bytes.count + variantBytes - before
      if piece.byteCount > byteLimit { break }
    }
    piece.words = [words]
    return piece
  }

  /// Keeps few variants from one piece of work to the next.
  mutating func trim() {
    if variants.count > Self.keptVariants || variantBytes > Self.keptBytes { removeVariants() }
  }

  /// The words of all variants.
  var words: [RenderedContent] { variants.map(\.words) }

  /// Whether payloads of some words name their recipient.
  func namesRecipient(_ words: Int) -> Bool { variants[words].template.namesRecipient }

  mutating func append(
    _ recipient: Identifier, _ appearance: ContentDirectory.Appearance,
    _ traits: RecipientTraits = [], to bytes: inout [UInt8]
  ) -> (words: Int, state: State) {
    let traits = traitSets == 1 ? [] : traits.intersection(plan.layout.traits)
    let (variant, badge) = (variant(of: recipient, appearance, traits), appearance.offlineMessages)
    let start = bytes.count
    variants[variant].template.append(recipient, badge: badge, to: &bytes)
    if bytes.count - start <= limit { return (variant, State()) }
    bytes.removeLast(bytes.count - start)
    return appendShortened(variant, recipient, badge, traits, to: &bytes)
  }

  @inline(__always)
  private mutating func variant(
    of recipient: Identifier, _ appearance: ContentDirectory.Appearance, _ traits: RecipientTraits
  ) -> Int {
    let preferencesIndex = Int(appearance.preferencesIndex)
    let listIndex = preferencesIndex &* traitSets &+ Int(traits.rawValue)
    let isListed = listIndex < byPreferences.count && plan.isUsual(recipient)
    if isListed, byPreferences[listIndex] != 0 {
      return Int(byPreferences[listIndex]) - 1
    }
    let index = variant(plan.own(recipient), preferencesIndex, traits)
    if isListed { byPreferences[listIndex] = UInt32(index) + 1 }
    return index
  }

  private mutating func variant(
    _ context: RecipientContext, _ preferencesIndex: Int, _ traits: RecipientTraits
  ) -> Int {
    var context = context
    context.preferences = plan.directory.distinctPreferences[preferencesIndex]
    context.traits = traits
    if let index = byContext[context] { return index }
    let words = plan.choose(for: context).content
    byContext[context] = variants.count
    return add(words, plan.layout.template(words, traits))
  }

  private mutating func add(_ words: RenderedContent, _ template: PayloadTemplate) -> Int {
    variants.append(Variant(words: words, template: template))
    variantBytes += words.title.utf8.count + words.body.utf8.count + template.byteCount
    return variants.count - 1
  }

  private mutating func appendShortened(
    _ variant: Int, _ recipient: Identifier, _ badge: UInt32, _ traits: RecipientTraits,
    to bytes: inout [UInt8]
  ) -> (words: Int, state: State) {
    let template = variants[variant].template
    let known = variants[variant].shortened.count
    do throws(ContentProblem) {
      try template.appendShortened(
        recipient, badge: badge, limit: limit, to: &bytes, &variants[variant].shortened)
      if variants[variant].shortened.count > known { variantBytes += limit }
      return (variant, State(isShortened: true))
    } catch {
      return appendFallback(recipient, badge, traits, State(problem: error), to: &bytes)
    }
  }

  /// Appends the vendor's plainest words, with as much of what is beside them as has room.
  private mutating func appendFallback(
    _ recipient: Identifier, _ badge: UInt32, _ traits: RecipientTraits, _ state: State,
    to bytes: inout [UInt8]
  ) -> (words: Int, state: State) {
    if fallbacks[traits] == nil {
      // What has no room without anybody's id is not tried again and again.
      let possible = plan.layout.fallbacks(traits).filter { $0.template.leastSize <= limit }
      fallbacks[traits] = possible.map { add($0.words, $0.template) }
    }
    let start = bytes.count
    for index in fallbacks[traits] ?? [] {
      variants[index].template.append(recipient, badge: badge, to: &bytes)
      if bytes.count - start <= limit { return (index, state) }
      bytes.removeLast(bytes.count - start)
    }
    preconditionFailure("fixed words have room")
  }
}
