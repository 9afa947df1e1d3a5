internal import CPushFiles
public import PushContent

/// Reads an app's templates from NDJSON.
///
/// - Source: formats.md, "templates.ndjson".
public enum TemplateReader {
  /// Loads the templates of several files.
  ///
  /// - Throws: the problem of the first line that is not understood.
  /// - Complexity: O(bytes).
  public static func load(_ paths: [String]) throws(FileProblem) -> TemplateCatalog {
    try load(paths.map { .path($0) })
  }

  /// Loads templates from bytes, as a file of that name would be read.
  ///
  /// - Throws: as ``load(_:)``.
  public static func load(
    _ bytes: [UInt8], name: String = "templates.ndjson"
  ) throws(FileProblem) -> TemplateCatalog {
    try load([.bytes(bytes, name: name)])
  }

  private static func load(_ sources: [FileSource]) throws(FileProblem) -> TemplateCatalog {
    var catalog = TemplateCatalog()
    let (problems, _) = RecordFiles.read(sources, of: "template", keepsAll: false) {
      (line) throws(FileProblem.Problem) in try add(line, to: &catalog)
    }
    if let first = problems.first { throw first }
    return catalog
  }

  /// Reads files to find everything that is wrong with them.
  ///
  /// - Returns: the templates that were understood, the problems in the order of files and lines,
  ///   and the number of records.
  public static func check(
    _ paths: [String]
  ) -> (templates: TemplateCatalog, problems: [FileProblem], records: Int) {
    var catalog = TemplateCatalog()
    let (problems, count) = RecordFiles.read(
      paths.map { .path($0) }, of: "template", keepsAll: true
    ) { (line) throws(FileProblem.Problem) in try add(line, to: &catalog) }
    return (catalog, problems, count)
  }

  private static func add(
    _ line: JSONValue, to catalog: inout TemplateCatalog
  ) throws(FileProblem.Problem) {
    var name: String?
    var title: String?
    var content: String?
    for (key, value) in line.fields {
      switch key {
      case "kind": break
      case "name": name = try value.text("name")
      case "title", "title_pattern":
        if title != nil { throw .fieldTwice("title", "title_pattern") }
        title = try value.text(key.text)
      case "content", "content_pattern":
        if content != nil { throw .fieldTwice("content", "content_pattern") }
        content = try value.text(key.text)
      default: throw .unknownField(key.text, among: ["kind", "name", "title", "content"])
      }
    }
    guard let name else { throw .missingField("name") }
    guard let content else { throw .missingField("content") }
    do throws(TemplateProblem) {
      try catalog.add(try PushTemplate(name: name, title: title ?? "", content: content))
    } catch {
      throw .template(name, error)
    }
  }
}
