/// Words that people watch for, and that texts have now and then: subjects, by language, and numbers
/// of work items, which all languages share.
enum OpenWords {
  /// The share of the numbers; assumed.
  private static let numberShare = 0.3
  private static let numbers = 1000

  /// Appends a word, the first of its language most often.
  ///
  /// - Parameter language: a number of ``MessageText/languages``.
  static func append(_ language: Int, _ draws: inout Draws, to bytes: inout [UInt8]) {
    let isNumber = draws.isBelow(numberShare)
    if isNumber {
      bytes.append("OPS-")
      bytes.append(number: 1 + draws.rank(of: numbers))
    } else {
      let words = subjects[language]
      bytes.append(contentsOf: words[draws.rank(of: words.count)])
    }
  }

  private static let subjects = [
    "deploy release outage invoice urgent review budget incident rollback customer payment deadline",
    "релиз авария счёт срочно отчёт бюджет сбой клиент платёж срок сервер обзор",
    "إصدار عطل فاتورة عاجل تقرير ميزانية حادث عميل دفع موعد خادم مراجعة",
    "रिलीज़ गड़बड़ी बिल ज़रूरी रिपोर्ट बजट घटना ग्राहक भुगतान समयसीमा सर्वर समीक्षा",
    "发布 故障 发票 紧急 报告 预算 事故 客户 付款 截止 服务器 评审",
    "リリース しょうがい せいきゅう きんきゅう レポート よさん じこ きゃく しはらい しめきり サーバー レビュー",
    "ปล่อยรุ่น ขัดข้อง ใบแจ้งหนี้ ด่วน รายงาน งบประมาณ เหตุการณ์ ลูกค้า ชำระเงิน กำหนดส่ง เซิร์ฟเวอร์ ทบทวน",
  ].map { $0.split(separator: " ").map { Array($0.utf8) } }
}

extension Draws {
  /// A number of 0 ..< `count`, by Zipf's law with exponent 1.
  mutating func rank(of count: Int) -> Int {
    min(count, Int(PortableMath.power(Double(count + 1), share()))) - 1
  }
}
