internal import HTTPTypes
internal import PushFanout
internal import PushFiles
internal import PushModel
internal import PushService
internal import PushStore
internal import PushStoreService

extension ServerFailure {
  /// The status and code of any error.
  init(of error: any Error) {
    switch error {
    case let error as ServerFailure: self = error
    case let error as OperationFailure:
      self.init(of: error.error)
      line = error.line
    case let error as FileProblem: self.init(error)
    // Of a field that was asked for.
    case let error as FileProblem.Problem: self = .badRequest("\(error)")
    case let error as OperationProblem:
      switch error {
      case .unknownName:
        self.init(.unprocessableContent, "unknown_operation", "\(error)")
      case .fields: self = .badRequest("\(error)")
      }
    case let error as OptionError:
      self.init(.unprocessableContent, "invalid_options", error.description)
    case let error as FanoutError: self.init(Self.status(error), Self.code(error), "\(error)")
    case let error as ServiceError: self.init(error)
    case let error as SettingsWriteError:
      self.init(.unprocessableContent, "invalid_setting", "\(error)")
    case let error as StoreError: self.init(error)
    default: self.init(.internalServerError, "internal", "an error of the server: \(error)")
    }
  }

  /// What is wrong with a line of a body, or with all of it.
  init(_ problem: FileProblem) {
    let text = "\(problem.problem)"
    switch problem.problem {
    case .isEmpty: self = .badRequest("the body is empty")
    case .unknownUser: self.init(.notFound, "unknown_user", text, line: problem.line)
    case .unknownDevice: self.init(.notFound, "unknown_device", text, line: problem.line)
    default: self.init(.badRequest, "invalid_line", text, line: problem.line)
    }
  }

  private static func status(_ error: FanoutError) -> HTTPResponse.Status {
    switch error {
    case .unknownUser, .unknownConversation, .notAMember, .unknownDevice: .notFound
    default: .unprocessableContent
    }
  }

  private static func code(_ error: FanoutError) -> String {
    switch error {
    case .unknownUser: "unknown_user"
    case .unknownConversation: "unknown_conversation"
    case .notAMember: "not_a_member"
    case .unknownDevice: "unknown_device"
    case .unknownZones: "unknown_time_zone"
    default: "invalid_setting"
    }
  }

  private init(_ error: ServiceError) {
    switch error {
    case .unknownUser: self.init(.notFound, "unknown_user", "\(error)")
    case .unknownCursor: self.init(.gone, "events_unknown", "\(error)")
    default: self.init(.unprocessableContent, "invalid_setting", "\(error)")
    }
  }

  private init(_ error: StoreError) {
    switch error {
    case .unknownUser: self.init(.notFound, "unknown_user", "\(error)")
    case .unknownConversation: self.init(.notFound, "unknown_conversation", "\(error)")
    case .unknownDevice: self.init(.notFound, "unknown_device", "\(error)")
    case .unknownTemplate: self.init(.notFound, "unknown_template", "\(error)")
    case .notAMember: self.init(.notFound, "not_a_member", "\(error)")
    case .changedSince: self = .changed("\(error)")
    // Readers of events are not told where the store lies.
    case .unknownChange(_, let cursor):
      self.init(
        .gone, "events_unknown",
        "there is no change \(cursor): the store was replaced; read everything again, and follow from "
          + "its end")
    case .changesDropped(_, let cursor, _):
      self.init(
        .gone, "events_unknown",
        "the changes after \(cursor) are kept no longer; read everything again, and follow from the "
          + "end")
    case .idLength, .otherRules, .wrongKind, .unknownWindow, .unavailableKind, .unknownTimeZone,
      .rulesDiffer, .contradiction:
      self.init(.unprocessableContent, "invalid_setting", "\(error)")
    default:
      self.init(
        .serviceUnavailable, "store_unavailable", "\(error)", fields: [.retryAfter: "1"])
    }
  }
}

extension FileProblem {
  /// Reads a body of one JSON text, which begins on line 1.
  static func ofBody<Value>(
    _ read: () throws(Problem) -> Value
  ) throws(FileProblem) -> Value {
    do throws(Problem) { return try read() } catch {
      throw FileProblem(file: "body", line: 1, problem: error)
    }
  }
}
