import Dispatch
import Glibc
import PushFiles
import PushSupport
import Synchronization

/// Standard output and standard error, and whether they are a terminal.
enum Terminal {
  static let errorIsTerminal = isatty(STDERR_FILENO) == 1
  static let outputIsTerminal = isatty(STDOUT_FILENO) == 1

  /// Writes a line to standard error, and no more than one, whatever ids and names are in it.
  static func say(_ line: String) { write(TerminalText.escaped(line) + "\n", STDERR_FILENO) }

  /// Writes text to standard error as it is.
  static func show(_ text: String) { write(text, STDERR_FILENO) }

  /// Writes a result to standard output, all of it or with an error.
  static func printResult(_ text: String) {
    let output = OutputFile()
    do throws(OutputProblem) {
      try output.write((text.hasSuffix("\n") ? text : text + "\n").utf8)
      try output.finish()
    } catch {
      fail("push-fanout: \(error)")
    }
  }

  /// Ends with exit status 1, saying why in one line.
  static func fail(_ line: String) -> Never {
    Interruption.wait()
    say(line)
    exit(1)
  }

  static func exit(_ status: Int32) -> Never {
    Interruption.wait()
    Glibc.exit(status)
  }

  private static func write(_ text: String, _ descriptor: Int32) {
    var text = text
    text.withUTF8 { bytes in
      // There is no way to report that standard error cannot be written.
      _ = unsafe Glibc.write(descriptor, bytes.baseAddress, bytes.count)
    }
  }
}

/// Ctrl-C and termination: no partial file is left.
enum Interruption {
  /// What is printed about an output that was not completed.
  static let plainMessage = "no output was written"
  /// Sent by a write that fails, which says so itself.
  private static let failedWrites = [SIGPIPE, SIGXFSZ]
  private static let state = Mutex(State())
  private static let prepared = Mutex<[Int32]>([])
  // SAFETY: written once, by `prepare()`, before there is another thread; only kept, never read.
  private nonisolated(unsafe) static var sources: [any DispatchSourceSignal] = []

  /// Lets a closed pipe and a file that may not grow (`ulimit -f`) be errors of the write, and
  /// interruptions end the program here.
  static func prepare() {
    for number in failedWrites { signal(number, SIG_IGN) }
    let registered = DispatchSemaphore(value: 0)
    for number in [SIGINT, SIGTERM, SIGHUP, SIGXCPU] where !isIgnored(number) {
      prepared.withLock { $0.append(number) }
      let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
      source.setEventHandler {
        // The lock stays held: nothing new begins.
        state.withLock { state in
          let message = state.end()
          Terminal.show("\n")
          Terminal.say("push-fanout: interrupted; \(message)")
          // What another thread has made since; the exit follows at once.
          _ = state.removeNames()
          _exit(1)
        }
      }
      source.setRegistrationHandler { registered.signal() }
      source.resume()
      unsafe sources.append(source)
    }
    // Until then a signal ends the program, which has begun nothing.
    for _ in unsafe sources { registered.wait() }
  }

  /// Restores what was there before ``prepare()``, for a program that this process becomes.
  static func undo() {
    for number in failedWrites { signal(number, SIG_DFL) }
    for number in prepared.withLock({ $0 }) { signal(number, SIG_DFL) }
  }

  /// Whether a signal was ignored when the program was started, as under nohup.
  private static func isIgnored(_ number: Int32) -> Bool {
    var action = sigaction()
    guard unsafe sigaction(number, nil, &action) == 0 else { return false }
    let handler = unsafe unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
    return unsafe handler == unsafeBitCast(SIG_IGN, to: Int.self)
  }

  /// Returns when no interruption is being handled, and never when one is: it ends the program.
  ///
  /// The files that an interruption removes are missed by the thread that writes them. Its error
  /// would be printed instead, and the end of the program would leave the other files.
  static func wait() { state.withLock { _ in } }

  /// What an interruption meets.
  private struct State {
    var output: String?
    var names: [String] = []
    var message = plainMessage

    /// Leaves nothing unfinished.
    ///
    /// - Returns: what to print: an output that has its name by now stays.
    func end() -> String {
      guard !removeNames(), let output, isThere(output) else { return message }
      return "\(output) is complete"
    }

    /// - Returns: whether there was anything to remove.
    func removeNames() -> Bool {
      var isUnfinished = false
      // A file may be made in the folder meanwhile.
      for _ in 0..<16 {
        for name in names where remove(name) { isUnfinished = true }
        if !isThere(names.last) { break }
      }
      return isUnfinished
    }

    /// Removes a file or an empty folder.
    ///
    /// - Returns: whether something is gone by it: a file may have the name of the output already.
    private func remove(_ name: String) -> Bool {
      let descriptor = unsafe open(name, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
      defer { if descriptor >= 0 { close(descriptor) } }
      guard unsafe unlink(name) == 0 else { return unsafe rmdir(name) == 0 }
      var status = stat()
      return unsafe descriptor < 0 || fstat(descriptor, &status) != 0 || status.st_nlink == 0
    }

    private func isThere(_ name: String?) -> Bool {
      guard let name else { return false }
      return unsafe access(name, F_OK) == 0
    }
  }

  /// Until ``endOutput()``, an interruption removes what is unfinished.
  ///
  /// - Parameters:
  ///   - output: the name that what is written gets when it is complete; nil when it has none.
  ///   - names: the files to remove, and the folder that they are in last.
  ///   - message: what is printed then.
  static func beginOutput(
    _ output: String?, temporaryNames names: [String], message: String = plainMessage
  ) {
    state.withLock { $0 = State(output: output, names: names, message: message) }
  }

  static func beginOutput(_ file: OutputFile?) {
    beginOutput(file?.finalName, temporaryNames: [file?.temporaryName].compactMap { $0 })
  }

  /// Ends the output of a folder by giving it its name, before or after an interruption is handled:
  /// from then on an interruption prints that the folder is complete.
  ///
  /// An interruption removes the files of a folder one by one; renamed meanwhile, the folder would
  /// remain with some of them.
  static func publish<Failure: Error>(_ rename: () throws(Failure) -> Void) throws(Failure) {
    try state.withLock { state throws(Failure) in
      try rename()
      state = State(output: state.output)
    }
  }

  /// Replaces the interruption message of the output that is being written.
  static func say(_ message: String) { state.withLock { $0.message = message } }

  /// - Parameter message: printed by an interruption from now on.
  static func endOutput(message: String = plainMessage) {
    state.withLock { $0 = State(message: message) }
  }
}

/// A progress bar on standard error, for work that takes longer than a second and a person who
/// watches.
final class ProgressBar {
  private let title: String
  private let start = ContinuousClock.now
  private var lastShown = ContinuousClock.now
  private var isShown = false

  init(_ title: String) { self.title = title }

  /// Shows the share of the work that is done, 0...1, nil when it is not known.
  func update(_ share: Double?, _ details: @autoclosure () -> String = "") {
    guard Terminal.errorIsTerminal else { return }
    let now = ContinuousClock.now
    guard now - start > .seconds(1), now - lastShown > .milliseconds(100) else { return }
    lastShown = now
    isShown = true
    var line = "\r\u{1B}[K\(title) "
    if let share {
      let width = 30
      let filled = min(width, Int(share * Double(width)))
      line += "[" + String(repeating: "#", count: filled)
      line += String(repeating: ".", count: width - filled) + "] \(Int(share * 100)) %"
      let seconds = (now - start) / .seconds(1)
      if share > 0.01 { line += ", \(Int(seconds / share - seconds) + 1) s left" }
    }
    let details = details()
    Terminal.show(details.isEmpty ? line : line + ", \(details)")
  }

  /// Clears the bar.
  func finish() {
    if isShown { Terminal.show("\r\u{1B}[K") }
    isShown = false
  }
}
