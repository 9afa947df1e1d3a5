internal import Glibc
package import PushModel
internal import PushSupport
internal import Synchronization

/// Renders by settings that change: a renderer for each of the last versions of an engine, so that
/// who gets a push and what it says are of one commit.
///
///     let (result, renderer) = live.decide(
///       { fanout.decide(message) }, version: { $0.settingsVersion })
///
/// A renderer that was taken does not change.
public final class LiveRenderer: Sendable {
  private struct State {
    var directory: ContentDirectory
    var templates: TemplateCatalog
    /// By the versions of the engine, ascending; the last one is the newest.
    var renderers: [(version: UInt64, renderer: ContentRenderer)]
  }

  /// So many versions have a renderer.
  private static let kept = 64
  private let state: Lock<State>

  /// - Parameter version: the number of the engine's version that the settings belong to.
  package init(
    _ rules: RuleSet, _ templates: TemplateCatalog, _ directory: ContentDirectory, version: UInt64
  ) {
    let renderer = ContentRenderer(rules: rules, templates: templates, directory: directory)
    state = Lock(
      State(
        directory: directory, templates: templates,
        renderers: [(version: version, renderer: renderer)]))
  }

  /// The renderer of the newest version.
  public var renderer: ContentRenderer {
    state.withLock { $0.renderers[$0.renderers.count - 1].renderer }
  }

  /// Display settings of the newest version.
  public var directory: ContentDirectory { state.withLock { $0.directory } }

  /// Decides, and finds the renderer of the version that was decided on; decides again when many
  /// versions were published meanwhile.
  ///
  /// - Parameters:
  ///   - decide: decides on the engine's newest version.
  ///   - version: the number of the version that changed settings last before a result was decided.
  public func decide<Result>(
    _ decide: () -> Result, version: (Result) -> UInt64
  ) -> (result: Result, renderer: ContentRenderer) {
    while true {
      let result = decide()
      if let renderer = renderer(of: version(result)) { return (result, renderer) }
    }
  }

  /// The renderer of a version of the engine; waits for that of a version that was just published.
  ///
  /// - Returns: nil when it is not kept any more.
  public func renderer(of version: UInt64) -> ContentRenderer? {
    while true {
      let (found, newest) = state.withLock { state in
        (
          state.renderers.last { $0.version <= version }?.renderer,
          state.renderers[state.renderers.count - 1].version
        )
      }
      if version <= newest { return found }
      // The engine's version is published some microseconds before its renderer.
      sched_yield()
    }
  }

  /// Publishes the renderer of the engine's newest version.
  ///
  /// - Parameter rules: the rules, if they may be others.
  /// - Complexity: that of the changes.
  package func publish(
    version: UInt64, rules: RuleSet?,
    _ change: (inout ContentDirectory, inout TemplateCatalog) throws -> Void
  ) rethrows {
    // One thread publishes; readers go on meanwhile.
    var (directory, templates) = state.withLock { ($0.directory, $0.templates) }
    try change(&directory, &templates)
    let renderer = ContentRenderer(
      rules: rules ?? self.renderer.rules, templates: templates, directory: directory)
    state.withLock { state in
      state.directory = directory
      state.templates = templates
      if state.renderers[state.renderers.count - 1].version == version {
        state.renderers.removeLast()
      }
      state.renderers.append((version: version, renderer: renderer))
      if state.renderers.count > Self.kept { state.renderers.removeFirst() }
    }
  }
}
