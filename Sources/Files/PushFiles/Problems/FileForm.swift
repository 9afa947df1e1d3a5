/// A form of files that is not read, by the bytes that it begins with.
public struct FileForm: Hashable, Sendable {
  let signature: [UInt8]
  /// What the file is, and what to do.
  let text: String

  private init(_ signature: [UInt8], _ text: String) {
    self.signature = signature
    self.text = text
  }

  private static let all = [
    FileForm(
      [0xFF, 0xFE], "the file is UTF-16 (byte order mark FF FE): iconv -f UTF-16 -t UTF-8"),
    FileForm(
      [0xFE, 0xFF], "the file is UTF-16 (byte order mark FE FF): iconv -f UTF-16 -t UTF-8"),
    FileForm(
      Array("PAR1".utf8),
      "Parquet is read by the Python package: python -m push_fanout evaluate --help"),
    FileForm(
      Array("ARROW1".utf8),
      "Arrow files are read by the Python package: pyarrow.ipc.open_file(NAME).read_all()"),
    FileForm([0x28, 0xB5, 0x2F, 0xFD], "the file is packed by zstd: zstd -d"),
    FileForm([0xFD, 0x37, 0x7A, 0x58, 0x5A, 0x00], "the file is packed by xz: xz -d"),
    FileForm(Array("BZh".utf8), "the file is packed by bzip2: bzip2 -d"),
    FileForm(
      Array("PK\u{3}\u{4}".utf8),
      "the file is a zip archive: unzip -p; of a workbook save the sheet as CSV UTF-8"),
    FileForm(
      [0xD0, 0xCF, 0x11, 0xE0], "the file is a workbook: save the sheet as CSV UTF-8"),
    FileForm(
      Array("SQLite format 3\0".utf8), "the file is a database; a store is named by --store"),
  ]

  /// Checks the first bytes of a file.
  static func check(_ bytes: UnsafeRawBufferPointer) throws(FileProblem.Problem) {
    if let form = all.first(where: { unsafe bytes.starts(with: $0.signature) }) {
      throw .otherForm(form)
    }
  }
}
