import ArgumentParser
import Dispatch
import Foundation
import Glibc
import PushFiles
import PushSupport
import Synchronization

/// Standard output and standard error, and whether they are a terminal.
enum Terminal {
  static let errorIsTerminal = isatty(STDERR_FILENO) == 1
  static let outputIsTerminal = isatty(STDOUT_FILENO) == 1

  /// Whether only results and errors are printed.
  static var isQuiet: Bool { quiet.load(ordering: .relaxed) }
  private static let quiet = Atomic(false)

  /// From now on only results and errors are printed.
  static func beQuiet() { quiet.store(true, ordering: .relaxed) }

  /// The columns of the terminal that is standard error or standard output; 80 where it does not say.
  static func width(of descriptor: Int32) -> Int {
    var size = winsize()
    let known = unsafe ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0
    return known ? Int(size.ws_col) : 80
  }

  /// Writes a line to standard error that is no error: how far it is, what was counted.
  static func note(_ line: String) {
    if !isQuiet { say(line) }
  }

  /// The same of as many parts as 80 columns have room for, the most important first.
  static func note(_ parts: [String]) {
    var line = parts.first ?? ""
    for part in parts.dropFirst() where line.count + 2 + part.count <= 80 { line += ", " + part }
    note(line)
  }

  /// Writes a line to standard error, and no more than one, whatever ids and names are in it.
  static func say(_ line: String) { write(TerminalText.escaped(line) + "\n", STDERR_FILENO) }

  /// Writes text to standard error as it is.
  static func show(_ text: String) { write(text, STDERR_FILENO) }

  /// Writes a result to standard output, all of it or with an error; on a terminal its lines are
  /// broken to fit, but those of JSON.
  static func printResult(_ text: String) {
    let output = OutputFile()
    let text = outputIsTerminal ? fitted(text, width(of: STDOUT_FILENO)) : text
    do throws(OutputProblem) {
      try output.write((text.hasSuffix("\n") ? text : text + "\n").utf8)
      try output.finish()
    } catch {
      fail(error)
    }
  }

  /// Whether colour carries meaning on standard output: a terminal, without `NO_COLOR`.
  private static let hasColour =
    outputIsTerminal && (environment("NO_COLOR") ?? "").isEmpty && environment("TERM") != "dumb"

  private static func environment(_ name: String) -> String? {
    unsafe getenv(name).map { unsafe String(cString: $0) }
  }

  /// An answer for standard output: on a terminal in colour, each line broken to fit.
  static func styled(_ answer: String) -> String {
    guard outputIsTerminal else { return answer }
    let columns = width(of: STDOUT_FILENO)
    let lines = answer.split(separator: "\n", omittingEmptySubsequences: false)
    // What the settings are of stands in front of the answer.
    let answer = lines.first?.hasPrefix("Settings as of now") ?? false ? 1 : 0
    return lines.enumerated().map { index, line in
      if line.hasPrefix("{") { return String(line) }  // a payload
      let isStop = line.hasPrefix("STOP")
      let isStep = line.hasPrefix("ok ") || isStop
      let row = isStep ? narrowed(String(line), columns) : String(line)
      let text = folded(row, columns, indent: isStep ? 6 : 2)
      guard hasColour, isStop || index == answer else { return text }
      return (isStop ? "\u{1B}[1;31m" : "\u{1B}[1m") + text + "\u{1B}[0m"
    }.joined(separator: "\n")
  }

  /// Text whose lines are broken at blanks to fit, but those of JSON and those that are styled.
  static func fitted(_ text: String, _ columns: Int) -> String {
    text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
      let isWhole = line.first.map { "{[\u{1B}".contains($0) } ?? true
      return isWhole ? String(line) : folded(String(line), columns, indent: 4)
    }.joined(separator: "\n")
  }

  /// A row of a table that is too long, with less blank before its last column.
  static func narrowed(_ line: String, _ columns: Int) -> String {
    guard line.count > columns, let gap = line.ranges(of: #/ {2,}/#).last else { return line }
    let extra = min(line.count - columns, line[gap].count - 2)
    return String(line[..<gap.upperBound].dropLast(extra) + line[gap.upperBound...])
  }

  /// A line broken at blanks into lines of at most so many characters.
  static func folded(_ line: String, _ columns: Int, indent: Int) -> String {
    guard line.count > columns else { return line }
    var lines: [String] = []
    var rest = Substring(line)
    while rest.count > columns - (lines.isEmpty ? 0 : indent) {
      let room = rest.prefix(columns - (lines.isEmpty ? 0 : indent) + 1)
      guard let blank = room.lastIndex(of: " "), blank > room.startIndex,
        room[..<blank].contains(where: { $0 != " " })
      else { break }
      lines.append(String(rest[..<blank]))
      rest = rest[blank...].drop { $0 == " " }
    }
    lines.append(String(rest))
    return lines.joined(separator: "\n" + String(repeating: " ", count: indent))
  }

  /// Ends with exit status 1, saying why in one line.
  static func fail(_ line: String) -> Never {
    Interruption.wait()
    say(line)
    exit(1)
  }

  /// The same of an output; behind `| head` without a word, as by the signal.
  static func fail(_ problem: OutputProblem) -> Never {
    if problem.isClosedPipe { exit(128 + SIGPIPE) }
    fail("push-fanout: \(problem)")
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

/// `-q`, of every command that prints more than results and errors.
struct QuietOption: ParsableArguments {
  @Flag(name: .customShort("q"), help: "Print results and errors only: no counts, no progress.")
  var isQuiet = false

  func validate() {
    if isQuiet { Terminal.beQuiet() }
  }
}

/// Ctrl-C and termination: no partial file is left.
enum Interruption {
  /// What is printed about an output that was not completed.
  static let plainMessage = "no output was written"
  /// Sent by a write that fails, which says so itself.
  private static let failedWrites = [SIGPIPE, SIGXFSZ]
  private static let state = Mutex(State())

  /// Lets a closed pipe and a file that may not grow (`ulimit -f`) be errors of the write, and
  /// interruptions end the program here.
  ///
  /// A thread waits for them from now on. No other takes them: each thread that is started later has
  /// the mask of this one.
  ///
  /// - Throws: when that thread cannot be started.
  static func prepare() throws {
    for number in failedWrites { signal(number, SIG_IGN) }
    var awaited = awaited
    unsafe pthread_sigmask(SIG_BLOCK, &awaited, nil)
    var thread = pthread_t()
    let error = unsafe pthread_create(&thread, nil, { _ in Interruption.end() }, nil)
    // Dispatch opens files for its threads, and ends the process where it cannot; a store has some ten.
    // Not /dev/null, which not every container has.
    let files = (0..<16).map { _ in unsafe open("/", O_RDONLY | O_CLOEXEC) }
    for file in files where file >= 0 { close(file) }
    if files.contains(where: { $0 < 0 }) {
      let limit = SystemError(EMFILE).message
      throw Failure(text: "too few files can be opened: \(limit); raise their limit (ulimit -n)")
    }
    guard error == 0, ThreadSupply.isEnough else { throw Failure(text: ThreadSupply.problem) }
  }

  /// The interruptions that were not ignored when the program was started, as by nohup.
  private static var awaited: sigset_t {
    var awaited = sigset_t()
    unsafe sigemptyset(&awaited)
    for number in [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGXCPU] where !isIgnored(number) {
      unsafe sigaddset(&awaited, number)
    }
    return awaited
  }

  /// Waits for an interruption, and ends the program by it.
  private static func end() -> Never {
    var (awaited, number) = (awaited, Int32(0))
    while unsafe sigwait(&awaited, &number) != 0 {}
    // The lock stays held: nothing new begins.
    return state.withLock { state in
      let message = state.end()
      Terminal.show("\n")
      Terminal.say("push-fanout: interrupted; \(message)")
      // What another thread has made since; the exit follows at once.
      _ = state.removeNames()
      _exit(1)
    }
  }

  /// Restores what was there before ``prepare()``, for a program that this process becomes.
  static func undo() {
    for number in failedWrites { signal(number, SIG_DFL) }
    var awaited = awaited
    unsafe pthread_sigmask(SIG_UNBLOCK, &awaited, nil)
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

  /// Shows the share of the work that is done, 0...1, nil when it is not known, and those details that
  /// have room, the most important first.
  func update(_ share: Double?, _ details: @autoclosure () -> [String] = []) {
    guard Terminal.errorIsTerminal, !Terminal.isQuiet else { return }
    let now = ContinuousClock.now
    guard now - start > .seconds(1), now - lastShown > .milliseconds(100) else { return }
    lastShown = now
    isShown = true
    let columns = Terminal.width(of: STDERR_FILENO)
    var line = title + " "
    if let share {
      let width = min(30, columns / 3)
      let filled = min(width, Int(share * Double(width)))
      line += "[" + String(repeating: "#", count: filled)
      line += String(repeating: ".", count: width - filled) + "] \(Int(share * 100)) %"
      let seconds = (now - start) / .seconds(1)
      if share > 0.01 { line += ", \(Int(seconds / share - seconds) + 1) s left" }
    }
    // As many details as have room: a line that is broken could not be cleared.
    for detail in details() where line.count + 2 + detail.count < columns { line += ", " + detail }
    Terminal.show("\r\u{1B}[K" + String(line.prefix(columns - 1)))
  }

  /// Clears the bar.
  func finish() {
    if isShown { Terminal.show("\r\u{1B}[K") }
    isShown = false
  }
}

extension ProgressBar {
  /// Shows how far work is that does not say so, looking at it from another thread.
  ///
  /// - Parameter share: 0...1; nil when it is not known.
  static func watch<Value>(
    _ title: String, _ share: @escaping @Sendable () -> Double?, while work: () throws -> Value
  ) rethrows -> Value {
    guard Terminal.errorIsTerminal, !Terminal.isQuiet, ThreadSupply.isEnough else {
      return try work()
    }
    let (isOver, isCleared) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    Thread.detachNewThread {
      let bar = ProgressBar(title)
      while isOver.wait(timeout: .now() + .milliseconds(100)) == .timedOut { bar.update(share()) }
      bar.finish()
      isCleared.signal()
    }
    defer {
      isOver.signal()
      isCleared.wait()
    }
    return try work()
  }
}
