import PushSupport
import Synchronization
import Testing

@Suite struct TerminalTextTests {
  @Test func wordsOfAShellAreQuoted() {
    let found = ["m1", "a/b-c_d.csv", "it's", "a b", "", "$x", "群"].map(TerminalText.shellWord)
    #expect(found == ["m1", "a/b-c_d.csv", #"'it'\''s'"#, "'a b'", "''", "'$x'", "'群'"])
  }
}

@Suite struct ParallelTests {
  @Test(arguments: [0, 1, 2, 3, 7, 1000], [1, 2, 3, 64])
  func everyPieceIsWorkedOnceAndResultsAreInOrder(count: Int, threads: Int) {
    #expect(Parallel.map(count, threads: threads) { $0 * $0 } == (0..<count).map { $0 * $0 })
    let calls = Lock([Int](repeating: 0, count: count))
    Parallel.perform(count, threads: threads) { piece in calls.withLock { $0[piece] += 1 } }
    #expect(calls.withLock { $0 } == [Int](repeating: 1, count: count))
  }

  @Test func noMoreThreadsWorkAtOnceThanAskedFor() {
    let running = Lock((now: 0, most: 0))
    Parallel.perform(200, threads: 2) { _ in
      running.withLock {
        $0.now += 1
        $0.most = max($0.most, $0.now)
      }
      for _ in 0..<1000 { _ = SplitMix64.mix(1) }
      running.withLock { $0.now -= 1 }
    }
    #expect((1...2).contains(running.withLock { $0.most }))
  }
}

@Suite struct OrderedPipelineTests {
  /// A worker that knows which pieces it has worked on.
  private struct Worker {
    var pieces: [Int] = []
  }

  @Test(arguments: [1, 2, 5], [false, true])
  func resultsAreInOrderAndEachWorkersPiecesToo(threads: Int, takerWorks: Bool) {
    let pipeline = OrderedPipeline(
      threads: threads, takerWorks: takerWorks, makeWorker: { Worker() },
      work: { (piece: Int, worker: inout Worker) in
        worker.pieces.append(piece)
        return piece * piece
      })
    var results: [Int] = []
    for piece in 0..<500 {
      if pipeline.isFull, let (_, result) = pipeline.take() { results.append(result) }
      pipeline.submit(piece)
    }
    while let (_, result) = pipeline.take() { results.append(result) }
    #expect(results == (0..<500).map { $0 * $0 })
    let worked = pipeline.finish().map(\.pieces)
    #expect(worked.count == threads)
    #expect(worked.allSatisfy { $0 == $0.sorted() })
    #expect(worked.joined().sorted() == Array(0..<500))
  }
}

extension OrderedPipelineTests {
  @Test(arguments: [1, 2, 5]) func aReservedPieceIsWorkedOnByItsWorker(threads: Int) {
    let pipeline = OrderedPipeline(
      threads: threads, makeWorker: { Worker() },
      work: { (piece: Int, worker: inout Worker) in
        worker.pieces.append(piece)
        return piece
      })
    var results: [Int] = []
    for piece in 0..<500 {
      if pipeline.isFull, let (_, result) = pipeline.take() { results.append(result) }
      // Some that any worker may do in between.
      pipeline.submit(piece, to: piece % 7 == 0 ? nil : piece % threads)
    }
    while let (_, result) = pipeline.take() { results.append(result) }
    #expect(results == Array(0..<500))
    let reserved = pipeline.finish().map { $0.pieces.filter { $0 % 7 != 0 } }
    let wanted = (0..<threads).map { worker in
      (0..<500).filter { $0 % 7 != 0 && $0 % threads == worker }
    }
    #expect(reserved == wanted)
  }
}

@Suite struct NumberTextTests {
  @Test func decimalDigits() {
    let numbers = [0, 7, 10, 99, 100, 1_234_567_890, Int(UInt32.max), .max]
    let texts = numbers.map { number in
      var bytes = Array("n=".utf8)
      bytes.appendDecimal(number)
      return String(decoding: bytes, as: UTF8.self)
    }
    #expect(texts == numbers.map { "n=\($0)" })
  }

  @Test(arguments: [
    (0, "0"), (999, "999"), (1000, "1,000"), (-1_234_567, "-1,234,567"),
    (Int.max, "9,223,372,036,854,775,807"),
    (Int.min, "-9,223,372,036,854,775,808"),
  ])
  func thousandsAreGrouped(number: Int, text: String) { #expect(number.grouped == text) }

  @Test func numbersArePadded() {
    #expect([7.padded(to: 2), 123.padded(to: 2), 0.padded(to: 4)] == ["07", "123", "0000"])
  }

  @Test func clockTimesHaveTwoDigits() {
    #expect(ClockTime.text(minuteOfDay: 1439) == "23:59")
    #expect(ClockTime.text(minuteOfDay: Int32(0)) == "00:00")
    #expect(ClockTime.text(secondOfDay: 3_661) == "01:01:01")
  }
}

@Suite struct SplitMix64Tests {
  /// - Source: the first numbers of seed 1234567, https://prng.di.unimi.it/splitmix64.c
  @Test func theNumbersAreThoseOfThePublishedProgram() {
    var numbers = SplitMix64(seed: 1_234_567)
    #expect(
      (0..<5).map { _ in numbers.next() } == [
        6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423,
        4_593_380_528_125_082_431, 16_408_922_859_458_223_821,
      ])
  }
}
