import Foundation
import Glibc

/// A response as it came.
struct TestResponse: Sendable {
  var status = 0
  var fields: [String: String] = [:]
  var body: [UInt8] = []

  var text: String { String(decoding: body, as: UTF8.self) }

  /// The code of the error that the body is.
  var code: String? {
    let object = try? JSONSerialization.jsonObject(with: Data(body)) as? [String: Any]
    return (object?["error"] as? [String: Any])?["code"] as? String
  }
}

struct ConnectionError: Error, CustomStringConvertible {
  let description: String
}

/// A connection to a server on this machine, that sends exactly the bytes that it is given.
///
/// SAFETY: one thread at a time uses it.
final class Connection: @unchecked Sendable {
  fileprivate let socket: Int32
  private var buffer: [UInt8] = []
  fileprivate(set) var isClosed = false

  init(_ port: Int) throws {
    socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(port).bigEndian
    address.sin_addr.s_addr = unsafe inet_addr("127.0.0.1")
    // Nothing here takes minutes unless it hangs.
    var limit = timeval(tv_sec: 120, tv_usec: 0)
    _ = unsafe setsockopt(
      socket, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    let result = unsafe withUnsafePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard result == 0 else { throw ConnectionError(description: "connect: \(errno)") }
  }

  deinit { close(socket) }

  func send(_ text: String) throws { try send(Array(text.utf8)) }

  func send(_ bytes: [UInt8]) throws {
    var sent = 0
    while sent < bytes.count {
      let count = unsafe bytes.withUnsafeBytes { bytes in
        unsafe Glibc.send(
          socket, bytes.baseAddress! + sent, bytes.count - sent, Int32(MSG_NOSIGNAL))
      }
      guard count > 0 else { throw ConnectionError(description: "send: \(errno)") }
      sent += count
    }
  }

  /// Reads some bytes.
  ///
  /// - Returns: false at the end.
  private func fill() throws -> Bool {
    var bytes = [UInt8](repeating: 0, count: 65_536)
    let count = unsafe bytes.withUnsafeMutableBytes {
      unsafe recv(socket, $0.baseAddress, $0.count, 0)
    }
    if count < 0, errno == ECONNRESET || errno == EPIPE {
      isClosed = true
      return false
    }
    guard count >= 0 else { throw ConnectionError(description: "nothing came: \(errno)") }
    if count == 0 { isClosed = true }
    buffer += bytes[..<count]
    return count > 0
  }

  /// Everything until the other side closes.
  func rest() throws -> String {
    while try fill() {}
    return String(decoding: buffer, as: UTF8.self)
  }

  private func line() throws -> String {
    while true {
      if let end = buffer.firstIndex(of: UInt8(ascii: "\n")) {
        let line = buffer[..<end]
        buffer.removeFirst(end + 1)
        return String(decoding: line.last == 13 ? line.dropLast() : line, as: UTF8.self)
      }
      guard try fill() else { throw ConnectionError(description: "closed in a line") }
    }
  }

  private func take(_ count: Int) throws -> [UInt8] {
    while buffer.count < count {
      guard try fill() else { throw ConnectionError(description: "closed in a body") }
    }
    defer { buffer.removeFirst(count) }
    return Array(buffer[..<count])
  }

  /// The head of the next response.
  func head() throws -> TestResponse {
    var response = TestResponse()
    repeat {
      let status = try line().split(separator: " ")
      guard status.count > 1, let code = Int(status[1]) else {
        throw ConnectionError(description: "no status: \(status)")
      }
      response = TestResponse(status: code)
      while true {
        let text = try line()
        if text.isEmpty { break }
        let parts = text.split(separator: ":", maxSplits: 1)
        response.fields[parts[0].lowercased()] =
          parts.count > 1 ? parts[1].trimmingCharacters(in: .whitespaces) : ""
      }
    } while response.status == 100
    return response
  }

  /// The next piece of a chunked body; nil at its end.
  func chunk() throws -> [UInt8]? {
    let size = try line().split(separator: ";")[0]
    guard let count = Int(size, radix: 16) else {
      throw ConnectionError(description: "no chunk: \(size)")
    }
    let bytes = try take(count)
    _ = try line()
    return count == 0 ? nil : bytes
  }

  /// The next response, whole.
  func response() throws -> TestResponse {
    var response = try head()
    if let length = response.fields["content-length"].flatMap({ Int($0) }) {
      response.body = try take(length)
    } else if response.fields["transfer-encoding"] == "chunked" {
      while let bytes = try chunk() { response.body += bytes }
    }
    return response
  }
}

extension Connection {
  /// Says that nothing more will be sent.
  func endSending() { shutdown(socket, Int32(SHUT_WR)) }

  /// Whether the other side has closed, without waiting for it.
  func hasEnded() throws -> Bool {
    var byte: UInt8 = 0
    let count = unsafe recv(socket, &byte, 1, Int32(MSG_DONTWAIT))
    if count == 0 || count < 0 && errno == ECONNRESET { isClosed = true }
    return isClosed
  }
}
