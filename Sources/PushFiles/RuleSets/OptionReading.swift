internal import PushModel

extension AppSettings {
  /// Reads `options`: those of decision-rules.md by name.
  mutating func readOptions(
    _ fields: JSONFields, _ uses: inout VendorFieldUse
  ) throws(FileProblem.Problem) {
    for (key, value) in fields {
      let owner = try readOption(key, value, "options.\(key.text)")
      uses.note(option: owner, "the option \"\(key.text)\"")
    }
  }

  /// Reads an option.
  ///
  /// - Returns: the rule set that has it.
  private mutating func readOption(
    _ key: JSONKey, _ value: JSONValue, _ name: String
  ) throws(FileProblem.Problem) -> RuleSet {
    for rules in RuleSet.allCases {
      let isFound =
        switch rules {
        case .easemob: try easemob.read(key, value, name)
        case .rongcloud: try rongcloud.read(key, value, name)
        }
      if isFound { return rules }
    }
    throw .unknownField(name)
  }
}

/// Seconds that stay exact as milliseconds.
private let secondsRange: ClosedRange<Int64> = 0...Instant.maximumMilliseconds

extension EasemobOptions {
  /// Reads an option; false for an unknown name.
  fileprivate mutating func read(
    _ key: JSONKey, _ value: JSONValue, _ name: String
  ) throws(FileProblem.Problem) -> Bool {
    switch key {
    case "zeroZeroMeans": zeroZeroMeans = try value.choice(name)
    case "intervalEnd": intervalEnd = try value.choice(name)
    case "forceScope": forceScope = try value.choice(name)
    case "flagConflict": flagConflict = try value.choice(name)
    case "atListAllInArray": atListAllInArray = try value.flag(name)
    case "atListStringAsId": atListStringAsID = try value.flag(name)
    case "atListIdCase": atListIDCase = try value.choice(name)
    case "atListLegacyApnsExt": atListLegacyAPNsExt = try value.flag(name)
    case "mentionBypassesDnd": mentionBypassesDND = try value.flag(name)
    case "singleChatMentionOnly": singleChatMentionOnly = try value.choice(name)
    case "pushTransparent": pushTransparent = try value.flag(name)
    case "threadScope": threadScope = try value.choice(name)
    case "expireSeconds": expireSeconds = try value.whole(name, in: secondsRange)
    default: return false
    }
    return true
  }
}

extension RongCloudOptions {
  /// Reads an option; false for an unknown name.
  fileprivate mutating func read(
    _ key: JSONKey, _ value: JSONValue, _ name: String
  ) throws(FileProblem.Problem) -> Bool {
    switch key {
    case "singleMentionLevels": singleMentionLevels = try value.choice(name)
    case "quietZero": quietZero = try value.choice(name)
    case "ultraConversationLevel": ultraConversationLevel = try value.choice(name)
    case "boundary": boundary = try value.choice(name)
    case "span1439": span1439 = try value.choice(name)
    case "mentionBypassesQuiet": mentionBypassesQuiet = try value.flag(name)
    case "backgroundGraceSeconds": backgroundGraceSeconds = try value.whole(name, in: secondsRange)
    default: return false
    }
    return true
  }
}
