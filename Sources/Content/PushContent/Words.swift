internal import PushModel

/// What of a recipient changes the words of a message.
///
/// Two are the same only when their texts are, character by character: otherwise the texts
/// that recipients share would depend on their order.
struct RecipientContext {
  var preferences = ContentDirectory.DisplayPreferences()
  /// What the recipient calls the sender.
  var remark: String?
  /// Whether the sender has another template for this recipient.
  var isDirected = false
  var isMentioned = false
  /// What of the recipient changes a request beside its words.
  var traits: RecipientTraits = []
}

/// What of a decision changes how a request's push is shown (S-28, S-29).
struct RecipientTraits: OptionSet, Hashable, Sendable {
  let rawValue: UInt8

  /// The push is one that force brought about.
  static let forced = Self(rawValue: 1)
  /// The message mentions the recipient.
  static let mentioned = Self(rawValue: 2)
  /// How many sets there are.
  static let setCount = 4
}

extension RecipientContext: Hashable {
  static func == (left: RecipientContext, right: RecipientContext) -> Bool {
    left.isDirected == right.isDirected && left.isMentioned == right.isMentioned
      && left.traits == right.traits
      && left.remark.exact == right.remark.exact && left.preferences == right.preferences
  }

  func hash(into hasher: inout Hasher) {
    hasher.combine(preferences)
    hasher.combine(remark.exact)
    hasher.combine(isDirected)
    hasher.combine(isMentioned)
    hasher.combine(traits)
  }
}

/// One source of text that was tried for a recipient.
public struct ContentStep: Hashable, Sendable {
  /// The source that was asked.
  public let source: ContentSource
  /// What was found there.
  public let found: String
  /// What of it is shown; nothing when a higher source counts or there is nothing.
  public let gives: [ContentField]
}

/// The vendors' own words.
enum VendorText {
  static let bannerTitle = "您有一条新消息"
  static let bannerBody = "请点击查看"
  /// RongCloud's, for those who want nothing of a message shown.
  static let hidden = "您收到了一条通知"
}

/// Takes the title and the body from sources, asked from the highest to the lowest.
struct ContentSelection {
  private(set) var content = RenderedContent()
  private(set) var steps: [ContentStep]?
  /// What is noted once the message's text is shown.
  var languageNote: ContentNote?
  private var hasTitle = false
  private var hasBody = false
  /// The vendor's text that replaces an invisible body.
  private let plainBody: String
  private var isBodyReplaced = false

  /// - Parameter isTraced: whether every source is asked for, so that it can be explained.
  init(isTraced: Bool, plainBody: String) {
    steps = isTraced ? [] : nil
    self.plainBody = plainBody
  }

  /// Whether there is nothing left to be asked for.
  var isDone: Bool { hasTitle && hasBody && steps == nil }

  /// Whether no source so far had a body.
  var needsBody: Bool { !hasBody }

  mutating func note(_ note: ContentNote) { content.notes.append(note) }

  mutating func setSubtitle(_ text: String?) { content.subtitle = text ?? "" }

  /// A source that is not there.
  mutating func pass(_ source: ContentSource, _ found: @autoclosure () -> String = "not set") {
    steps?.append(ContentStep(source: source, found: found(), gives: []))
  }

  /// Offers texts, nil for one that the source does not have.
  mutating func offer(
    _ source: ContentSource, title: String?, body: String?, _ found: @autoclosure () -> String
  ) {
    offer(
      source, title: title.map { LimitedText.limited($0) },
      body: body.map { LimitedText.limited($0) }, found())
  }

  /// Offers texts that have been put together.
  mutating func offer(
    _ source: ContentSource, title: LimitedText.Cut?, body: LimitedText.Cut?,
    _ found: @autoclosure () -> String
  ) {
    var gives: [ContentField] = []
    if let title, !hasTitle {
      hasTitle = true
      content.title = title.text
      content.titleSource = source
      noteAll(of: title, .title)
      gives.append(.title)
    }
    if let body, !hasBody {
      hasBody = true
      if body.text.isBlank {
        // The vendor's words and not the next source's: a sender who writes a blank over a text may
        // not want it shown.
        isBodyReplaced = true
        content.body = plainBody
        content.bodySource = .displayStyle
        note(.bodyBlank(source))
      } else {
        content.body = body.text
        content.bodySource = source
        noteAll(of: body, .body)
        gives.append(.body)
      }
    }
    if isBodyReplaced, source == .displayStyle { gives.append(.body) }
    steps?.append(ContentStep(source: source, found: found(), gives: gives))
  }

  private mutating func noteAll(of text: LimitedText.Cut, _ field: ContentField) {
    if text.saysMessage, let language = languageNote {
      note(language)
      languageNote = nil
    }
    if text.isCut { note(.cutOff(field)) }
  }

  /// Offers a template by its name; one that is missing or empty leaves a note.
  mutating func offer(
    _ source: ContentSource, template name: String, in catalog: TemplateCatalog,
    _ values: TemplateValues, _ arguments: (title: [TemplateText], content: [TemplateText])
  ) {
    guard let template = catalog[name] else {
      if !(hasTitle && hasBody) { note(.templateMissing(source, name: name)) }
      return pass(source, "\"\(name)\", which does not exist")
    }
    if hasTitle && hasBody { return pass(source, "\"\(name)\"") }
    var (title, body) = (LimitedText(), LimitedText())
    let missing = (
      title: template.title.append(to: &title, values, arguments.title),
      body: template.content.append(to: &body, values, arguments.content)
    )
    let texts = (title: title.text, body: body.text)
    if texts.body.text.isEmpty {
      note(.bodyEmpty(source, name: name))
      return pass(source, "\"\(name)\", which comes out empty")
    }
    if !hasTitle, let index = missing.title { note(.argumentMissing(source, .title, index: index)) }
    if !hasBody, let index = missing.body { note(.argumentMissing(source, .body, index: index)) }
    offer(source, title: texts.title, body: texts.body, "\"\(name)\"")
  }
}

extension String? {
  /// The text as it is compared where it must be kept as it was written: Swift calls "é" and
  /// "e\u{301}" equal.
  var exact: Identifier? { map { Identifier($0) } }

  /// nil for an empty text, which counts as absent.
  var saying: String? { self?.isEmpty == true ? nil : self }
}

extension String {
  /// nil for an empty text, which counts as absent.
  var saying: String? { isEmpty ? nil : self }

  /// Whether nothing of it is seen: white space, control characters and characters without a width,
  /// which are Unicode's `White_Space`, `Cc` and `Default_Ignorable_Code_Point`.
  ///
  /// - Complexity: O(1) for most texts, as the first character that is seen decides.
  var isBlank: Bool {
    unicodeScalars.allSatisfy { scalar in
      let properties = scalar.properties
      return properties.isWhitespace || properties.isDefaultIgnorableCodePoint
        || properties.generalCategory == .control
    }
  }
}
