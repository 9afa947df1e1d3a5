internal import Glibc

/// Questions about paths that a string alone does not answer.
package enum FilePath {
  /// The folder that the last part of a path is in, as the path says it: `a/b` is in `a/`, `b` in
  /// `.`.
  package static func folder(of path: String) -> String {
    path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
  }

  /// The path without slashes at its end, which name the same folder.
  package static func trimmed(_ path: String) -> String {
    var path = path[...]
    while path.count > 1, path.last == "/" { path = path.dropLast() }
    return String(path)
  }

  /// The path without an extension like `.gz`, in whatever case it is written; nil if it has another
  /// end.
  package static func without(_ path: String, extension end: String) -> String? {
    let (bytes, end) = (path.utf8, end.utf8)
    guard bytes.count >= end.count,
      zip(bytes.suffix(end.count), end).allSatisfy({ byte, letter in
        byte == letter || byte | 0x20 == letter && (0x61...0x7A).contains(letter)
      })
    else { return nil }
    return String(decoding: bytes.dropLast(end.count), as: UTF8.self)
  }

  /// Whether a path ends in an extension like `.gz`, in whatever case it is written.
  package static func has(_ path: String, extension end: String) -> Bool {
    without(path, extension: end) != nil
  }

  /// The path of what is there, without symbolic links; nil when there is nothing, with the reason
  /// in ``SystemError/last``.
  package static func real(_ path: String) -> String? {
    guard let real = unsafe realpath(path, nil) else { return nil }
    defer { unsafe free(real) }
    return unsafe String(cString: real)
  }

  /// Where the symbolic links end that a path leads to: the path itself when it is no link, and the
  /// name of what is not there for a link that leads nowhere.
  ///
  /// - Throws: `ELOOP` for links that lead to each other.
  package static func end(ofLinks path: String) throws(SystemError) -> String {
    var path = path
    // As many as the kernel follows.
    for _ in 0...40 {
      guard let target = link(path) else { return path }
      path = target.hasPrefix("/") ? target : folder(of: path) + "/" + target
    }
    throw SystemError(ELOOP)
  }

  /// What a symbolic link says; nil for what is none.
  private static func link(_ path: String) -> String? {
    let target = unsafe [UInt8](unsafeUninitializedCapacity: Int(PATH_MAX)) { buffer, count in
      let read = unsafe buffer.withMemoryRebound(to: CChar.self) { characters in
        unsafe characters.baseAddress.map { unsafe readlink(path, $0, characters.count) } ?? 0
      }
      count = max(0, read)
    }
    return target.isEmpty ? nil : String(decoding: target, as: UTF8.self)
  }
}
