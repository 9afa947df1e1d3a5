internal import CTables

/// Other names of time zones: the links of the IANA database.
///
/// Packages of the database leave out some: Debian's, from 13 on, have `Asia/Calcutta` in
/// tzdata-legacy, though browsers give that name for all of India. A link that the system does not
/// have is read as its zone.
public enum ZoneLinks {
  private struct Links {
    /// The target of each name.
    var targets: [String: String] = [:]
    /// The links that people tell from their targets.
    var own: Set<String> = []
    /// The other names of each target, without those that people tell from it.
    var aliases: [String: [String]] = [:]
  }

  private static let table = unsafe String(
    // SAFETY: the array is a constant of that many bytes.
    decoding: UnsafeBufferPointer(start: ct_zone_links, count: ct_zone_links_count),
    as: UTF8.self)

  /// The version of the IANA database that the links are of.
  public static let version = String(table.prefix { $0 != "\n" })

  private static let links: Links = {
    var links = Links()
    for line in table.split(separator: "\n").dropFirst() {
      let words = line.split(separator: " ")
      let target = String(words[0])
      for word in words.dropFirst() {
        let isOwn = word.last == "*"
        let name = String(isOwn ? word.dropLast() : word)
        links.targets[name] = target
        if isOwn {
          links.own.insert(name)
        } else {
          links.aliases[target, default: []].append(name)
        }
      }
    }
    return links
  }()

  /// Every link.
  public static var names: some Collection<String> { links.targets.keys }

  /// The name by which a zone is compared: `Asia/Kolkata` for `Asia/Calcutta`. What people tell
  /// from its target, though both are alike since 1970, stays: `Europe/Amsterdam`. A name
  /// that is no link is returned as it is.
  public static func canonicalName(_ name: String) -> String {
    guard !links.own.contains(name), let target = links.targets[name] else { return name }
    return canonicalName(target)
  }

  /// Other names that are as good as one, the best first: what it is a link to, and what is a link
  /// to it.
  static func alternatives(to name: String) -> [String] {
    var found: [String] = []
    func add(_ name: String) {
      if !found.contains(name) { found.append(name) }
    }
    var next = name
    while let target = links.targets[next] {
      (links.aliases[next] ?? []).forEach(add)
      add(target)
      next = target
    }
    (links.aliases[next] ?? []).forEach(add)
    return found.filter { $0 != name }
  }
}
