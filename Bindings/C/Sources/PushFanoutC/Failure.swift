public import CPushFanoutABI
internal import PushFanout
internal import PushFiles
internal import PushReplay
internal import PushService
internal import QuietTime

/// Where a function writes what is wrong; nil if the caller does not want to know.
public typealias ErrorText = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?

/// An error that knows its status code.
public protocol StatusError: Error {
  /// A `PF_` code other than `PF_OK`.
  var status: Int32 { get }
}

/// An argument that is not allowed, or what else only callers from C can do wrong.
public struct CallError: StatusError, CustomStringConvertible {
  public let status: Int32
  public let description: String

  /// An error of a text.
  public init(_ description: String, status: Int32 = PF_MISUSE) {
    self.status = status
    self.description = description
  }
}

/// Calls `body`, and gives the status of what it throws and its text.
public func answering(_ error: ErrorText, _ body: () throws -> Void) -> Int32 {
  do {
    try body()
    return PF_OK
  } catch let failure {
    return unsafe pf_fail(error, status(of: failure), "\(failure)")
  }
}

private func status(of error: any Error) -> Int32 {
  switch error {
  case let error as any StatusError: error.status
  case let error as FileProblem: status(of: error.problem)
  case let error as FileProblem.Problem: status(of: error)
  case let error as FanoutError: status(of: error)
  case let error as SnapshotError: status(of: error.problem)
  case let error as ServiceError: status(of: error)
  case is OutputProblem: PF_IO
  case is OptionProblem, is WhatIf.Problem: PF_INVALID
  case is ZoneDataError: PF_TIME_ZONES
  default: PF_INTERNAL
  }
}

func status(of problem: FileProblem.Problem) -> Int32 {
  switch problem {
  case .cannotOpen, .cannotRead, .isDirectory: PF_IO
  case .unknownUser, .unknownDevice: PF_NOT_FOUND
  case .timeZoneData: PF_TIME_ZONES
  default: PF_INVALID
  }
}

private func status(of error: FanoutError) -> Int32 {
  switch error {
  case .unknownUser, .unknownConversation, .notAMember, .unknownDevice: PF_NOT_FOUND
  case .unknownTimeZone, .emptyID, .otherRules, .noHeartbeats: PF_INVALID
  case .timeZoneData, .unknownZones: PF_TIME_ZONES
  case .tooMany: PF_LIMIT
  }
}

private func status(of problem: SnapshotError.Problem) -> Int32 {
  switch problem {
  case .cannotWrite: PF_IO
  case .timeZoneData: PF_TIME_ZONES
  default: PF_SNAPSHOT
  }
}

private func status(of error: ServiceError) -> Int32 {
  switch error {
  case .rulesDiffer, .contradiction: PF_REFUSED
  case .unknownUser: PF_NOT_FOUND
  case .notInBytes, .noPushContent, .unknownCursor: PF_MISUSE
  }
}
