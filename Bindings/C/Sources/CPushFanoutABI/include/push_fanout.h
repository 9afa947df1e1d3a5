/*
** push_fanout.h -- who gets a push for a message, and why others do not
**
** The C interface of push-fanout, for C99, C++17 and everything that calls C. docs/c.md is the
** guide; this file is the reference. What settings and messages are, and the rules by which they
** decide: docs/formats.md and docs/decision-rules.md.
**
** OVERVIEW
**
**   pf_engine    settings, packed; decides. Opened by pf_open_bytes() and its neighbours.
**   pf_messages  messages that were read from NDJSON, CSV or Arrow.
**   pf_answer    the decision for one message. Made once, used for many messages.
**   pf_batch     the decisions for many messages, in arrays.
**   pf_relation  the decisions for many messages as Arrow streams.
**   pf_requests  requests to providers, made as they are asked for.
**   pf_result    what a replay or a comparison came to.
**
**   pf_engine *engine;
**   pf_answer *answer;
**   char *error = NULL;
**   if (pf_open_bytes(settings, size, NULL, &engine, &error) != PF_OK) {
**     fprintf(stderr, "%s\n", error);
**     pf_free(error);
**     return 1;
**   }
**   pf_answer_new(engine, &answer, NULL);
**   pf_message message = {sizeof message};
**   ...
**   pf_decide(engine, &message, answer, &error);
**
** ANSWERS BY RANK
**
** The members of a conversation have ranks, 0, 1, 2 ..., in the order in which user ids first
** appeared in the settings. An answer is bytes by rank: a code a member, or a bit. The ids of the
** members are fetched once (pf_members()) and kept. Every answer has a pf_stamp; ids belong to an
** answer if and only if epoch and membership of their stamps are equal. Otherwise fetch them again.
**
** ERRORS
**
** A function that can fail returns PF_OK (0) or another PF_ code. If its last parameter `error` is
** not NULL, *error is set to NULL on success, and otherwise to a text that says what is wrong, in
** the words of the push-fanout command, to be freed with pf_free(). Output parameters are written
** on success only, unless their documentation says otherwise.
**
** No value of an argument ends the process: numbers out of range, NULL where something is needed
** and bytes that are not understood are errors. What cannot be checked must be true: that pointers
** are valid for the sizes given, that handles are live, and that they are used as "Threads" says.
** Memory that cannot be allocated ends the process, but for the arrays of a batch (PF_MEMORY).
**
** THREADS
**
** Any number of threads may use one pf_engine, pf_messages, pf_relation or pf_result at once.
** pf_update() may be called while other threads decide; a decision sees all changes of an update or
** none. One pf_answer may be read by several threads at a time, but decided into by one, while no
** other uses it: have one for each thread. A handle is freed when no other call uses it and never
** twice. Handles may be freed in any order: an answer keeps what it reads. A pf_requests, and by
** Arrow's rule a stream, is used by one thread at a time.
**
** FORK
**
** In a child of fork(), engines that were opened before it are refused with PF_FORKED, as are
** answers, messages, relations and results that belong to them: threads of the parent may have held locks,
** and the threads of the library do not exist there. pf_reopen() opens the same settings again.
** Only an engine with `threads` = 1 works on in the child, provided that no call used it during the
** fork. What is opened in a child of a process that has used several threads uses one thread.
**
** VERSIONS
**
** Functions are never removed or changed within an ABI version; structures grow at the end only,
** and those that the caller allocates begin with `struct_size`, set to their sizeof. All symbols
** have the version PUSHFANOUT_1. The library may not be unloaded: dlclose() has no effect.
*/
#ifndef PUSH_FANOUT_H
#define PUSH_FANOUT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this interface. pf_abi_version() is that of the library that was loaded: a program
** works with every library of the same number. */
#define PF_ABI_VERSION 1
int32_t pf_abi_version(void);

/* ---------------------------------------------------------------------------------- Status codes */

#define PF_OK 0
/* An argument that is not allowed: NULL, a number out of range, a handle of another kind. */
#define PF_MISUSE 1
/* Settings, messages, changes or a stream that are not understood: "FILE:LINE: what is wrong". */
#define PF_INVALID 2
/* There is no such user, conversation or membership. */
#define PF_NOT_FOUND 3
/* A file cannot be opened, read or written. */
#define PF_IO 4
/* A snapshot cannot be used: build the engine from its records instead. */
#define PF_SNAPSHOT 5
/* A store cannot be used, or refused a change. */
#define PF_STORE 6
/* The system's time-zone data is missing or damaged, or lacks the zone of a user: install tzdata (or
** tzdata-legacy), or set TZDIR. */
#define PF_TIME_ZONES 7
/* There is more of something than an engine can hold. */
#define PF_LIMIT 8
/* The buffer is too small; the count that is needed was written. */
#define PF_TOO_SMALL 9
/* The handle is of before a fork. */
#define PF_FORKED 10
/* Changes that do not go together with the settings; nothing was changed. */
#define PF_REFUSED 11
/* A defect of the library; please report the text. */
#define PF_INTERNAL 12
/* There is no memory for a batch; nothing was decided. */
#define PF_MEMORY 13
/* The caller ended the call (pf_watch). */
#define PF_CANCELLED 14

/* The name of a status code, like "PF_INVALID"; "unknown" for a number that is none. Static. */
const char *pf_status_name(int status);

/* Frees a text or bytes that a function gave; NULL is allowed. */
void pf_free(void *memory);

/* ---------------------------------------------------------------------------------------- Values */

/* UTF-8, not terminated. `bytes` NULL: absent. */
typedef struct pf_text {
  const char *bytes;
  size_t size;
} pf_text;

/* Texts behind each other, in the layout of Arrow's large_utf8: text i has the bytes
** offsets[i] ... offsets[i + 1] - 1. Freed with pf_ids_free(). */
typedef struct pf_ids {
  size_t count;
  const uint64_t *offsets; /* count + 1 */
  const char *bytes;
} pf_ids;

/* Frees what a function wrote to `ids` and makes it empty; NULL is allowed. */
void pf_ids_free(pf_ids *ids);

/* Which settings an answer is of. */
typedef struct pf_stamp {
  /* Drawn at random when the engine was opened, never 0: numbers of other engines, or of the same
  ** program after a restart, do not compare. */
  uint64_t epoch;
  /* The settings' sequence number: 1, and one more for each update. */
  uint64_t sequence;
  /* The membership version of the conversation; 0 for one without members. Equal versions of one
  ** epoch mean the same members at the same ranks; a thread has that of its parent. It changes with
  ** every change of the members or of the conversation's own settings, and has no order. */
  uint64_t membership;
} pf_stamp;

/* An instant is an int64_t: milliseconds since 1970-01-01T00:00:00Z, 0 ... PF_LAST_INSTANT. */
#define PF_LAST_INSTANT INT64_C(9007199254740991)

/* -------------------------------------------------------------------------------- Outcome codes */

/* An outcome's code is a byte: 0 for a member who is not a recipient (the sender, or somebody whose
** membership begins later), otherwise a number of docs/outcome-codes.csv. A push has an odd code,
** and nothing else does. Codes are frozen; later versions only append to the registry. */
#define PF_CODE_COUNT 160

/* The version of the registry in this library: the number of its outcomes. Results that were stored
** with a version are understood by every library with the same one or a higher one. */
uint32_t pf_outcome_registry_version(void);

/* The words of a code, as in files: action "push", "local" or "none", a reason, and a scope or NULL.
** They are static. Any of the pointers may be NULL.
**
** PF_NOT_FOUND for 0 and for a code that no outcome has. */
int pf_outcome(uint8_t code, const char **action, const char **reason, const char **scope);

/* --------------------------------------------------------------------------------------- Engines */

typedef struct pf_engine pf_engine;

typedef struct pf_options {
  size_t struct_size; /* sizeof(pf_options) */
  /* How many threads one call may use, 1 ... 1024; 0 for the cores that the process may use. */
  int32_t threads;
  int32_t unused; /* 0; earlier headers end here */
  /* What is done with users whose time zone this machine does not have: PF_ZONES_REFUSE or
  ** PF_ZONES_IGNORE. */
  int32_t unknown_zones;
  /* Asked while bytes, files or streams are read, with the number of records so far; NULL for none.
  ** Not of pf_reopen(). */
  const struct pf_watch *watch;
} pf_options;

/* They are refused alone. In settings that are read now, such a zone is PF_INVALID. A snapshot or a
** store is opened: its users of such zones are no recipients of any message, and who asks for one
** gets PF_TIME_ZONES (pf_unknown_zone_users(), pf_answer_refused()). The default. */
#define PF_ZONES_REFUSE 0
/* They are decided as if they had no quiet hours. */
#define PF_ZONES_IGNORE 1

/* Opens an engine for the bytes of a settings.ndjson (docs/formats.md). No bytes at all: an engine
** without users, by Easemob's defaults. `options` may be NULL.
**
** O(size). The bytes are not used afterwards. */
int pf_open_bytes(
  const void *settings, size_t size, const pf_options *options, pf_engine **engine, char **error);

/* Opens an engine for settings files, read as one: settings.ndjson files, users.csv files and
** members.csv files, also gzipped. Each list may be NULL with a count of 0. */
int pf_open_files(
  const char *const *settings, size_t settings_count, const char *const *users, size_t users_count,
  const char *const *members, size_t members_count, const pf_options *options, pf_engine **engine,
  char **error);

/* Opens the snapshot of an engine: maps the file instead of building tables. The two numbers are the
** identity that it was written with.
**
** The file stays mapped. Who truncates it or writes into it meanwhile makes the process fail with
** SIGBUS or decide wrongly: replace it by another file of its name, as pf_write_snapshot() does, and
** copy it first where others may write.
**
** PF_SNAPSHOT when it cannot be used. */
int pf_open_snapshot(
  const char *path, uint64_t identity_high, uint64_t identity_low, const pf_options *options,
  pf_engine **engine, char **error);

struct ArrowArrayStream;

/* What get_next of a stream may give instead of a batch: the schema has changed, and get_schema is
** called again for that of the batches which follow. So tables of different schemas are one stream. */
#define PF_ARROW_NEW_SCHEMA 0x7066

/* Opens an engine for Arrow streams (the C stream interface, below).
**
** A stream's columns are the fields of the records of settings.ndjson, by their names, in any order,
** without `kind`: those of `users` are fields of user records, those of `members` of member records.
** Types: utf8, large_utf8 or utf8_view; integers, bool, timestamps with a time zone (any unit);
** dictionaries of these; structs for objects and lists for arrays. A null is a field that is absent;
** a row that is null as a whole is refused, and so are timestamps without a time zone, as nothing
** says which instants they are, and extension types that are no text. An id may be an integer, or a
** float that is one and cannot have been rounded: it is the same id as the text of the decimal digits.
** A batch that is not built as the schema says is refused, as far as it can be seen.
**
** settings    the bytes of a settings.ndjson with the app and conversations; NULL for none.
** users, members    NULL for none. Both are consumed and released, also when there is an error, by the
**                   thread that calls.
**
** PF_INVALID with "users:ROW: what is wrong", "members:ROW: ...", rows from 1; "users: what is wrong"
** where it is no row but the stream, or a batch. */
int pf_open_arrow(
  const void *settings, size_t size, struct ArrowArrayStream *users,
  struct ArrowArrayStream *members, const pf_options *options, pf_engine **engine, char **error);

/* Opens the settings of an engine once more, also those of one that a fork made unusable: from its
** snapshot, files or store, as they are now.
**
** PF_MISUSE for an engine that was opened from bytes or streams, which are no longer there. */
int pf_reopen(const pf_engine *engine, pf_engine **reopened, char **error);

/* Closes an engine; NULL is allowed. Of an engine that a fork made unusable the memory stays. */
void pf_close(pf_engine *engine);

/* Writes a snapshot of the current settings, for pf_open_snapshot(). The file appears under its name
** when it is complete. `sequence` is a number of the caller's for what was written. */
int pf_write_snapshot(
  const pf_engine *engine, const char *path, uint64_t identity_high, uint64_t identity_low,
  uint64_t sequence, char **error);

/* Easemob's rules, RongCloud's, and open rules. */
#define PF_RULES_EASEMOB 0
#define PF_RULES_RONGCLOUD 1
#define PF_RULES_OPEN 2

typedef struct pf_info {
  size_t struct_size; /* sizeof(pf_info) */
  uint64_t epoch;
  uint64_t sequence;
  uint64_t user_count;
  int32_t threads;
  int32_t rules; /* PF_RULES_ */
  /* Of the snapshot that it was opened from; 0 if it was not. */
  uint64_t snapshot_sequence;
} pf_info;

/* What an engine is. */
int pf_get_info(const pf_engine *engine, pf_info *info, char **error);

/* Bytes of memory by what they are for (docs/c.md). `mapped` belongs to the page cache, and is
** contained in the parts. */
typedef struct pf_memory {
  size_t struct_size; /* sizeof(pf_memory) */
  uint64_t users, user_extras, conversations, memberships, membership_extras;
  uint64_t ids, id_characters /* of ids of more than 15 bytes */, states, mapped;
  uint64_t user_count, conversation_count, membership_count;
} pf_memory;

/* The memory that an engine's tables take. O(conversations). */
int pf_get_memory(const pf_engine *engine, pf_memory *memory, char **error);

/* The users whose time zone this machine does not have, and these zones, as they are written in the
** settings; both are empty mostly. Names of the tz database that are links count as their zone.
** Either may be NULL. O(these users). */
int pf_unknown_zone_users(
  const pf_engine *engine, pf_ids *users, pf_ids *zones, char **error);

/* The members of a conversation by rank, and the stamp that they are of. No members for an id that
** never appeared. O(members). `stamp` may be NULL. */
int pf_members(
  const pf_engine *engine, const char *conversation, size_t size, pf_stamp *stamp, pf_ids *ids,
  char **error);

/* --------------------------------------------------------------------------------------- Changes */

/* Makes changes, all or none: lines of a settings.ndjson, each of which replaces the record of the
** same key. Decisions that begin when it has returned are by them. With a store they are on the disk
** then. No bytes, or blank lines alone, are no changes: the sequence number stays.
**
** now        when the change is made, for the change feed of a store.
** records    receives the number of records; may be NULL. */
int pf_update(
  const pf_engine *engine, const void *changes, size_t size, int64_t now, uint64_t *records,
  char **error);

/* Notes what devices say of themselves, under open rules (O-30): lines {"user", "device", "state",
** "seenAt"} of a presence.ndjson, each over the state and `seenAt` that the device has in the
** settings. Presence is no setting: it is not in a snapshot or a store, and ends with the engine.
**
** A wrong line has no effect, and the others have theirs: the status is then that of the first wrong
** one, and the text has all of them, one a line.
**
** applied    receives the number of heartbeats that decisions are by; may be NULL. */
int pf_set_presence(
  const pf_engine *engine, const void *heartbeats, size_t size, uint64_t *applied, char **error);

/* Ends a membership. */
int pf_remove_member(
  const pf_engine *engine, const char *user, size_t user_size, const char *conversation,
  size_t conversation_size, int64_t now, char **error);

/* Prepares an instant: the day's quiet hours, and in its last hour those of the next day. Called
** each minute, it keeps that work off the threads that decide. */
int pf_advance(const pf_engine *engine, int64_t at, char **error);

/* Prepares a conversation, so that the first message to it costs no more than later ones. */
int pf_warm_up(
  const pf_engine *engine, const char *conversation, size_t size, int64_t at, char **error);

/* -------------------------------------------------------------------------------------- Messages */

#define PF_BODY_TEXT 0
#define PF_BODY_COMMAND 1
#define PF_BODY_STATUS 2
#define PF_BODY_CUSTOM 3

/* A message, and the instant at which it is decided. All zero but struct_size, conversation and at:
** a plain text of the system. Ids must not be empty (PF_INVALID). Fields that say "maybe" are 0
** absent, 1 true, -1 false. A device filter and `ext` are only read from NDJSON
** (pf_messages_read()). Fields of other rules have no effect, but mentions_roles and reply_to_user
** are refused by rules that do not have them, as in NDJSON (PF_INVALID). */
typedef struct pf_message {
  size_t struct_size; /* sizeof(pf_message) */
  pf_text id;
  pf_text conversation;
  pf_text sender; /* bytes NULL: a system message */
  int64_t at;
  const pf_text *mentions; /* NULL: absent, which is not the same as a count of 0 */
  size_t mention_count;
  int8_t mentions_all; /* maybe */
  int8_t silent;       /* maybe */
  int8_t body;         /* PF_BODY_ */
  /* Easemob's; force and sent_at also of open rules */
  int8_t force;       /* maybe */
  int8_t online_only; /* 0 or 1 */
  int64_t sent_at;    /* 0: that of `at` */
  /* RongCloud's */
  pf_text channel;      /* of an ultra group */
  pf_text push_content; /* empty: none */
  int8_t is_mentioned;  /* maybe; absent: whether there are mentions */
  int8_t persisted;     /* maybe; absent: true */
  int8_t backlog;       /* 0 or 1 */
  /* Of open rules, which take at most 8 roles and 10,000 mentions (PF_INVALID) */
  const pf_text *mentions_roles; /* NULL: none */
  size_t mentions_role_count;
  pf_text reply_to_user; /* bytes NULL: none */
  pf_text text;          /* for keywords; the first 65,536 bytes are looked at */
} pf_message;

typedef struct pf_messages pf_messages;

/* Reads messages for an engine, whose rule set says which fields there may be.
**
** name    what errors call the bytes, "messages.ndjson" for NULL. CSV if it ends in .csv, gzip if it
**         ends in .gz. No file is read.
**
** No bytes at all are no messages if `name` is NULL, and a file that is empty, PF_INVALID, otherwise.
** PF_INVALID for the first message that is not understood. */
int pf_messages_read(
  const pf_engine *engine, const void *bytes, size_t size, const char *name,
  pf_messages **messages, char **error);

/* Reads messages from a stream, whose columns are the fields of messages.ndjson: see
** pf_open_arrow(). The stream is consumed and released, also when there is an error. */
int pf_messages_read_arrow(
  const pf_engine *engine, struct ArrowArrayStream *stream, pf_messages **messages, char **error);

/* The same, asking meanwhile, with the number of messages so far; `watch` may be NULL. */
int pf_messages_read_watched(
  const pf_engine *engine, const void *bytes, size_t size, const char *name,
  const struct pf_watch *watch, pf_messages **messages, char **error);
int pf_messages_read_arrow_watched(
  const pf_engine *engine, struct ArrowArrayStream *stream, const struct pf_watch *watch,
  pf_messages **messages, char **error);

/* The messages of several that were read for an engine, one behind the other, such as those of several
** files. The parts stay what they are, and may be freed. */
int pf_messages_join(
  const pf_engine *engine, const pf_messages *const *parts, size_t count, pf_messages **messages,
  char **error);

/* The number of messages; 0 for NULL. */
size_t pf_messages_count(const pf_messages *messages);

/* The id, conversation and instant of a message, the texts to be freed with pf_free(), terminated;
** any pointer may be NULL. PF_MISUSE for an index that is not below the count. */
int pf_messages_get(
  const pf_messages *messages, size_t index, char **id, char **conversation, int64_t *at,
  char **error);

/* The messages as rows, in their order:
**
**   message       uint32       the number, from 0, as rows of a relation name it
**   id            large_utf8   the id; not necessarily unique
**   conversation  large_utf8   the conversation's id
**   at            int64        the instant of the decision, milliseconds since 1970
**
** stream    a structure of the caller's without content, which has to be released. The messages may
**           be freed before. */
int pf_messages_stream(
  const pf_messages *messages, struct ArrowArrayStream *stream, char **error);

void pf_messages_free(pf_messages *messages);

/* -------------------------------------------------------------------------------- One message */

typedef struct pf_answer pf_answer;

/* Makes an empty answer for messages of an engine. */
int pf_answer_new(const pf_engine *engine, pf_answer **answer, char **error);

void pf_answer_free(pf_answer *answer);

/* Decides a message for all members of its conversation. The answer is empty after an error, and for
** a conversation whose id never appeared.
**
** O(mentions log members) when the conversation was decided before; it then allocates nothing for
** ids of up to 15 bytes. `answer` must be of the same engine. */
int pf_decide(
  const pf_engine *engine, const pf_message *message, pf_answer *answer, char **error);

/* The same for a message that was read. PF_MISUSE for an index that is not below the count. */
int pf_decide_at(
  const pf_engine *engine, const pf_messages *messages, size_t index, pf_answer *answer,
  char **error);

/* What an answer comes to. */
typedef struct pf_summary {
  pf_stamp stamp;
  uint64_t members;
  uint64_t recipients;
  uint64_t pushes;
} pf_summary;

int pf_answer_summary(const pf_answer *answer, pf_summary *summary, char **error);

/* The number of recipients by code: counts[code], PF_CODE_COUNT numbers; counts[0] is 0. */
int pf_answer_counts(const pf_answer *answer, uint32_t *counts, char **error);

/* The functions below write to a buffer of the caller's. *count receives how many there are, also
** with PF_TOO_SMALL, when nothing else is written. A buffer of `members` of the summary is always
** large enough; for the bitmap (members + 7) / 8. */

/* The outcome's code of each member, by rank. */
int pf_answer_codes(
  const pf_answer *answer, uint8_t *codes, size_t capacity, size_t *count, char **error);

/* A bit for each member by rank, 1 for a push: bit r % 8 (the lowest is 0) of byte r / 8; the bits
** behind the last member are 0. *count is the number of bytes. */
int pf_answer_push_bitmap(
  const pf_answer *answer, uint8_t *bitmap, size_t capacity, size_t *count, char **error);

/* The ranks of those who get a push, ascending. */
int pf_answer_push_ranks(
  const pf_answer *answer, uint32_t *ranks, size_t capacity, size_t *count, char **error);

/* The number of each member's user, by rank, ascending. A user's number never changes as long as the
** engine lives. */
int pf_answer_users(
  const pf_answer *answer, uint32_t *users, size_t capacity, size_t *count, char **error);

/* The ids of those who get a push, in the order of ranks. */
int pf_answer_push_ids(const pf_answer *answer, pf_ids *ids, char **error);

/* The devices that pushes go to, push after push, and whose they are: the devices of push i have the
** indices device_starts[i] ... device_starts[i + 1] - 1 in `devices`. Freed with
** pf_targets_free(). */
typedef struct pf_targets {
  pf_ids users;
  const uint64_t *device_starts; /* users.count + 1 */
  pf_ids devices;
} pf_targets;

int pf_answer_push_targets(const pf_answer *answer, pf_targets *targets, char **error);
void pf_targets_free(pf_targets *targets);

/* The ids of all members, by rank: those that the answer's codes belong to, whatever was updated
** since. O(members). */
int pf_answer_members(const pf_answer *answer, pf_ids *ids, char **error);

/* The ids of members who are not decided for, as this machine does not have their time zone
** (PF_ZONES_REFUSE): their codes are 0, as if they were no recipients. */
int pf_answer_refused(const pf_answer *answer, pf_ids *ids, char **error);

/* The outcome's code for one user; 0 for one who is not a recipient. O(log members). */
int pf_answer_code(
  const pf_answer *answer, const char *user, size_t size, uint8_t *code, char **error);

/* -------------------------------------------------------------------------------------- One user */

/* Decides a message for one user only: the outcome's code (0: not a recipient) and, unless `devices`
** is NULL, the devices that a push or local notification goes to. O(log members + devices).
** stamp      the settings that decided, unless NULL; its membership is 0, as the answer has no ranks
**
** PF_TIME_ZONES for a user who is not decided for (PF_ZONES_REFUSE). */
int pf_decide_user(
  const pf_engine *engine, const pf_message *message, const char *user, size_t size, uint8_t *code,
  pf_ids *devices, pf_stamp *stamp, char **error);

/* Explains messages of a messages.ndjson for one user: a JSON object a line, as of `explain --json`,
** terminated; freed with pf_free().
**
** content    not 0: with what the push says, and why
** stamp      as of pf_decide_user(). */
int pf_explain(
  const pf_engine *engine, const void *messages, size_t size, const char *user, size_t user_size,
  int content, char **json, size_t *json_size, pf_stamp *stamp, char **error);

/* The answer for a plain message, a text from another user without mentions. */
typedef struct pf_change {
  int64_t at;     /* when it next changes without an update; -1 for never */
  uint8_t before; /* the code until then, from the instant asked for on */
  uint8_t after;  /* the code from then on; that of `before` for never */
} pf_change;

/* When the answer for a plain message next changes by itself, after an instant. `channel` is that of
** an ultra group; NULL for none. `stamp` is as of pf_decide_user().
**
** PF_NOT_FOUND for an unknown user or conversation, and for a user who is not a member. */
int pf_next_change(
  const pf_engine *engine, const char *user, size_t user_size, const char *conversation,
  size_t conversation_size, const char *channel, size_t channel_size, int64_t after,
  pf_change *change, pf_stamp *stamp, char **error);

/* ------------------------------------------------------------------------------- Many messages */

#define PF_COUNTS 1u
#define PF_CODES 2u
#define PF_PUSH_BITMAPS 4u

/* Decisions for messages, all by the same settings. Members that were not asked for are NULL. Freed
** with pf_batch_free(). */
typedef struct pf_batch {
  size_t count;
  const pf_summary *summaries; /* count */
  const uint32_t *counts;      /* count * PF_CODE_COUNT */
  const uint64_t *code_starts; /* count + 1: the index of each message's first code */
  const uint8_t *codes;
  const uint64_t *bitmap_starts; /* count + 1: the index of each message's first byte */
  const uint8_t *bitmaps;
} pf_batch;

/* Decides messages, on all threads of the engine. Fastest in the order of time.
**
** first, count    which of the messages.
** parts           PF_COUNTS, PF_CODES, PF_PUSH_BITMAPS, or several of them; the summaries are always
**                 there.
**
** PF_MEMORY when there is no memory for the arrays. Their size is known before (pf_batch_size()); a
** system that promises more memory than it has ends the process when they are filled. */
int pf_decide_batch(
  const pf_engine *engine, const pf_messages *messages, size_t first, size_t count, uint32_t parts,
  pf_batch **batch, char **error);

/* The bytes of the arrays that pf_decide_batch() would make. O(count). */
int pf_batch_size(
  const pf_engine *engine, const pf_messages *messages, size_t first, size_t count, uint32_t parts,
  uint64_t *size, char **error);

/* What is asked of the caller of a long call, on its thread, when it begins to read and about every 50 ms:
** whether it goes on.
**
** done, all    how many messages or records were done, and how many there are; all is 0 where that is not
**              known
**
** Returns 0 to go on; otherwise the call ends with PF_CANCELLED, and gives nothing. */
typedef struct pf_watch {
  int (*ask)(void *context, uint64_t done, uint64_t all);
  void *context;
} pf_watch;

/* pf_decide_batch() that asks meanwhile, and at its end; `watch` may be NULL. */
int pf_decide_batch_watched(
  const pf_engine *engine, const pf_messages *messages, size_t first, size_t count, uint32_t parts,
  const pf_watch *watch, pf_batch **batch, char **error);

void pf_batch_free(pf_batch *batch);

/* Decides the messages of a messages.ndjson and gives what `push-fanout evaluate` writes, in the
** format "ndjson", "csv", "counts", "pushlist" or "summary", terminated; freed with pf_free(). A summary
** is that of `--format summary --json`. No bytes, or blank lines alone, are no messages.
**
** devices    not 0: rows list the devices ("ndjson" only)
** stamp      the settings by which all messages are decided, as of pf_decide_user()
**
** PF_TIME_ZONES when a message goes to users who are not decided for (PF_ZONES_REFUSE). */
int pf_evaluate(
  const pf_engine *engine, const void *messages, size_t size, const char *format, int devices,
  char **text, size_t *text_size, pf_stamp *stamp, char **error);

/* pf_evaluate() that asks meanwhile; `watch` may be NULL. */
int pf_evaluate_watched(
  const pf_engine *engine, const void *messages, size_t size, const char *format, int devices,
  const pf_watch *watch, char **text, size_t *text_size, pf_stamp *stamp, char **error);

/* -------------------------------------------------------------------------------------- Requests */

/* A file: the one at a path that `name` is, or `content`, which is read as a file of that name would
** be. */
typedef struct pf_file {
  pf_text name;
  pf_text content; /* absent: the file at the path is read */
} pf_file;

#define PF_APNS 1u
#define PF_FCM 2u

/* How requests to providers are made (docs/sending.md). All zero but struct_size and senders: those of
** both platforms, each with its body. */
typedef struct pf_sending {
  size_t struct_size;
  pf_file senders;      /* a senders.ndjson */
  pf_file templates;    /* a templates.ndjson (Easemob); absent: those of the store */
  uint32_t platforms;   /* PF_APNS, PF_FCM or both; 0: both */
  int32_t share_bodies; /* not 0: a body that several requests of a message have stands once, before them */
} pf_sending;

/* The requests of messages, made as they are asked for. */
typedef struct pf_requests pf_requests;

/* Begins the requests of the messages of a messages.ndjson, a line each: what `push-fanout render
** --platform` writes. No bytes, or blank lines alone, are no messages. Each message is decided when its
** turn comes, by the settings of then. The bytes are not used afterwards.
**
** The lines have the tokens of devices: keep them out of logs. A snapshot has no tokens, platforms and
** names, so lines of an engine that was opened from one have none.
**
** PF_INVALID for senders or templates that are not understood, PF_MISUSE under open rules, which do not
** say what a push contains. */
int pf_requests_new(
  const pf_engine *engine, const void *messages, size_t size, const pf_sending *sending,
  pf_requests **requests, char **error);

/* Gives the next lines, about 256 KiB of them, terminated; freed with pf_free(). At the end *lines is NULL
** and *size 0. So a sender that waits for its connection holds back what is rendered. One thread at a
** time.
**
** PF_INVALID for a message that is not understood, when all lines of those before it were given; then it
** has ended. PF_TIME_ZONES instead of the end when messages went to users who are not decided for
** (PF_ZONES_REFUSE): they have no requests. */
int pf_requests_next(pf_requests *requests, char **lines, size_t *size, char **error);

void pf_requests_free(pf_requests *requests);

/* What a provider answered to a request. All zero but struct_size, platform, now and attempt: nothing. */
typedef struct pf_provider_answer {
  size_t struct_size;
  uint32_t platform;        /* PF_APNS or PF_FCM */
  int32_t status;           /* of HTTP; 0: no answer came */
  pf_text body;             /* one that is not the provider's JSON says nothing */
  int64_t retry_after;      /* the seconds of the header Retry-After; 0: none */
  int64_t registered_at;    /* when the device registered its token; 0: not known */
  int64_t now;              /* the time */
  int64_t expiry;           /* that of the request; 0: none, and it is tried once */
  int32_t attempt;          /* how often it was tried, from 1 */
  int32_t surely_not_taken; /* not 0: a GOAWAY of the provider names an earlier stream */
  double random;            /* a random number, at least 0 and below 1 */
} pf_provider_answer;

/* What a sender does then. */
typedef struct pf_step {
  /* "sent", "gone", "wrong", "refused", "credentials", "renew" or "retry" (docs/sending.md); static. */
  const char *action;
  int64_t retry_at;             /* when it is tried again; -1 for never */
  int64_t timestamp;            /* when APNs knew that the token was gone; -1 where it does not say */
  int32_t forgets_token;        /* 1 if the device's token is forgotten */
  int32_t needs_new_connection; /* 1 if it is tried again on a new connection */
} pf_step;

/* Says what an answer means: the same for the same values, without a network, a clock or an engine. */
int pf_read_provider_answer(const pf_provider_answer *answer, pf_step *step, char **error);

/* --------------------------------------------------------------------------------------- Replays */

/* What happens along time (docs/replay.md): files of messages, of presence (CSV, under open
** rules NDJSON) and of changes of settings (NDJSON), each sorted by time. Files of messages are NDJSON, or CSV if the name ends in
** .csv or has csv: in front. Content of blank lines alone is nothing. */
typedef struct pf_traffic {
  size_t struct_size; /* sizeof(pf_traffic) */
  const pf_file *messages;
  size_t message_count;
  const pf_file *presence;
  size_t presence_count;
  const pf_file *changes;
  size_t change_count;
  /* Messages that were read for this engine, merged with those of files; for pf_replay() alone. Errors
  ** call them "messages", and count them from 1. */
  const pf_messages *const *read;
  size_t read_count;
} pf_traffic;

/* What a replay or a comparison came to. */
typedef struct pf_result pf_result;

/* Replays traffic from the current settings of an engine on, which stays as it is: what
** `push-fanout replay` does.
**
** options    a JSON object of options of that command, by their names: flags "hold", "per-person",
**            "skip-invalid"; texts "time-zone", "rate-limit", "follow-user", "follow-conversation",
**            "from", "to", "delimiter", "columns", "zone"; lists of texts "conversation", "user"; the
**            whole number "top"; paths of files that are written, "held" and "people", and are not
**            there when it fails. No bytes are no options.
** watch      asks meanwhile, with the messages that were decided; may be NULL
**
** It works on all threads of the engine and one that reads, also for an engine of one thread. So it
** is PF_FORKED in a child of a process that has used several threads. */
int pf_replay(
  const pf_engine *engine, const pf_traffic *traffic, const char *options, size_t size,
  const pf_watch *watch, pf_result **result, char **error);

/* Replays traffic in two worlds, which are the current settings of an engine with changes: what
** `push-fanout compare` does. There are no changes of settings along time in it.
**
** options    as of pf_replay(), of this command: lists of texts "a", "b", "conversation", "user"; texts
**            "name-a", "name-b", "time-zone", "rate-limit", "from", "to", "delimiter", "columns",
**            "zone"; the whole number "top"; the path "people". "b" must be there. */
int pf_compare(
  const pf_engine *engine, const pf_traffic *traffic, const char *options, size_t size,
  const pf_watch *watch, pf_result **result, char **error);

/* The result as JSON (docs/replay.md and docs/compare.md, "The result file"), terminated; freed with
** pf_free(). */
int pf_result_json(const pf_result *result, char **json, size_t *json_size, char **error);

/* The page of the result: what `push-fanout report` writes, terminated; freed with pf_free().
**
** options    a JSON object of options of that command, by their names: texts "title", "note",
**            "price-per-million"; the flag "print-figures". No bytes are no options. */
int pf_result_html(
  const pf_result *result, const char *options, size_t size, char **html, size_t *html_size,
  char **error);

void pf_result_free(pf_result *result);

/* ----------------------------------------------------------------------------------------- Arrow */

/* The Arrow C data and stream interfaces, as the specification has them. */
#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE 2
#define ARROW_FLAG_MAP_KEYS_SORTED 4

struct ArrowSchema {
  const char *format;
  const char *name;
  const char *metadata;
  int64_t flags;
  int64_t n_children;
  struct ArrowSchema **children;
  struct ArrowSchema *dictionary;
  void (*release)(struct ArrowSchema *);
  void *private_data;
};

struct ArrowArray {
  int64_t length;
  int64_t null_count;
  int64_t offset;
  int64_t n_buffers;
  int64_t n_children;
  const void **buffers;
  struct ArrowArray **children;
  struct ArrowArray *dictionary;
  void (*release)(struct ArrowArray *);
  void *private_data;
};
#endif

#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE

struct ArrowArrayStream {
  int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *out);
  int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *out);
  const char *(*get_last_error)(struct ArrowArrayStream *);
  void (*release)(struct ArrowArrayStream *);
  void *private_data;
};
#endif

typedef struct pf_relation pf_relation;

/* The user column has ids instead of numbers. */
#define PF_ARROW_IDS 1u
/* The same, as views: faster, as the ids of a conversation are written once for all of its messages. */
#define PF_ARROW_ID_VIEWS 2u

/* The decisions for messages as a relation, which can be read any number of times and always gives
** the same: it keeps the version of the settings that was current when it was made. Nothing is
** decided before it is read. It keeps the engine's settings and the messages alive. */
int pf_relation_new(
  const pf_engine *engine, const pf_messages *messages, uint32_t flags, pf_relation **relation,
  char **error);

void pf_relation_free(pf_relation *relation);

/* Reads a relation from the beginning: a row for each recipient of each message, messages in their
** order, recipients by rank.
**
**   message  uint32  the index of the message
**   user     uint32  the user's number; with PF_ARROW_IDS large_utf8, the id; with PF_ARROW_ID_VIEWS
**                    utf8_view, the id
**   code     uint8   the outcome's code
**
** The batches of a conversation of more than 65,536 members share one buffer of users as long as its
** members stay the same. The schema's metadata: push_fanout.epoch, push_fanout.sequence,
** push_fanout.outcomes (pf_outcome_registry_version()).
**
** stream    a structure of the caller's without content, which has to be released. The relation may
**           be freed before. */
int pf_relation_stream(
  const pf_relation *relation, struct ArrowArrayStream *stream, char **error);

/* The users of a relation's version: user uint32, the number, and id large_utf8; in the order of numbers,
** which begin with 0. */
int pf_relation_users(
  const pf_relation *relation, struct ArrowArrayStream *stream, char **error);

/* The held pushes of a relation: a row for each decision that suppresses a push (action none) and
** would be a push at a later instant if nothing but time changed, messages in their order, recipients
** by rank. What expires before is left out. `push-fanout replay --held` lists the same.
**
**   message, user, code   as of pf_relation_stream(), of the decision at the message's instant
**   pushAt  int64   the first instant at which it is a push, milliseconds since 1970 */
int pf_relation_held(
  const pf_relation *relation, struct ArrowArrayStream *stream, char **error);

/* ----------------------------------------------------------------------------------------- Store */

/* In the library libpushfanout-store.so, which is loaded beside libpushfanout.so; the engines that
** it opens are used with the functions above. Both must be of the same release: engines of another
** one are refused with PF_MISUSE. Its symbols have the version PUSHFANOUT_STORE_1. */

/* To read, also while another process writes: the settings of the opening. */
#define PF_STORE_READ 0
/* To write; there is one writer at a time. */
#define PF_STORE_WRITE 1
/* To write; a store that is not there is made. */
#define PF_STORE_CREATE 2

/* Opens a store and its engine. pf_update() returns when the changes are on the disk. Stores cannot be used in a child of fork(), whatever `threads` is, nor opened in
** one when the parent has used several threads or a store: PF_FORKED. */
int pf_store_open(
  const char *path, int access, const pf_options *options, pf_engine **engine, char **error);

int32_t pf_store_abi_version(void);

#ifdef __cplusplus
}
#endif

#endif
