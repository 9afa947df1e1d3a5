internal import HTTPTypes
internal import NIOCore

/// The files of the support page, which are part of the program.
enum PageFiles {
  struct File: Sendable {
    let type: String
    /// Shared by all answers: what waits for its client takes no more memory.
    let bytes: ByteBuffer
    /// Changes when the bytes do.
    let tag: String

    init(_ type: String, _ bytes: [UInt8]) {
      self.type = type
      self.bytes = ByteBuffer(bytes: bytes)
      tag = "\"" + Secret.hex(Array(Secret.sha256(bytes).prefix(12))) + "\""
    }
  }

  private static let script = "text/javascript; charset=utf-8"

  /// The files by their paths.
  static let files: [String: File] = [
    "/": File("text/html; charset=utf-8", PackageResources.index_html),
    "/page/page.css": File("text/css; charset=utf-8", PackageResources.page_css),
    "/page/main.js": File(script, PackageResources.main_js),
    "/page/answer.js": File(script, PackageResources.answer_js),
    "/page/dom.js": File(script, PackageResources.dom_js),
    "/page/question.js": File(script, PackageResources.question_js),
    "/page/server.js": File(script, PackageResources.server_js),
    "/page/times.js": File(script, PackageResources.times_js),
    "/page/week.js": File(script, PackageResources.week_js),
    "/page/whatif.js": File(script, PackageResources.whatif_js),
  ]

  /// What a page of ours may load, and who may show it: nothing from elsewhere, no script or style
  /// inside of HTML, no frame, no form that a browser would send by itself.
  static let policy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    + "connect-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'; "
    + "require-trusted-types-for 'script'"

  /// Header fields of everything that belongs to the page.
  static func protect(_ fields: inout HTTPFields) {
    fields[.contentSecurityPolicy] = policy
    fields[.xContentTypeOptions] = "nosniff"
    fields[HTTPField.Name("Referrer-Policy")!] = "no-referrer"
    fields[HTTPField.Name("Cross-Origin-Opener-Policy")!] = "same-origin"
    fields[HTTPField.Name("Cross-Origin-Resource-Policy")!] = "same-origin"
    fields[HTTPField.Name("X-Frame-Options")!] = "DENY"
  }

  /// A file's answer; nil for another path.
  static func answer(_ path: String, _ fields: HTTPFields) -> Answer? {
    guard let file = files[path] else { return nil }
    let isKnown = fields.matches(file.tag)
    var answer = Answer(file.type, .bytes(isKnown ? ByteBuffer() : file.bytes))
    if isKnown { answer.status = .notModified }
    answer.fields[.eTag] = file.tag
    answer.fields[.cacheControl] = "no-cache"
    protect(&answer.fields)
    return answer
  }
}
