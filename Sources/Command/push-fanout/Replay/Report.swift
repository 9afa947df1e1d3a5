import ArgumentParser
import PushFiles
import PushReplay
import PushReport

/// `push-fanout report`: the picture of a replay or a comparison.
struct Report: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Draw the result of a replay or a comparison as one HTML file.",
    discussion: """
      The file is self-contained: charts, the figures behind them, light and dark; it loads \
      nothing from the network. docs/report.md explains each chart.

      Examples:

        push-fanout report june.replay.json --output june.html

        push-fanout report june.replay.json.gz \\
          --title "June, with the new default" -o june.html

        push-fanout report june.replay.json --price-per-million '$0.50' \\
          -o june.html

        push-fanout report june.replay.json --figures june \\
          --note "Settings are drawn, messages are real" -o june.html

        push-fanout replay --settings world.ndjson --messages today.ndjson \\
          --json | push-fanout report - >today.html

      A result that contradicts itself is refused, with FILE: what is wrong.
      """)

  @Argument(
    help: ArgumentHelp(
      "What push-fanout replay or compare wrote; - for standard input.", valueName: "result"))
  var result: InputPath

  @Option(help: ArgumentHelp("The page's heading.", valueName: "text"))
  var title: String?

  @Option(
    help: ArgumentHelp(
      "What a million pushes cost, in any currency: 0.50, $0.50, \"0.50 EUR\".",
      valueName: "price"))
  var pricePerMillion: PriceArgument?

  @Option(
    help: ArgumentHelp(
      "What readers are to know first, such as where the data is from; below the answer.",
      valueName: "text"))
  var note: String?

  @Flag(help: "Print folded sections and the figures behind charts too, which takes many pages.")
  var printFigures = false

  @Option(
    name: .shortAndLong,
    help: ArgumentHelp("Write to a file, which appears when it is complete.", valueName: "file"))
  var output: OutputPath?

  @Option(
    help: ArgumentHelp(
      """
      Also write the exact figures behind the charts as CSV files, in a folder that must not exist \
      yet.
      """, valueName: "folder"))
  var figures: OutputPath?

  @OptionGroup var habits: QuietOption

  func run() throws {
    let file = try output?.open()
    let output = file ?? OutputFile()
    defer { output.abandon() }
    Interruption.beginOutput(output)
    let content = try ReplayFile.read(result.path)
    let html: String
    let tables: [FigureTable]
    do throws(ReportProblem) {
      html = try content.html(
        title: title, price: pricePerMillion?.price, note: note, printsFigures: printFigures)
      tables = figures == nil ? [] : try content.figures(price: pricePerMillion?.price)
    } catch {
      throw ReplayFileProblem(file: result.path, reason: "\(error)")
    }
    let folder = try figures.map { path in
      try OutputFolder(path: path.path, names: tables.map(\.fileName))
    }
    defer { folder?.abandon() }
    if let folder {
      Interruption.beginOutput(
        output.finalName,
        temporaryNames: [output.temporaryName].compactMap { $0 } + folder.temporaryNames)
      for table in tables { try table.write(to: try folder.file(table.fileName)) }
    }
    try output.write(html.utf8)
    if let folder {
      // All that can fail but giving names.
      try output.sync()
      try Interruption.publish { () throws(OutputProblem) in try folder.finish() }
      Interruption.beginOutput(output)
    }
    try output.finish()
    Interruption.endOutput()
  }
}

/// A price of a million pushes.
struct PriceArgument: ExpressibleByArgument {
  let price: PushPrice

  init?(argument: String) {
    guard let price = PushPrice(argument) else { return nil }
    self.price = price
  }
}

extension FigureTable {
  fileprivate var fileName: String { "\(name).csv" }

  fileprivate func write(to file: OutputFile) throws {
    var bytes: [UInt8] = []
    for row in [columns] + rows {
      for (index, cell) in row.enumerated() {
        if index > 0 { bytes.append(UInt8(ascii: ",")) }
        bytes.appendCSV(cell)
      }
      bytes.append(UInt8(ascii: "\n"))
    }
    try file.write(whole: bytes)
    try file.finish()
  }
}
