public import CPushFanoutABI

/// The table of this library's functions.
// SAFETY: made once, and read only.
private nonisolated(unsafe) let table: UnsafePointer<pf_functions> = {
  let table = UnsafeMutablePointer<pf_functions>.allocate(capacity: 1)
  unsafe table.initialize(to: makeTable())
  return unsafe UnsafePointer(table)
}()

@c(pf_swift_functions)
public func functions() -> UnsafePointer<pf_functions>? { unsafe table }

private func makeTable() -> pf_functions {
  unsafe pf_functions(
    release: { unsafe release($0) },
    open_bytes: { unsafe openBytes($0, $1, $2, $3, $4) },
    open_files: { unsafe openFiles($0, $1, $2, $3, $4, $5, $6, $7, $8) },
    open_snapshot: { unsafe openSnapshot($0, $1, $2, $3, $4, $5) },
    open_arrow: { unsafe openArrow($0, $1, $2, $3, $4, $5, $6) },
    reopen: { unsafe reopen($0, $1, $2) },
    can_follow_fork: { unsafe canFollowFork($0) },
    write_snapshot: { unsafe writeSnapshot($0, $1, $2, $3, $4, $5) },
    get_info: { unsafe getInfo($0, $1, $2) },
    get_memory: { unsafe getMemory($0, $1, $2) },
    unknown_zone_users: { unsafe unknownZoneUsers($0, $1, $2) },
    members: { unsafe members($0, $1, $2, $3, $4, $5) },
    update: { unsafe update($0, $1, $2, $3, $4, $5) },
    remove_member: { unsafe removeMember($0, $1, $2, $3, $4, $5, $6) },
    advance: { unsafe advance($0, $1, $2) },
    warm_up: { unsafe warmUp($0, $1, $2, $3, $4) },
    messages_read: { unsafe messagesRead($0, $1, $2, $3, $4, $5) },
    messages_read_arrow: { unsafe messagesReadArrow($0, $1, $2, $3) },
    messages_count: { unsafe messagesCount($0) },
    messages_get: { unsafe messagesGet($0, $1, $2, $3, $4, $5) },
    messages_stream: { unsafe messagesStream($0, $1) },
    answer_new: { unsafe answerNew($0) },
    decide: { unsafe decide($0, $1, $2, $3) },
    decide_at: { unsafe decideAt($0, $1, $2, $3, $4) },
    answer_summary: { unsafe answerSummary($0, $1) },
    answer_counts: { unsafe answerCounts($0, $1) },
    answer_size: { unsafe answerSize($0) },
    answer_codes: { unsafe answerCodes($0, $1) },
    answer_push_bitmap: { unsafe answerPushBitmap($0, $1) },
    answer_push_count: { unsafe answerPushCount($0) },
    answer_push_ranks: { unsafe answerPushRanks($0, $1) },
    answer_users: { unsafe answerUsers($0, $1) },
    answer_push_ids: { unsafe answerPushIDs($0, $1) },
    answer_push_targets: { unsafe answerPushTargets($0, $1) },
    answer_refused: { unsafe answerRefused($0, $1) },
    answer_members: { unsafe answerMembers($0, $1) },
    answer_code: { unsafe answerCode($0, $1, $2, $3, $4) },
    decide_user: { unsafe decideUser($0, $1, $2, $3, $4, $5, $6, $7) },
    explain: { unsafe explain($0, $1, $2, $3, $4, $5, $6, $7, $8, $9) },
    next_change: { unsafe nextChange($0, $1, $2, $3, $4, $5, $6, $7, $8, $9, $10) },
    decide_batch: { unsafe decideBatch($0, $1, $2, $3, $4, $5, $6) },
    evaluate: { unsafe evaluate($0, $1, $2, $3, $4, $5, $6, $7, $8) },
    relation_new: { unsafe relationNew($0, $1, $2, $3, $4) },
    relation_stream: { unsafe relationStream($0, $1) },
    relation_users: { unsafe relationUsers($0, $1) },
    relation_held: { unsafe relationHeld($0, $1) })
}
