package import Foundation

/// The checked-out repository that the tests were built from.
package enum Repository {
  /// The folder of Package.swift: the nearest one above this file that has one.
  package static let root: URL = {
    var folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    while !FileManager.default.fileExists(atPath: folder.appending(path: "Package.swift").path) {
      precondition(folder.path != "/", "no Package.swift above \(#filePath)")
      folder.deleteLastPathComponent()
    }
    return folder
  }()
}
