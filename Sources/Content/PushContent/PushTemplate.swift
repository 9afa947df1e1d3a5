internal import PushModel

/// A named title and content.
public struct PushTemplate: Hashable, Sendable {
  /// The most characters a name has.
  public static let nameLimit = 64

  /// 1 to 64 letters of ASCII, digits and underscores.
  public let name: String
  /// May be empty: then the push has no title.
  public let title: TemplateText
  /// Never empty before its arguments are filled in.
  public let content: TemplateText
  /// The title as it was written.
  public let titleSource: String
  /// The content as it was written.
  public let contentSource: String

  /// Takes a template apart.
  ///
  /// - Throws: what is wrong with it.
  /// - Complexity: O(bytes).
  public init(name: String, title: String, content: String) throws(TemplateProblem) {
    guard Self.isName(name) else { throw .badName(name) }
    if content.isEmpty { throw .emptyContent(name) }
    self.name = name
    self.title = try TemplateText(title)
    self.content = try TemplateText(content)
    titleSource = title
    contentSource = content
  }

  /// Whether a template may be called so: 1 to 64 letters of ASCII, digits and underscores.
  public static func isName(_ text: String) -> Bool {
    (1...nameLimit).contains(text.utf8.count) && text.utf8.allSatisfy { $0.isNameCharacter }
  }
}

/// What is wrong with a template.
///
/// Every case has a stable ``code``; the text may be reworded.
public enum TemplateProblem: Error, Hashable, Sendable {
  /// Not 1 to 64 of A-Z, a-z, 0-9 and the underscore.
  case badName(String)
  /// A content without a character.
  case emptyContent(String)
  /// `{$name}` of an unknown argument.
  case unknownArgument(String)
  /// `{n}` of a number over ``TemplateText/maximumArgument``.
  case argumentOutOfRange(String)
  /// `{0}` or `{$msg}` behind several backslashes.
  case ambiguousEscape(String)
  /// Two templates of one name.
  case repeatedName(String)

  /// The stable code of the case, such as `template.name`.
  public var code: String {
    switch self {
    case .badName: "template.name"
    case .emptyContent: "template.empty-content"
    case .unknownArgument: "template.unknown-argument"
    case .argumentOutOfRange: "template.argument-range"
    case .ambiguousEscape: "template.ambiguous-escape"
    case .repeatedName: "template.repeated-name"
    }
  }
}

extension TemplateProblem: CustomStringConvertible {
  public var description: String {
    switch self {
    case .badName(let name):
      "\"\(name)\" is not a template name: a name has 1 to 64 of the characters A-Z, a-z, 0-9 and _"
    case .emptyContent(let name): "the template \"\(name)\" has no content"
    case .unknownArgument(let name):
      "{$\(name)} is not an argument; the arguments are {$dynamicFrom}, {$fromNickname}, {$msg} "
        + "and {0} to {\(TemplateText.maximumArgument)}; \(Self.escape("{$\(name)}"))"
    case .argumentOutOfRange(let digits):
      "{\(digits)} is not in {0} to {\(TemplateText.maximumArgument)}; \(Self.escape("{\(digits)}"))"
    case .ambiguousEscape(let placeholder):
      "several backslashes before \(placeholder): one makes it text, and a backslash that is to stand "
        + "before what is filled in must be filled in itself"
    case .repeatedName(let name): "a second template \"\(name)\""
    }
  }

  /// How a placeholder is written that is to be text.
  private static func escape(_ placeholder: String) -> String {
    "as text it is \\\(placeholder), in JSON \\\\\(placeholder)"
  }
}

/// An app's templates by name.
///
/// A name is looked for by its characters: what only looks like one names no template.
public struct TemplateCatalog: Hashable, Sendable {
  /// What is shown when nothing else is asked for.
  public static let defaultName = "default"
  /// What is shown to those who want a summary of the message.
  public static let detailName = "detail"

  private var templates: [Identifier: PushTemplate] = [:]

  /// An empty catalog.
  public init() {}

  /// A catalog of templates.
  ///
  /// - Throws: ``TemplateProblem/repeatedName(_:)``.
  public init(_ templates: some Sequence<PushTemplate>) throws(TemplateProblem) {
    for template in templates { try add(template) }
  }

  /// Replaces the template of a name; nil removes it.
  package mutating func set(_ name: String, _ template: PushTemplate?) {
    templates[Identifier(name)] = template
  }

  /// All templates, in the order of their names' bytes.
  public var sorted: [PushTemplate] {
    templates.values.sorted { $0.name < $1.name }
  }

  /// How many templates there are.
  public var count: Int { templates.count }

  /// The template of a name; nil for none.
  public subscript(name: String) -> PushTemplate? { templates[Identifier(name)] }

  /// - Throws: ``TemplateProblem/repeatedName(_:)``; then nothing has changed.
  public mutating func add(_ template: PushTemplate) throws(TemplateProblem) {
    guard self[template.name] == nil else { throw .repeatedName(template.name) }
    templates[Identifier(template.name)] = template
  }
}
