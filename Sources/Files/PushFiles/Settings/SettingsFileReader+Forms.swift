internal import PushModel
internal import PushSupport

/// Reads files of each form.
extension SettingsFileReader {
  mutating func readNDJSON() {
    let reader: PieceReader
    do { reader = try PieceReader(paths.source(fileNumber), size: options.pieceSize) } catch {
      return report(error, line: error.lineAtOpening)
    }
    do throws(FileProblem.Problem) {
      while ended == nil, !isUnreadable, let piece = try reader.next() {
        parse(piece, .settings, from: reader)
      }
      applyAll(from: reader)
      if fileRecordCount == 0, !isUnreadable { report(.isEmpty, line: 1) }
    } catch {
      applyAll(from: reader)
      report(error, line: lines + 1)
    }
  }

  mutating func readCSV(
    _ layout: CSVLayout, format: (CSVColumns) -> PieceParser.Format
  ) {
    let table: CSVTable
    do {
      table = try CSVTable(
        paths.source(fileNumber), layout, pieceSize: options.pieceSize)
    } catch {
      return report(error, line: error.lineAtOpening)
    }
    lines = table.lines
    let format = format(table.columns)
    if csvMerge?.begin(table.columns, isUsers: format.isUsers) == false {
      return report(.otherColumns, line: 1)
    }
    do throws(FileProblem.Problem) {
      while ended == nil, let piece = try table.nextPiece() {
        parse(piece, format, from: table.reader)
      }
      applyAll(from: table.reader)
    } catch {
      applyAll(from: table.reader)
      report(error, line: lines + 1)
    }
  }

  /// Reads the rows of a stream.
  mutating func readStream(_ stream: ArrowStream) {
    let source = UnknownProgress()
    let pieceRows = ArrowPiece.rowCount(pieceSize: options.pieceSize)
    let isUsers = stream.rows == .users
    // Without an app's record so far, and none to come, the rules are the default ones.
    let rules = appRules ?? (isBehindSettings && problems.isEmpty ? defaultRules : nil)
    // Released on this thread, when the others are done with them.
    var batches: [(batch: ArrowRows, end: Int)] = []
    var end = 0
    do throws(FileProblem) {
      while ended == nil, let batch = try stream.next() {
        end += batch.count
        batches.append((batch, end))
        if isUsers {
          settings.reserveCapacity(
            users: settings.userCount + batch.count,
            declared: settings.declaredCount + batch.count)
        }
        for start in stride(from: 0, to: batch.count, by: pieceRows) where ended == nil {
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
          location: Location(file: fileNumber, line: error.line ?? 0), hasLine: error.line != nil,
          problem: error.problem, name: error.file))
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
