public import PushModel
public import QuietTime

/// Why a store could not be opened, read or written. Nothing that was acknowledged is lost by it.
public enum StoreError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The file is none of ours, or no database at all.
  case notAStore(String, reason: String)
  /// There is no store, and none was to be made.
  case missing(String)
  /// There is a file of no bytes, which no push-fanout leaves; whether a snapshot is beside it.
  case empty(String, hasSnapshot: Bool)
  /// The change feed does not have the entry behind which it was to be read: the store was replaced
  /// by an old copy, was imported again, or is another. Changes are missed; reload everything.
  case unknownChange(String, FeedCursor)
  /// The change feed was compacted up to an entry behind the one from which it was to be read.
  /// Changes are missed; reload everything.
  case changesDropped(String, FeedCursor, upTo: Int64)
  /// A record was changed after an entry of the feed, with which a write was to be made: by that entry,
  /// or by one that is not known. Read the record again.
  case changedSince(Int64, by: Int64?)
  /// An id was erased, but a reader of another process still uses the log, in which it may be.
  case erasureUnfinished(String)
  /// A store of another format, which the version that wrote it reads.
  case otherFormat(String, Int32)
  /// Another process has it open for writing, or another store of this very process.
  case inUse(String, byThisProcess: Bool = false)
  /// A store whose file has several names (hard links) is not written: its log lies beside one of
  /// them, and an open by another name does not find that.
  case linked(String, names: Int)
  /// The file that was open for writing has lost its name: it was removed or renamed, or replaced
  /// by another. Nothing is written any more; open the store again.
  case replaced(String)
  /// The log of the file that was open for writing was removed or replaced, or the file or its log
  /// was cut. Nothing is written any more.
  case cut(String)
  /// A file system on which locks cannot keep other writers out.
  case withoutLocks(String, fileSystem: String)
  /// A file without locks, in a folder that may not be written, was changed twice while it was
  /// read.
  case changedMeanwhile(String)
  /// A write to a store that was opened for reading.
  case readOnly(String)
  /// SQLite could not do it: the disk is full, the file cannot be read, and so on.
  case database(String, reason: String)
  /// The store was closed.
  case closed(String)
  /// An id that is empty, or longer than ``SettingsStore/idLimit`` bytes.
  case idLength(Int)
  /// An operation of another rule set.
  case otherRules(RuleSet)
  /// A user whose id the store does not have.
  case unknownUser(Identifier)
  /// A conversation whose id the store does not have.
  case unknownConversation(Identifier)
  /// A template that the store does not have.
  case unknownTemplate(String)
  /// A setting for a conversation of which the user is not a member.
  case notAMember(user: Identifier, conversation: Identifier)
  /// A device that the user does not have.
  case unknownDevice(user: Identifier, device: Identifier)
  /// A quiet window that the user does not have.
  case unknownWindow(user: Identifier, position: Int)
  /// An operation that this kind of conversation does not have.
  case wrongKind(Identifier, ConversationKind)
  /// A kind of conversation that the store's rules do not have.
  case unavailableKind(ConversationKind, RuleSet)
  /// A time zone that is not in the IANA database.
  case unknownTimeZone(String)
  /// A time zone whose data cannot be used, or a system without a time-zone database.
  case timeZoneData(ZoneDataError)
  /// Settings of one vendor's rules for a store of the other's.
  case rulesDiffer(store: RuleSet, settings: RuleSet)
  /// Records that do not go together with those of the store: which, and why.
  case contradiction(String)
  /// A name for something new that is in use.
  case exists(String)
  /// A name to write to that is one of a store's own.
  case partOfStore(String, String)
  /// The log of a store that is not there, where one is to be made.
  case strayLog(String)
  /// There was no store when an import began, and now there is one.
  case madeMeanwhile(String)
  /// What is stored contradicts itself.
  case damaged(String, reason: String)

  public var description: String {
    switch self {
    case .notAStore(let path, let reason): "\(path) is not a push-fanout store: \(reason)"
    case .missing(let path): "there is no store \(path); import settings to make one"
    case .empty(let path, let hasSnapshot):
      "\(path) is not a push-fanout store: it is empty; "
        + (hasSnapshot
          ? "restore a backup, or rebuild it from its snapshot: "
            + "push-fanout store rebuild --from-snapshot"
          : "restore a backup, or remove it to start over")
    case .unknownChange(let path, let cursor):
      "\(path) does not have change \(cursor): it was replaced by an older copy or import; "
        + "changes were missed, so read everything again"
    case .changesDropped(let path, let cursor, let sequence):
      "\(path) no longer has the changes after \(cursor): the feed was compacted up to \(sequence); "
        + "changes were missed, so read everything again"
    case .changedSince(let sequence, let other?):
      "change \(other) is of the same record, and newer than \(sequence); read the record again"
    case .changedSince(let sequence, nil):
      "whether the record was changed after \(sequence) is not known, as the feed has too many changes "
        + "since, or none of that number; read the record again"
    case .erasureUnfinished(let path):
      "\(path): the id is removed, but a process that reads the store keeps its log, which may still "
        + "have it; end that process, and the next opening for writing, or store erase --finish, "
        + "empties the log"
    case .otherFormat(let path, let format):
      "\(path) has format \(format), and this version of push-fanout reads format "
        + "\(Schema.format): export it with the version that wrote it (store export), and import "
        + "that into a new store"
    case .inUse(let path, byThisProcess: false):
      "\(path) is open for writing in another process; close it there first"
    case .inUse(let path, byThisProcess: true):
      "\(path) is open for writing in this process already; use that store, or close it first"
    case .linked(let path, let names):
      "\(path) has \(names) names (hard links); it is written when it has one: remove the others"
    case .replaced(let path):
      "\(path) is not the file that was opened any more: it was removed, renamed or replaced; "
        + "nothing is written until the store is opened again"
    case .cut(let path):
      "\(path)-wal was removed or replaced, or it or \(path) was cut; nothing is written until the "
        + "store is opened again: end the process with SIGTERM, which saves what a removed log had, "
        + "look with push-fanout store check, and restore a backup if it finds damage"
    case .withoutLocks(let path, let fileSystem):
      "\(path) is on a file system (\(fileSystem)) whose locks may not keep other writers out; "
        + "write it on a local one"
    case .changedMeanwhile(let path):
      "\(path) was changed while it was read, and cannot be locked here; try again"
    case .readOnly(let path): "\(path) was opened for reading"
    case .database(let path, let reason): "\(path): \(reason)"
    case .closed(let path): "\(path) was closed"
    case .idLength(let count):
      "an id of \(count) bytes is not in 1...\(SettingsStore.idLimit)"
    case .otherRules(let rules):
      "the store's rules are \(rules.rawValue)'s, which have no such setting"
    case .unknownUser(let id): "there is no user \"\(id)\""
    case .unknownConversation(let id): "there is no conversation \"\(id)\""
    case .unknownTemplate(let name): "there is no template \"\(name)\""
    case .notAMember(let user, let conversation):
      "\"\(user)\" is not a member of \"\(conversation)\""
    case .unknownDevice(let user, let device): "\"\(user)\" has no device \"\(device)\""
    case .unknownWindow(let user, let position): "\"\(user)\" has no quiet window \(position)"
    case .wrongKind(let id, let kind): "\"\(id)\" is a \(kind.rawValue), which has no such setting"
    case .unavailableKind(let kind, let rules):
      "a conversation of type \(kind.rawValue) does not exist under \(rules.rawValue)"
    case .unknownTimeZone(let name): "\"\(name)\" is not a time zone; give an IANA name"
    case .timeZoneData(let error): "\(error)"
    case .rulesDiffer(let store, let settings):
      "the store's rules are \(store.rawValue)'s, and the settings' are \(settings.rawValue)'s"
    case .contradiction(let reason): "the records do not go with the store's: \(reason)"
    case .exists(let path): "\(path) exists; give a name that is not in use"
    case .partOfStore(let path, let store):
      "\(path) belongs to the store \(store); write somewhere else"
    case .strayLog(let path):
      "\(path) is the log of a store that is gone: restore the store, or delete the log"
    case .madeMeanwhile(let path): "\(path) was made meanwhile; import again"
    case .damaged(let path, let reason): "\(path) is damaged: \(reason)"
    }
  }
}
