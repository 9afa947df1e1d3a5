import Synchronization
import TestSupport
import Testing

@testable import PushStore

@Suite struct GroupCommitTests {
  /// What is done between two commits waits for what was added before, and not for what is added
  /// again and again.
  @Test func writesDoNotKeepOthersFromTheirTurn() {
    // Some seconds of writes: more than a busy machine keeps this thread from its turn.
    let limit = 3_000_000
    let count = Atomic(0)
    let isOver = Atomic(false)
    let made = Locked<GroupCommit<Int>?>(nil)
    let commits = GroupCommit<Int> { jobs in
      let number = count.add(1, ordering: .sequentiallyConsistent).newValue
      if number < limit, !isOver.load(ordering: .relaxed) {
        made.withLock { $0 }?.add(number)
      }
    }
    made.withLock { $0 = commits }
    commits.add(0)
    let reached = commits.sync { count.load(ordering: .sequentiallyConsistent) }
    #expect((1..<limit).contains(reached))
    isOver.store(true, ordering: .relaxed)
    commits.sync {}
    made.withLock { $0 = nil }
  }

  /// All that was added before is done, in their order, also when it is more than a commit takes.
  @Test func whatWasAddedBeforeIsDone() {
    let done = Locked<[Int]>([])
    let commits = GroupCommit<Int> { jobs in done.withLock { $0 += jobs } }
    for number in 0..<5000 { commits.add(number) }
    let found = commits.sync { done.withLock { $0 } }
    #expect(found == Array(0..<5000))
  }

  /// A job after a pause is committed at once; those that follow wait until they are enough.
  @Test(.timeLimit(.minutes(1))) func enoughJobsShareACommit() {
    let batches = Locked<[[Int]]>([])
    let commits = GroupCommit<Int>(interval: .seconds(86_400)) { jobs in
      batches.withLock { $0.append(jobs) }
    }
    let count = GroupCommit<Int>.worthACommit
    commits.add(0)
    commits.sync {}
    for first in stride(from: 1, to: 1000 * count, by: count) {
      for number in first..<first + count { commits.add(number) }
      commits.sync {}
    }
    let expected = (0..<1000).map { Array($0 * count + 1...($0 + 1) * count) }
    #expect(batches.withLock { $0 } == [[0]] + expected)
  }

  /// Jobs that no other follows do not wait for the end of the interval.
  @Test(.timeLimit(.minutes(1))) func aGapBeginsACommit() {
    let done = Locked<[Int]>([])
    let commits = GroupCommit<Int>(interval: .seconds(86_400), gap: .milliseconds(1)) { jobs in
      done.withLock { $0 += jobs }
    }
    for number in 0..<100 {
      commits.add(number)
      commits.sync {}
    }
    #expect(done.withLock { $0 } == Array(0..<100))
  }

  /// The end of the interval begins a commit while a gap is still waited for.
  @Test(.timeLimit(.minutes(1))) func theEndOfTheIntervalBeginsACommit() {
    let batches = Locked<[[Int]]>([])
    let commits = GroupCommit<Int>(interval: .milliseconds(1), gap: .seconds(86_400)) { jobs in
      batches.withLock { $0.append(jobs) }
    }
    for number in 0..<100 {
      commits.add(number)
      commits.sync {}
    }
    #expect(batches.withLock { $0 } == (0..<100).map { [$0] })
  }
}
