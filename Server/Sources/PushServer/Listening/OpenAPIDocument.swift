internal import Foundation
internal import NIOCore

/// The description of the interface, openapi.json of this module.
enum OpenAPIDocument {
  static let answer = Answer(Answer.json, PackageResources.openapi_json)
}
