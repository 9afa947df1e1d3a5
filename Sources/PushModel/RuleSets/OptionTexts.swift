/// How an option is written and read.
struct OptionText<Options> {
  let name: String
  let get: (Options) -> String
  let set: (inout Options, String) -> Bool

  typealias Path<Value> = WritableKeyPath<Options, Value>

  static func choice<Value: RawRepresentable<String>>(
    _ name: String, _ path: Path<Value>
  ) -> OptionText {
    OptionText(name: name, get: { $0[keyPath: path].rawValue }) { options, text in
      guard let value = Value(rawValue: text) else { return false }
      options[keyPath: path] = value
      return true
    }
  }

  static func flag(_ name: String, _ path: Path<Bool>) -> OptionText {
    OptionText(name: name, get: { "\($0[keyPath: path])" }) { options, text in
      guard let value = Bool(text) else { return false }
      options[keyPath: path] = value
      return true
    }
  }

  static func seconds(_ name: String, _ path: Path<Int64>) -> OptionText {
    OptionText(name: name, get: { "\($0[keyPath: path])" }) { options, text in
      guard let value = Int64(text), (0...Instant.maximumMilliseconds).contains(value) else {
        return false
      }
      options[keyPath: path] = value
      return true
    }
  }
}

extension OptionText<EasemobOptions> {
  static var easemob: [OptionText] {
    [
      .choice("zeroZeroMeans", \.zeroZeroMeans), .choice("intervalEnd", \.intervalEnd),
      .choice("forceScope", \.forceScope), .choice("flagConflict", \.flagConflict),
      .flag("atListAllInArray", \.atListAllInArray),
      .flag("atListStringAsId", \.atListStringAsID), .choice("atListIdCase", \.atListIDCase),
      .flag("atListLegacyApnsExt", \.atListLegacyAPNsExt),
      .flag("mentionBypassesDnd", \.mentionBypassesDND),
      .choice("singleChatMentionOnly", \.singleChatMentionOnly),
      .flag("pushTransparent", \.pushTransparent), .choice("threadScope", \.threadScope),
      .seconds("expireSeconds", \.expireSeconds),
    ]
  }
}

extension OptionText<RongCloudOptions> {
  static var rongcloud: [OptionText] {
    [
      .choice("singleMentionLevels", \.singleMentionLevels), .choice("quietZero", \.quietZero),
      .choice("ultraConversationLevel", \.ultraConversationLevel),
      .choice("boundary", \.boundary), .choice("span1439", \.span1439),
      .flag("mentionBypassesQuiet", \.mentionBypassesQuiet),
      .seconds("backgroundGraceSeconds", \.backgroundGraceSeconds),
    ]
  }
}
