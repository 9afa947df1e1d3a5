package import PushModel
internal import PushSupport
internal import Synchronization

/// Renders by settings that change: a renderer for each of the last versions of an engine, so that
/// who gets a push and what it says are of one commit.
///
///     let (version, renderer) = live.pin(
///       { fanout.currentVersion }, number: { $0.settingsVersion })
///     fanout.decide(message, on: version, into: &result)
///
/// A renderer that was taken does not change.
public final class LiveRenderer: Sendable {
  /// So many versions have a renderer.
  private static let kept = 64
  /// By the versions of the engine, ascending; the last one is the newest, and there is always one.
  private let renderers: Lock<[(version: UInt64, renderer: ContentRenderer)]>

  /// - Parameter version: the number of the engine's version that the settings belong to.
  package init(
    _ rules: RuleSet, _ templates: TemplateCatalog, _ directory: ContentDirectory, version: UInt64
  ) {
    let renderer = ContentRenderer(rules: rules, templates: templates, directory: directory)
    renderers = Lock([(version: version, renderer: renderer)])
  }

  /// The renderer of the newest version.
  public var renderer: ContentRenderer { renderers.withLock { $0[$0.count - 1].renderer } }

  /// Display settings of the newest version.
  public var directory: ContentDirectory { renderer.directory }

  /// The engine's current version, to decide on, and the renderer of it.
  ///
  /// - Parameters:
  ///   - current: the engine's current version. It is asked for again where so many versions were
  ///     published since that its renderer is not kept any more.
  ///   - number: the number of the version that changed settings last before it.
  public func pin<Version>(
    _ current: () -> Version, number: (Version) -> UInt64
  ) -> (version: Version, renderer: ContentRenderer) {
    while true {
      let version = current()
      if let renderer = renderer(of: number(version)) { return (version, renderer) }
    }
  }

  /// The renderer of a version of the engine. It never waits: a version's renderer is published
  /// before the version.
  ///
  /// - Returns: nil when it is not kept any more.
  public func renderer(of version: UInt64) -> ContentRenderer? {
    renderers.withLock { renderers in
      renderers.last { $0.version <= version }?.renderer
    }
  }

  /// A renderer with some changes, to be published.
  ///
  /// - Parameter rules: the rules, if they may be others.
  /// - Complexity: that of the changes.
  package func next(
    rules: RuleSet?, _ change: (inout ContentDirectory, inout TemplateCatalog) -> Void
  ) -> ContentRenderer {
    // One thread publishes; readers go on meanwhile.
    let newest = renderer
    var (directory, templates) = (newest.directory, newest.templates)
    change(&directory, &templates)
    return ContentRenderer(
      rules: rules ?? newest.rules, templates: templates, directory: directory)
  }

  /// Publishes the renderer of the engine's newest version, or of the one that is published next.
  package func publish(_ renderer: ContentRenderer, version: UInt64) {
    renderers.withLock { renderers in
      if renderers[renderers.count - 1].version == version { renderers.removeLast() }
      renderers.append((version: version, renderer: renderer))
      if renderers.count > Self.kept { renderers.removeFirst() }
    }
  }
}
