internal import Foundation
internal import Logging
internal import PushModel

/// Writes logs to standard error, a JSON object a line.
struct JSONLogHandler: LogHandler {
  var metadata: Logger.Metadata = [:]
  var logLevel = Logger.Level.info

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: LogEvent) {
    var fields = metadata
    for (key, value) in event.metadata ?? [:] { fields[key] = value }
    var line =
      "{\"at\":\"\(WallClock.now.rfc3339)\",\"level\":\"\(event.level.rawValue)\","
      + "\"message\":\(JSONText.quoted("\(event.message)"))"
    for (key, value) in fields.sorted(by: { $0.key < $1.key }) {
      line += ",\(JSONText.quoted(key)):\(JSONText.quoted("\(value)"))"
    }
    FileHandle.standardError.write(Data((line + "}\n").utf8))
  }
}
