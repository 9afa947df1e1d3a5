internal import PushModel
internal import PushSupport

/// Reads files of each form.
extension SettingsFileReader {
  mutating func readNDJSON() {
    let reader: PieceReader
    do { reader = try PieceReader(paths.source(fileNumber), size: pieceSize) } catch {
      return report(error, line: error.lineAtOpening)
    }
    do throws(FileProblem.Problem) {
      while let piece = try reader.next() {
        if piece.isWhole {
          parse(piece, .settings, from: reader)
          continue
        }
        applyAll(from: reader)
        lines += 1
        try reader.dropLine()
        report(.tooLong, line: lines)
        unsafe reader.pass(bytes: piece.text.count, lines: 1)
        count(1, from: reader)
      }
      applyAll(from: reader)
      if fileRecordCount == 0 { report(.isEmpty, line: 1) }
    } catch {
      applyAll(from: reader)
      report(error, line: lines + 1)
    }
  }

  mutating func readCSV(
    _ names: [String], _ required: [String], format: (CSVColumns) -> PieceParser.Format
  ) {
    rowsKeepChannels = (appRules ?? defaultRules).fields.contains(.channels)
    let table: CSVTable
    do {
      table = try CSVTable(
        paths.source(fileNumber), columns: names, required: required, pieceSize: pieceSize)
    } catch {
      return report(error, line: error.lineAtOpening)
    }
    lines = table.openLine - 1
    let format = format(table.columns)
    if csvMerge?.begin(table.columns, isUsers: format.isUsers) == false {
      return report(.otherColumns, line: 1)
    }
    var parser = PieceParser(paths.unknownZones)
    do throws(FileProblem.Problem) {
      while !table.isAtEnd {
        if let piece = try table.plainPiece() {
          parse(piece, format, from: table)
          continue
        }
        applyAll(from: table)
        guard try readRows(of: table, format, &parser) else { return }
      }
    } catch {
      applyAll(from: table)
      report(error, line: table.openLine)
    }
  }

  /// Reads rows that need the CSV parser.
  ///
  /// - Returns: whether reading can go on.
  private mutating func readRows(
    of table: CSVTable, _ format: PieceParser.Format, _ parser: inout PieceParser
  ) throws(FileProblem.Problem) -> Bool {
    if !table.hasParsed { try table.parseMore() }
    var batch = RecordBatch()
    var failure: FileProblem.Problem?
    while table.hasParsed {
      do throws(FileProblem.Problem) {
        guard let row = try table.next() else { break }
        try unsafe parser.add(
          row, line: table.lineNumber - lines, format, appRules, keepsAll: keepsAll, to: &batch)
      } catch {
        if error.isOfOneLine {
          batch.add(error, line: table.lineNumber - lines)
        } else {
          failure = error
        }
      }
    }
    batch.finish(settings.lookup)
    apply(batch)
    count(batch.recordCount, from: table)
    if let failure { report(failure, line: table.lineNumber) }
    lines = table.openLine - 1
    return failure == nil
  }

  /// Reads the rows of a stream.
  mutating func readStream(_ stream: ArrowStream) {
    let source = UnknownProgress()
    let pieceRows = ArrowPiece.rowCount(pieceSize: pieceSize)
    let isUsers = stream.rows == .users
    // Without an app's record so far, and none to come, the rules are the default ones.
    let rules = appRules ?? (isBehindSettings && problems.isEmpty ? defaultRules : nil)
    // Released on this thread, when the others are done with them.
    var batches: [(batch: ArrowRows, end: Int)] = []
    var end = 0
    do throws(FileProblem) {
      while let batch = try stream.next() {
        end += batch.count
        batches.append((batch, end))
        if isUsers {
          settings.reserveCapacity(
            users: settings.userCount + batch.count,
            declared: settings.declaredCount + batch.count)
        }
        for start in stride(from: 0, to: batch.count, by: pieceRows) {
          let range = start..<min(batch.count, start + pieceRows)
          submit(
            .rows(ArrowPiece(batch: batch, range: range, isUsers: isUsers)), rules, from: source)
        }
        while let first = batches.first, first.end <= lines {
          batches.removeFirst().batch.release()
        }
      }
    } catch {
      report(
        Located(
          location: Location(file: fileNumber, line: 0), hasLine: false, problem: error.problem,
          name: error.file))
    }
    applyAll(from: source)
    for (batch, _) in batches { batch.release() }
  }
}

/// The progress of a stream, whose length is not known.
private final class UnknownProgress: PieceSource {
  var progress: Double? { nil }
  func pass(bytes: Int, lines: Int) {}
}
