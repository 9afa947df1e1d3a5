public import PushModel

/// The recipients who get a push, in the order of users.
///
/// Reading neither allocates nor counts references, and prefetches ids. ``ids`` gives ids as
/// values, ``forEachID(_:)`` their bytes, ``forEachTarget(_:)`` those of devices too. Any number of
/// threads may read a set.
public struct PushSet: Sequence, Sendable {
  let result: FanoutResult

  /// - Complexity: as for ``FanoutResult/pushes``.
  public func makeIterator() -> Iterator { Iterator(result) }

  /// Iterates over the indices of users.
  public struct Iterator: IteratorProtocol {
    /// Retains what the cursor reads.
    private let storage: AnswerStorage
    private var cursor: RecipientCursor

    fileprivate init(_ result: borrowing FanoutResult) {
      storage = result.storage
      cursor = RecipientCursor(result, .pushes, .users, in: 0..<result.memberCount)
    }

    public mutating func next() -> UserIndex? {
      guard let recipient = cursor.next() else { return nil }
      return UserIndex(recipient.index)
    }
  }

  /// The ids of these recipients.
  ///
  /// - Complexity: O(1); an id is created when it is read.
  public var ids: IDs { IDs(result: result) }

  /// The ids of recipients who get a push, in the order of users.
  public struct IDs: Sequence, Sendable {
    fileprivate let result: FanoutResult

    /// - Complexity: as for ``FanoutResult/pushes``.
    public func makeIterator() -> Iterator { Iterator(result) }

    /// Iterates over the ids. One of up to 15 bytes is made without allocating.
    public struct Iterator: IteratorProtocol {
      /// Retains what the cursor reads.
      private let storage: AnswerStorage
      private let ids: IDReader
      private var cursor: RecipientCursor

      fileprivate init(_ result: borrowing FanoutResult) {
        storage = result.storage
        ids = result.ids
        cursor = RecipientCursor(result, .pushes, .ids, in: 0..<result.memberCount)
      }

      public mutating func next() -> Identifier? {
        guard let recipient = cursor.next() else { return nil }
        return ids[recipient.index]
      }

      package mutating func nextWithUser() -> (user: UserIndex, id: Identifier)? {
        guard let recipient = cursor.next() else { return nil }
        return (UserIndex(recipient.index), ids[recipient.index])
      }
    }
  }

  /// Calls `body` with each recipient who gets a push and the UTF-8 id, in the order of users.
  ///
  /// The bytes are the engine's own, to be copied into a payload. They are as loaded: invalid UTF-8
  /// is refused in settings, but not looked for in a snapshot's ids of more than 15 bytes.
  ///
  /// - Complexity: as for ``FanoutResult/pushes``; without allocating.
  public func forEachID<Failure: Error>(
    _ body: (_ user: UserIndex, _ id: RawSpan) throws(Failure) -> Void
  ) throws(Failure) {
    defer { withExtendedLifetime(result.storage) {} }
    var cursor = RecipientCursor(result, .pushes, .ids, in: 0..<result.memberCount)
    let ids = result.ids
    while let recipient = cursor.next() {
      let id = unsafe RawSpan(_unsafeBytes: ids.characters(recipient.index))
      try body(UserIndex(recipient.index), id)
    }
  }

  /// Calls `body` for each device that a push goes to, with the recipient and the UTF-8 ids of
  /// recipient and device, in the order of users and of their devices. Who gets a push has at least
  /// one.
  ///
  /// ``forEachID(_:)`` says what the bytes are.
  ///
  /// - Complexity: as for ``FanoutResult/pushes``, and O(devices of those users); allocates only
  ///   for a message with a device filter.
  public func forEachTarget<Failure: Error>(
    _ body: (_ user: UserIndex, _ id: RawSpan, _ device: RawSpan) throws(Failure) -> Void
  ) throws(Failure) {
    defer { withExtendedLifetime(result.storage) {} }
    var cursor = RecipientCursor(result, .pushes, .devices, in: 0..<result.memberCount)
    let (ids, devices) = (result.ids, result.deviceReader)
    while let recipient = cursor.next() {
      let user = recipient.index
      let id = unsafe ids.characters(user)
      try devices.forEachTarget(of: user, .push, result.filter, at: result.instant) {
        (device) throws(Failure) -> Void in
        try unsafe body(
          UserIndex(user), RawSpan(_unsafeBytes: id), RawSpan(_unsafeBytes: devices.id(of: device)))
      }
    }
  }
}

extension FanoutResult {
  /// Who gets a push.
  ///
  /// - Complexity: O(1). Iteration is O(members / 64 + pushes), and O(members) the first time for a
  ///   conversation of more than 512 members and an interval without transitions.
  public var pushes: PushSet { PushSet(result: self) }
}
