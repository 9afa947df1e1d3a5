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

  /// A job after a pause is committed at once; those that follow within the interval share a commit.
  @Test func jobsOfAnIntervalShareACommit() {
    let batches = Locked<[[Int]]>([])
    let made = Locked<GroupCommit<Int>?>(nil)
    let commits = GroupCommit<Int>(interval: .seconds(86_400)) { _ in
      // What is added while the rest of the interval is waited for.
      for number in 2..<100 { made.withLock { $0 }?.add(number) }
    } _: { jobs in
      batches.withLock { $0.append(jobs) }
    }
    made.withLock { $0 = commits }
    commits.add(0)
    commits.sync {}
    commits.add(1)
    commits.sync {}
    made.withLock { $0 = nil }
    #expect(batches.withLock { $0 } == [[0], Array(1..<100)])
  }
}
