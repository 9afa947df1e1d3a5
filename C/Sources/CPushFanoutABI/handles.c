/* The exported functions: they check handles and forks, and call what is in Swift. */
#define _POSIX_C_SOURCE 200809L

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "push_fanout_functions.h"

/* ----------------------------------------------------------------------------------------- Forks */

/* How many forks are between this process and the one that loaded the library. */
static atomic_uint generation;
/* Whether this process, or one of its parents, has used several threads; in a child there are none
** of them, and no new ones can be had. */
static atomic_int has_used_threads;
static atomic_int has_lost_threads;

static void after_fork(void) {
  atomic_fetch_add(&generation, 1);
  if (atomic_load(&has_used_threads)) atomic_store(&has_lost_threads, 1);
}

__attribute__((constructor)) static void watch_forks(void) {
  pthread_atfork(NULL, NULL, after_fork);
}

void pf_note_threads(void) { atomic_store(&has_used_threads, 1); }
int pf_lost_threads(void) { return atomic_load(&has_lost_threads); }

/* What the handles of an engine share. */
typedef struct pf_life {
  atomic_uint references;
  /* Whether the engine works on in a child, if no call used it during the fork. */
  int can_follow_fork;
  /* The generation; where it can follow a fork, above the number of calls in progress. */
  atomic_ullong state;
} pf_life;

#define CALLS UINT64_C(0xFFFFFFFF)

/* A handle. The layout is that of all libraries of a release, and its kind changes with it. */
typedef struct pf_handle {
  uint64_t kind;
  const pf_functions *functions;
  pf_object object;
  pf_life *life;
  /* Whose messages and answers they are; compared only. */
  const void *engine;
} pf_handle;

#define KIND(number) (UINT64_C(0x7066616E6F757400) + 16 * PF_ABI_VERSION + (number))
#define ENGINE KIND(1)
#define MESSAGES KIND(2)
#define ANSWER KIND(3)
#define RELATION KIND(4)

/* Begins a call; 0 if the handle cannot be used in this process. */
static int enter(pf_life *life) {
  uint64_t now = (uint64_t)atomic_load_explicit(&generation, memory_order_relaxed) << 32;
  unsigned long long state = atomic_load_explicit(&life->state, memory_order_relaxed);
  if (!life->can_follow_fork) return state == now;
  for (;;) {
    unsigned long long next = state + 1;
    if ((state & ~CALLS) != now) {
      if (state & CALLS) return 0;
      next = now + 1;
    }
    if (atomic_compare_exchange_weak(&life->state, &state, next)) return 1;
  }
}

static void leave(pf_life *life) {
  if (life->can_follow_fork) atomic_fetch_sub(&life->state, 1);
}

/* ---------------------------------------------------------------------------------------- Errors */

int pf_fail(char **error, int status, const char *text) {
  if (error) *error = strdup(text);
  return status;
}

static int misuse(char **error, const char *text) { return pf_fail(error, PF_MISUSE, text); }

static int forked(char **error) {
  return pf_fail(
    error, PF_FORKED, "the engine was opened before a fork; open it again with pf_reopen()");
}

/* Checks a handle, and begins a call. */
static int begin(const pf_handle *handle, uint64_t kind, const char *name, char **error) {
  if (error) *error = NULL;
  if (!handle || handle->kind != kind) {
    char text[160];
    snprintf(
      text, sizeof text, "%s %s", name,
      handle ? "is no such handle, closed, or of another release of the library" : "is NULL");
    return misuse(error, text);
  }
  return enter(handle->life) ? PF_OK : forked(error);
}

/* Checks that texts and numbers are there. */
#define NEED(condition, text)                             \
  do {                                                    \
    if (!(condition)) { status = misuse(error, text); goto done; } \
  } while (0)

#define BEGIN(handle, kind, name)                                                   \
  const pf_handle *self = (const pf_handle *)(handle);                              \
  int status = begin(self, kind, name, error);                                      \
  if (status != PF_OK) return status;

#define END                       \
  done: __attribute__((unused)); \
  leave(self->life);              \
  return status;

/* --------------------------------------------------------------------------------------- Handles */

static int make(
  const pf_functions *functions, pf_object object, uint64_t kind, pf_life *life, const void *engine,
  void **made, char **error) {
  pf_handle *handle = malloc(sizeof *handle);
  if (!handle) {
    functions->release(object);
    return pf_fail(error, PF_LIMIT, "there is no memory for a handle");
  }
  *handle = (pf_handle){kind, functions, object, life, engine};
  *made = handle;
  return PF_OK;
}

int pf_make_engine(
  const pf_functions *functions, pf_object object, pf_engine **engine, char **error) {
  pf_life *life = calloc(1, sizeof *life);
  if (!life) {
    functions->release(object);
    return pf_fail(error, PF_LIMIT, "there is no memory for a handle");
  }
  life->can_follow_fork = functions->can_follow_fork(object);
  if (!life->can_follow_fork) pf_note_threads();
  atomic_store(&life->references, 1);
  atomic_store(&life->state, (unsigned long long)atomic_load(&generation) << 32);
  int status = make(functions, object, ENGINE, life, NULL, (void **)engine, error);
  if (status != PF_OK) {
    free(life);
    return status;
  }
  ((pf_handle *)*engine)->engine = life;
  return PF_OK;
}

/* Makes a handle that belongs to an engine. */
static int make_part(
  const pf_handle *engine, pf_object object, uint64_t kind, void **made, char **error) {
  int status = make(engine->functions, object, kind, engine->life, engine->engine, made, error);
  if (status == PF_OK) atomic_fetch_add(&engine->life->references, 1);
  return status;
}

static void release(pf_handle *handle, uint64_t kind) {
  if (!handle || handle->kind != kind) return;
  handle->kind = 0;
  pf_life *life = handle->life;
  /* What locks of threads that are gone may protect is not touched. */
  if (enter(life)) {
    handle->functions->release(handle->object);
    leave(life);
  }
  if (atomic_fetch_sub(&life->references, 1) == 1) free(life);
  free(handle);
}

void pf_close(pf_engine *engine) { release((pf_handle *)engine, ENGINE); }
void pf_messages_free(pf_messages *messages) { release((pf_handle *)messages, MESSAGES); }
void pf_answer_free(pf_answer *answer) { release((pf_handle *)answer, ANSWER); }
void pf_relation_free(pf_relation *relation) { release((pf_handle *)relation, RELATION); }

/* ---------------------------------------------------------------------------------------- Values */

int32_t pf_abi_version(void) { return PF_ABI_VERSION; }

const char *pf_status_name(int status) {
  static const char *const names[] = {
    "PF_OK", "PF_MISUSE", "PF_INVALID", "PF_NOT_FOUND", "PF_IO", "PF_SNAPSHOT", "PF_STORE",
    "PF_TIME_ZONES", "PF_LIMIT", "PF_TOO_SMALL", "PF_FORKED", "PF_REFUSED", "PF_INTERNAL"};
  return status >= 0 && status < (int)(sizeof names / sizeof *names) ? names[status] : "unknown";
}

void pf_free(void *memory) { free(memory); }

void pf_ids_free(pf_ids *ids) {
  if (!ids) return;
  free((void *)ids->offsets);
  free((void *)ids->bytes);
  *ids = (pf_ids){0, NULL, NULL};
}

void pf_targets_free(pf_targets *targets) {
  if (!targets) return;
  pf_ids_free(&targets->users);
  pf_ids_free(&targets->devices);
  free((void *)targets->device_starts);
  targets->device_starts = NULL;
}

void pf_batch_free(pf_batch *batch) {
  if (!batch) return;
  free((void *)batch->summaries);
  free((void *)batch->counts);
  free((void *)batch->code_starts);
  free((void *)batch->codes);
  free((void *)batch->bitmap_starts);
  free((void *)batch->bitmaps);
  free(batch);
}

uint32_t pf_outcome_registry_version(void) { return pf_swift_outcome_count(); }

int pf_outcome(uint8_t code, const char **action, const char **reason, const char **scope) {
  const char *ignored;
  return pf_swift_outcome(
    code, action ? action : &ignored, reason ? reason : &ignored, scope ? scope : &ignored);
}

/* --------------------------------------------------------------------------------------- Opening */

#define NO_SETTINGS "settings are NULL, but not of size 0"
#define NO_TEXT "a text is NULL, but not of size 0"
#define NO_RESULT "a pointer for the result is NULL"

int pf_threads(const pf_options *options, int32_t *threads, char **error) {
  int32_t count = 0;
  if (options) {
    if (options->struct_size < offsetof(pf_options, threads) + sizeof options->threads) {
      return misuse(error, "struct_size of the options is not that of pf_options");
    }
    count = options->threads;
  }
  if (count < 0 || count > 1024) return misuse(error, "threads must be 0 ... 1024");
  int32_t zones = PF_ZONES_REFUSE;
  /* Programs that were built with an earlier header do not have it. */
  if (
    options
    && options->struct_size >= offsetof(pf_options, unknown_zones) + sizeof options->unknown_zones) {
    zones = options->unknown_zones;
  }
  if (zones != PF_ZONES_REFUSE && zones != PF_ZONES_IGNORE) {
    return misuse(error, "unknown_zones must be one of PF_ZONES_");
  }
  *threads = (pf_lost_threads() ? 1 : count) | (zones == PF_ZONES_IGNORE ? PF_IGNORES_ZONES : 0);
  return PF_OK;
}

static int opened(int status, pf_object object, pf_engine **engine, char **error) {
  if (status != PF_OK) return status;
  return pf_make_engine(pf_swift_functions(), object, engine, error);
}

#define OPEN(condition, text, call)                            \
  if (error) *error = NULL;                                    \
  int32_t threads;                                             \
  pf_object object = NULL;                                     \
  int status = pf_threads(options, &threads, error);           \
  if (status != PF_OK) return status;                          \
  if (!engine) return misuse(error, NO_RESULT);                \
  if (!(condition)) return misuse(error, text);                \
  if ((threads & ~PF_IGNORES_ZONES) != 1) pf_note_threads();   \
  return opened(pf_swift_functions()->call, object, engine, error);

int pf_open_bytes(
  const void *settings, size_t size, const pf_options *options, pf_engine **engine, char **error) {
  OPEN(settings || size == 0, NO_SETTINGS, open_bytes(settings, size, threads, &object, error))
}

static int have(const char *const *paths, size_t count) {
  if (count > 0 && !paths) return 0;
  for (size_t index = 0; index < count; index++) {
    if (!paths[index]) return 0;
  }
  return 1;
}

int pf_open_files(
  const char *const *settings, size_t settings_count, const char *const *users, size_t users_count,
  const char *const *members, size_t members_count, const pf_options *options, pf_engine **engine,
  char **error) {
  OPEN(
    have(settings, settings_count) && have(users, users_count) && have(members, members_count),
    "a path is NULL",
    open_files(
      settings, settings_count, users, users_count, members, members_count, threads, &object,
      error))
}

int pf_open_snapshot(
  const char *path, uint64_t identity_high, uint64_t identity_low, const pf_options *options,
  pf_engine **engine, char **error) {
  OPEN(
    path, "the path is NULL",
    open_snapshot(path, identity_high, identity_low, threads, &object, error))
}

static void drop(struct ArrowArrayStream *stream) {
  if (stream && stream->release) stream->release(stream);
}

static int open_arrow(
  const void *settings, size_t size, struct ArrowArrayStream *users,
  struct ArrowArrayStream *members, const pf_options *options, pf_engine **engine, char **error) {
  OPEN(
    settings || size == 0, NO_SETTINGS,
    open_arrow(settings, size, users, members, threads, &object, error))
}

int pf_open_arrow(
  const void *settings, size_t size, struct ArrowArrayStream *users,
  struct ArrowArrayStream *members, const pf_options *options, pf_engine **engine, char **error) {
  int status = open_arrow(settings, size, users, members, options, engine, error);
  drop(users);
  drop(members);
  return status;
}

int pf_reopen(const pf_engine *engine, pf_engine **reopened, char **error) {
  if (error) *error = NULL;
  const pf_handle *self = (const pf_handle *)engine;
  if (!self || self->kind != ENGINE) return misuse(error, "engine is NULL or closed");
  if (!reopened) return misuse(error, NO_RESULT);
  pf_object object = NULL;
  int status = self->functions->reopen(self->object, &object, error);
  if (status != PF_OK) return status;
  return pf_make_engine(self->functions, object, reopened, error);
}

/* --------------------------------------------------------------------------------------- Engines */

int pf_write_snapshot(
  const pf_engine *engine, const char *path, uint64_t identity_high, uint64_t identity_low,
  uint64_t sequence, char **error) {
  BEGIN(engine, ENGINE, "engine")
  NEED(path, "the path is NULL");
  status = self->functions->write_snapshot(
    self->object, path, identity_high, identity_low, sequence, error);
  END
}

int pf_get_info(const pf_engine *engine, pf_info *info, char **error) {
  BEGIN(engine, ENGINE, "engine")
  NEED(info && info->struct_size >= sizeof *info, "struct_size of info is not that of pf_info");
  status = self->functions->get_info(self->object, info, error);
  END
}

int pf_get_memory(const pf_engine *engine, pf_memory *memory, char **error) {
  BEGIN(engine, ENGINE, "engine")
  NEED(
    memory && memory->struct_size >= sizeof *memory,
    "struct_size of memory is not that of pf_memory");
  status = self->functions->get_memory(self->object, memory, error);
  END
}

int pf_unknown_zone_users(
  const pf_engine *engine, pf_ids *users, pf_ids *zones, char **error) {
  BEGIN(engine, ENGINE, "engine")
  self->functions->unknown_zone_users(self->object, users, zones);
  END
}

int pf_members(
  const pf_engine *engine, const char *conversation, size_t size, pf_stamp *stamp, pf_ids *ids,
  char **error) {
  BEGIN(engine, ENGINE, "engine")
  NEED(ids, NO_RESULT);
  NEED(conversation || size == 0, NO_TEXT);
  pf_stamp ignored;
  status = self->functions->members(
    self->object, conversation, size, stamp ? stamp : &ignored, ids, error);
  END
}

int pf_update(
  const pf_engine *engine, const void *changes, size_t size, int64_t now, uint64_t *records,
  char **error) {
  BEGIN(engine, ENGINE, "engine")
  NEED(changes || size == 0, NO_TEXT);
  uint64_t ignored;
  status = self->functions->update(
    self->object, changes, size, now, records ? records : &ignored, error);
  END
}

int pf_remove_member(
  const pf_engine *engine, const char *user, size_t user_size, const char *conversation,
  size_t conversation_size, int64_t now, char **error) {
  BEGIN(engine, ENGINE, "engine")
  NEED((user || user_size == 0) && (conversation || conversation_size == 0), NO_TEXT);
  status = self->functions->remove_member(
    self->object, user, user_size, conversation, conversation_size, now, error);
  END
}

int pf_advance(const pf_engine *engine, int64_t at, char **error) {
  BEGIN(engine, ENGINE, "engine")
  status = self->functions->advance(self->object, at, error);
  END
}

int pf_warm_up(
  const pf_engine *engine, const char *conversation, size_t size, int64_t at, char **error) {
  BEGIN(engine, ENGINE, "engine")
  NEED(conversation || size == 0, NO_TEXT);
  status = self->functions->warm_up(self->object, conversation, size, at, error);
  END
}

/* -------------------------------------------------------------------------------------- Messages */

int pf_messages_read(
  const pf_engine *engine, const void *bytes, size_t size, const char *name,
  pf_messages **messages, char **error) {
  BEGIN(engine, ENGINE, "engine")
  NEED(messages, NO_RESULT);
  NEED(bytes || size == 0, NO_TEXT);
  pf_object object = NULL;
  status = self->functions->messages_read(
    self->object, bytes, size, name ? name : "messages.ndjson", &object, error);
  if (status == PF_OK) status = make_part(self, object, MESSAGES, (void **)messages, error);
  END
}

static int read_arrow(
  const pf_engine *engine, struct ArrowArrayStream *stream, pf_messages **messages, char **error) {
  BEGIN(engine, ENGINE, "engine")
  NEED(messages, NO_RESULT);
  NEED(stream, "the stream is NULL");
  pf_object object = NULL;
  status = self->functions->messages_read_arrow(self->object, stream, &object, error);
  if (status == PF_OK) status = make_part(self, object, MESSAGES, (void **)messages, error);
  END
}

int pf_messages_read_arrow(
  const pf_engine *engine, struct ArrowArrayStream *stream, pf_messages **messages, char **error) {
  int status = read_arrow(engine, stream, messages, error);
  drop(stream);
  return status;
}

size_t pf_messages_count(const pf_messages *messages) {
  const pf_handle *self = (const pf_handle *)messages;
  return self && self->kind == MESSAGES ? self->functions->messages_count(self->object) : 0;
}

int pf_messages_get(
  const pf_messages *messages, size_t index, char **id, char **conversation, int64_t *at,
  char **error) {
  BEGIN(messages, MESSAGES, "messages")
  status = self->functions->messages_get(self->object, index, id, conversation, at, error);
  END
}

int pf_messages_stream(
  const pf_messages *messages, struct ArrowArrayStream *stream, char **error) {
  BEGIN(messages, MESSAGES, "messages")
  NEED(stream, NO_RESULT);
  self->functions->messages_stream(self->object, stream);
  END
}

/* --------------------------------------------------------------------------------------- Answers */

#define IS(handle, wanted) \
  ((handle) && ((const pf_handle *)(handle))->kind == (wanted) && \
   ((const pf_handle *)(handle))->engine == self->engine)
#define OTHER_ANSWER "answer is NULL, closed, or of another engine"
#define OTHER_MESSAGES "messages are NULL, closed, or of another engine"
#define OTHER_MESSAGE "message is NULL, or its struct_size is not that of pf_message"

int pf_answer_new(const pf_engine *engine, pf_answer **answer, char **error) {
  BEGIN(engine, ENGINE, "engine")
  NEED(answer, NO_RESULT);
  status = make_part(
    self, self->functions->answer_new(self->object), ANSWER, (void **)answer, error);
  END
}

int pf_decide(
  const pf_engine *engine, const pf_message *message, pf_answer *answer, char **error) {
  BEGIN(engine, ENGINE, "engine")
  NEED(message && message->struct_size >= sizeof *message, OTHER_MESSAGE);
  NEED(IS(answer, ANSWER), OTHER_ANSWER);
  status = self->functions->decide(
    self->object, message, ((pf_handle *)answer)->object, error);
  END
}

int pf_decide_at(
  const pf_engine *engine, const pf_messages *messages, size_t index, pf_answer *answer,
  char **error) {
  BEGIN(engine, ENGINE, "engine")
  NEED(IS(messages, MESSAGES), OTHER_MESSAGES);
  NEED(IS(answer, ANSWER), OTHER_ANSWER);
  status = self->functions->decide_at(
    self->object, ((const pf_handle *)messages)->object, index, ((pf_handle *)answer)->object,
    error);
  END
}

int pf_answer_summary(const pf_answer *answer, pf_summary *summary, char **error) {
  BEGIN(answer, ANSWER, "answer")
  NEED(summary, NO_RESULT);
  status = self->functions->answer_summary(self->object, summary);
  END
}

int pf_answer_counts(const pf_answer *answer, uint32_t *counts, char **error) {
  BEGIN(answer, ANSWER, "answer")
  NEED(counts, NO_RESULT);
  status = self->functions->answer_counts(self->object, counts);
  END
}

/* Has a function fill a buffer if it is large enough. */
#define FILL(needed, buffer, function)                                                  \
  size_t found = (needed);                                                              \
  if (count) *count = found;                                                            \
  if (found > capacity) {                                                               \
    status = pf_fail(error, PF_TOO_SMALL, "the buffer is too small; *count is needed"); \
  } else if (found > 0) {                                                               \
    NEED(buffer, NO_RESULT);                                                            \
    self->functions->function(self->object, buffer);                                    \
  }

int pf_answer_codes(
  const pf_answer *answer, uint8_t *codes, size_t capacity, size_t *count, char **error) {
  BEGIN(answer, ANSWER, "answer")
  FILL(self->functions->answer_size(self->object), codes, answer_codes)
  END
}

int pf_answer_push_bitmap(
  const pf_answer *answer, uint8_t *bitmap, size_t capacity, size_t *count, char **error) {
  BEGIN(answer, ANSWER, "answer")
  FILL((self->functions->answer_size(self->object) + 7) / 8, bitmap, answer_push_bitmap)
  END
}

int pf_answer_push_ranks(
  const pf_answer *answer, uint32_t *ranks, size_t capacity, size_t *count, char **error) {
  BEGIN(answer, ANSWER, "answer")
  FILL(self->functions->answer_push_count(self->object), ranks, answer_push_ranks)
  END
}

int pf_answer_users(
  const pf_answer *answer, uint32_t *users, size_t capacity, size_t *count, char **error) {
  BEGIN(answer, ANSWER, "answer")
  FILL(self->functions->answer_size(self->object), users, answer_users)
  END
}

int pf_answer_push_ids(const pf_answer *answer, pf_ids *ids, char **error) {
  BEGIN(answer, ANSWER, "answer")
  NEED(ids, NO_RESULT);
  self->functions->answer_push_ids(self->object, ids);
  END
}

int pf_answer_push_targets(const pf_answer *answer, pf_targets *targets, char **error) {
  BEGIN(answer, ANSWER, "answer")
  NEED(targets, NO_RESULT);
  self->functions->answer_push_targets(self->object, targets);
  END
}

int pf_answer_members(const pf_answer *answer, pf_ids *ids, char **error) {
  BEGIN(answer, ANSWER, "answer")
  NEED(ids, NO_RESULT);
  self->functions->answer_members(self->object, ids);
  END
}

int pf_answer_refused(const pf_answer *answer, pf_ids *ids, char **error) {
  BEGIN(answer, ANSWER, "answer")
  NEED(ids, NO_RESULT);
  self->functions->answer_refused(self->object, ids);
  END
}

int pf_answer_code(
  const pf_answer *answer, const char *user, size_t size, uint8_t *code, char **error) {
  BEGIN(answer, ANSWER, "answer")
  NEED(code, NO_RESULT);
  NEED(user || size == 0, NO_TEXT);
  status = self->functions->answer_code(self->object, user, size, code, error);
  END
}

/* -------------------------------------------------------------------------------------- One user */

int pf_decide_user(
  const pf_engine *engine, const pf_message *message, const char *user, size_t size, uint8_t *code,
  pf_ids *devices, pf_stamp *stamp, char **error) {
  BEGIN(engine, ENGINE, "engine")
  NEED(message && message->struct_size >= sizeof *message, OTHER_MESSAGE);
  NEED(code, NO_RESULT);
  NEED(user || size == 0, NO_TEXT);
  status = self->functions->decide_user(
    self->object, message, user, size, code, devices, stamp, error);
  END
}

int pf_explain(
  const pf_engine *engine, const void *messages, size_t size, const char *user, size_t user_size,
  int content, char **json, size_t *json_size, pf_stamp *stamp, char **error) {
  BEGIN(engine, ENGINE, "engine")
  NEED(json, NO_RESULT);
  NEED((messages || size == 0) && (user || user_size == 0), NO_TEXT);
  size_t ignored;
  status = self->functions->explain(
    self->object, messages, size, user, user_size, content, json, json_size ? json_size : &ignored,
    stamp, error);
  END
}

int pf_next_change(
  const pf_engine *engine, const char *user, size_t user_size, const char *conversation,
  size_t conversation_size, const char *channel, size_t channel_size, int64_t after,
  pf_change *change, pf_stamp *stamp, char **error) {
  BEGIN(engine, ENGINE, "engine")
  NEED(change, NO_RESULT);
  NEED(
    (user || user_size == 0) && (conversation || conversation_size == 0) &&
      (channel || channel_size == 0),
    NO_TEXT);
  status = self->functions->next_change(
    self->object, user, user_size, conversation, conversation_size, channel, channel_size, after,
    change, stamp, error);
  END
}

/* --------------------------------------------------------------------------------- Many messages */

int pf_decide_batch(
  const pf_engine *engine, const pf_messages *messages, size_t first, size_t count, uint32_t parts,
  pf_batch **batch, char **error) {
  BEGIN(engine, ENGINE, "engine")
  NEED(batch, NO_RESULT);
  NEED(IS(messages, MESSAGES), OTHER_MESSAGES);
  NEED(
    parts <= (PF_COUNTS | PF_CODES | PF_PUSH_BITMAPS),
    "parts must be a sum of PF_COUNTS, PF_CODES and PF_PUSH_BITMAPS");
  status = self->functions->decide_batch(
    self->object, ((const pf_handle *)messages)->object, first, count, parts, batch, error);
  END
}

int pf_evaluate(
  const pf_engine *engine, const void *messages, size_t size, const char *format, int devices,
  char **text, size_t *text_size, pf_stamp *stamp, char **error) {
  BEGIN(engine, ENGINE, "engine")
  NEED(text, NO_RESULT);
  NEED(messages || size == 0, NO_TEXT);
  NEED(format, "the format is NULL");
  size_t ignored;
  status = self->functions->evaluate(
    self->object, messages, size, format, devices, text, text_size ? text_size : &ignored, stamp,
    error);
  END
}

int pf_relation_new(
  const pf_engine *engine, const pf_messages *messages, uint32_t flags, pf_relation **relation,
  char **error) {
  BEGIN(engine, ENGINE, "engine")
  NEED(relation, NO_RESULT);
  NEED(IS(messages, MESSAGES), OTHER_MESSAGES);
  NEED(flags <= PF_ARROW_ID_VIEWS, "flags must be 0, PF_ARROW_IDS or PF_ARROW_ID_VIEWS");
  pf_object object = NULL;
  status = self->functions->relation_new(
    self->object, ((const pf_handle *)messages)->object, flags, &object, error);
  if (status == PF_OK) status = make_part(self, object, RELATION, (void **)relation, error);
  END
}

int pf_relation_stream(
  const pf_relation *relation, struct ArrowArrayStream *stream, char **error) {
  BEGIN(relation, RELATION, "relation")
  NEED(stream, NO_RESULT);
  self->functions->relation_stream(self->object, stream);
  END
}

int pf_relation_users(
  const pf_relation *relation, struct ArrowArrayStream *stream, char **error) {
  BEGIN(relation, RELATION, "relation")
  NEED(stream, NO_RESULT);
  self->functions->relation_users(self->object, stream);
  END
}

int pf_relation_held(
  const pf_relation *relation, struct ArrowArrayStream *stream, char **error) {
  BEGIN(relation, RELATION, "relation")
  NEED(stream, NO_RESULT);
  self->functions->relation_held(self->object, stream);
  END
}
