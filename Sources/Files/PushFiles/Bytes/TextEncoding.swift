/// Encodings of texts that are not UTF-8.
enum TextEncoding {
  /// The encoding that bytes are most likely in, as iconv calls it: characters of two bytes that are
  /// not ASCII are GB 18030's; one such byte among letters is Windows's, with the byte of a sign that
  /// Latin-1 lacks, or Latin-1's. nil if there are only bytes that none of these has.
  static func likely(_ bytes: UnsafeRawBufferPointer) -> String? {
    var (alone, paired, hasSigns) = (0, 0, false)
    var length = 0
    for index in 0...bytes.count {
      let byte = unsafe index < bytes.count ? bytes[index] : 0
      if byte >= 0x80 {
        length += 1
        hasSigns = hasSigns || byte < 0xA0
        // Neither has it, and UTF-8 that was cut or changed most likely does.
        if byte == 0xFF || byte == 0x81 && length == 1 { return nil }
        continue
      }
      if length == 1 { alone += 1 } else { paired += length }
      length = 0
    }
    if paired > alone { return "GB18030" }
    return hasSigns ? "WINDOWS-1252" : "LATIN1"
  }
}
