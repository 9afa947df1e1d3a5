/* What is behind the exported functions: internal to the libraries of one release. */
#ifndef PUSH_FANOUT_FUNCTIONS_H
#define PUSH_FANOUT_FUNCTIONS_H

#include "push_fanout.h"

typedef void *pf_object;

/* A handle. The layout is that of all libraries of a release, and its kind changes with it. */
typedef struct pf_handle {
  uint64_t kind;
  const struct pf_functions *functions;
  pf_object object; /* a retained reference */
  struct pf_life *life;
  /* Whose messages and answers they are; compared only. */
  const void *engine;
} pf_handle;

#define PF_KIND(name) (UINT64_C(0x7066616E6F757500) + 16 * PF_ABI_VERSION + PF_KIND_##name)
#define PF_KIND_engine 1
#define PF_KIND_messages 2
#define PF_KIND_answer 3
#define PF_KIND_relation 4
#define PF_KIND_result 5
#define PF_KIND_requests 6

/* The object of a handle that was checked. */
static inline pf_object pf_object_of(const void *handle) {
  return ((const pf_handle *)handle)->object;
}

static inline int pf_is_part(const void *part, uint64_t kind, const void *engine) {
  const pf_handle *handle = (const pf_handle *)part;
  return handle && handle->kind == kind && handle->engine == ((const pf_handle *)engine)->engine;
}
static inline int pf_is_answer(const pf_answer *answer, const pf_engine *engine) {
  return pf_is_part(answer, PF_KIND(answer), engine);
}
static inline int pf_are_messages(const pf_messages *messages, const pf_engine *engine) {
  return pf_is_part(messages, PF_KIND(messages), engine);
}

/* The functions of handles: the handle that is checked, the name, the parameters as in
** push_fanout.h and their names. What follows is done in any case at the end.
**
** pf_NAME() checks the handle, and calls pf_swift_NAME() of the library that made it, as engines of
** libpushfanout-store.so are decided there. That has the same type, and checks all else. */
#define PF_FUNCTIONS(X)                                                                            \
  X(engine, write_snapshot,                                                                        \
    (const pf_engine *engine, const char *path, uint64_t high, uint64_t low, uint64_t sequence,    \
     char **error),                                                                                \
    (engine, path, high, low, sequence, error))                                                    \
  X(engine, get_info, (const pf_engine *engine, pf_info *info, char **error),                      \
    (engine, info, error))                                                                         \
  X(engine, get_memory, (const pf_engine *engine, pf_memory *memory, char **error),                \
    (engine, memory, error))                                                                       \
  X(engine, unknown_zone_users,                                                                    \
    (const pf_engine *engine, pf_ids *users, pf_ids *zones, char **error),                         \
    (engine, users, zones, error))                                                                 \
  X(engine, members,                                                                               \
    (const pf_engine *engine, const char *conversation, size_t size, pf_stamp *stamp, pf_ids *ids, \
     char **error),                                                                                \
    (engine, conversation, size, stamp, ids, error))                                               \
  X(engine, update,                                                                                \
    (const pf_engine *engine, const void *changes, size_t size, int64_t now, uint64_t *records,    \
     char **error),                                                                                \
    (engine, changes, size, now, records, error))                                                  \
  X(engine, set_presence,                                                                          \
    (const pf_engine *engine, const void *heartbeats, size_t size, uint64_t *applied, char **error),\
    (engine, heartbeats, size, applied, error))                                                    \
  X(engine, remove_member,                                                                         \
    (const pf_engine *engine, const char *user, size_t user_size, const char *conversation,        \
     size_t conversation_size, int64_t now, char **error),                                         \
    (engine, user, user_size, conversation, conversation_size, now, error))                        \
  X(engine, advance, (const pf_engine *engine, int64_t at, char **error), (engine, at, error))     \
  X(engine, warm_up,                                                                               \
    (const pf_engine *engine, const char *conversation, size_t size, int64_t at, char **error),    \
    (engine, conversation, size, at, error))                                                       \
  X(engine, messages_read,                                                                         \
    (const pf_engine *engine, const void *bytes, size_t size, const char *name,                    \
     pf_messages **messages, char **error),                                                        \
    (engine, bytes, size, name, messages, error))                                                  \
  X(engine, messages_read_arrow,                                                                   \
    (const pf_engine *engine, struct ArrowArrayStream *stream, pf_messages **messages,             \
     char **error),                                                                                \
    (engine, stream, messages, error), drop(stream))                                               \
  X(engine, messages_read_watched,                                                                 \
    (const pf_engine *engine, const void *bytes, size_t size, const char *name,                    \
     const pf_watch *watch, pf_messages **messages, char **error),                                 \
    (engine, bytes, size, name, watch, messages, error))                                           \
  X(engine, messages_read_arrow_watched,                                                           \
    (const pf_engine *engine, struct ArrowArrayStream *stream, const pf_watch *watch,              \
     pf_messages **messages, char **error),                                                        \
    (engine, stream, watch, messages, error), drop(stream))                                        \
  X(engine, messages_join,                                                                         \
    (const pf_engine *engine, const pf_messages *const *parts, size_t count,                       \
     pf_messages **messages, char **error),                                                        \
    (engine, parts, count, messages, error))                                                       \
  X(messages, messages_get,                                                                        \
    (const pf_messages *messages, size_t index, char **id, char **conversation, int64_t *at,       \
     char **error),                                                                                \
    (messages, index, id, conversation, at, error))                                                \
  X(messages, messages_stream,                                                                     \
    (const pf_messages *messages, struct ArrowArrayStream *stream, char **error),                  \
    (messages, stream, error))                                                                     \
  X(engine, answer_new, (const pf_engine *engine, pf_answer **answer, char **error),               \
    (engine, answer, error))                                                                       \
  X(engine, decide,                                                                                \
    (const pf_engine *engine, const pf_message *message, pf_answer *answer, char **error),         \
    (engine, message, answer, error))                                                              \
  X(engine, decide_at,                                                                             \
    (const pf_engine *engine, const pf_messages *messages, size_t index, pf_answer *answer,        \
     char **error),                                                                                \
    (engine, messages, index, answer, error))                                                      \
  X(answer, answer_summary, (const pf_answer *answer, pf_summary *summary, char **error),          \
    (answer, summary, error))                                                                      \
  X(answer, answer_counts, (const pf_answer *answer, uint32_t *counts, char **error),              \
    (answer, counts, error))                                                                       \
  X(answer, answer_codes,                                                                          \
    (const pf_answer *answer, uint8_t *codes, size_t capacity, size_t *count, char **error),       \
    (answer, codes, capacity, count, error))                                                       \
  X(answer, answer_push_bitmap,                                                                    \
    (const pf_answer *answer, uint8_t *bitmap, size_t capacity, size_t *count, char **error),      \
    (answer, bitmap, capacity, count, error))                                                      \
  X(answer, answer_push_ranks,                                                                     \
    (const pf_answer *answer, uint32_t *ranks, size_t capacity, size_t *count, char **error),      \
    (answer, ranks, capacity, count, error))                                                       \
  X(answer, answer_users,                                                                          \
    (const pf_answer *answer, uint32_t *users, size_t capacity, size_t *count, char **error),      \
    (answer, users, capacity, count, error))                                                       \
  X(answer, answer_push_ids, (const pf_answer *answer, pf_ids *ids, char **error),                 \
    (answer, ids, error))                                                                          \
  X(answer, answer_push_targets, (const pf_answer *answer, pf_targets *targets, char **error),     \
    (answer, targets, error))                                                                      \
  X(answer, answer_members, (const pf_answer *answer, pf_ids *ids, char **error),                  \
    (answer, ids, error))                                                                          \
  X(answer, answer_refused, (const pf_answer *answer, pf_ids *ids, char **error),                  \
    (answer, ids, error))                                                                          \
  X(answer, answer_code,                                                                           \
    (const pf_answer *answer, const char *user, size_t size, uint8_t *code, char **error),         \
    (answer, user, size, code, error))                                                             \
  X(engine, decide_user,                                                                           \
    (const pf_engine *engine, const pf_message *message, const char *user, size_t size,            \
     uint8_t *code, pf_ids *devices, pf_stamp *stamp, char **error),                               \
    (engine, message, user, size, code, devices, stamp, error))                                    \
  X(engine, explain,                                                                               \
    (const pf_engine *engine, const void *messages, size_t size, const char *user,                 \
     size_t user_size, int content, char **json, size_t *json_size, pf_stamp *stamp,               \
     char **error),                                                                                \
    (engine, messages, size, user, user_size, content, json, json_size, stamp, error))             \
  X(engine, next_change,                                                                           \
    (const pf_engine *engine, const char *user, size_t user_size, const char *conversation,        \
     size_t conversation_size, const char *channel, size_t channel_size, int64_t after,            \
     pf_change *change, pf_stamp *stamp, char **error),                                            \
    (engine, user, user_size, conversation, conversation_size, channel, channel_size, after,       \
     change, stamp, error))                                                                        \
  X(engine, decide_batch,                                                                          \
    (const pf_engine *engine, const pf_messages *messages, size_t first, size_t count,             \
     uint32_t parts, pf_batch **batch, char **error),                                              \
    (engine, messages, first, count, parts, batch, error))                                         \
  X(engine, decide_batch_watched,                                                                  \
    (const pf_engine *engine, const pf_messages *messages, size_t first, size_t count,             \
     uint32_t parts, const pf_watch *watch, pf_batch **batch, char **error),                       \
    (engine, messages, first, count, parts, watch, batch, error))                                  \
  X(engine, batch_size,                                                                            \
    (const pf_engine *engine, const pf_messages *messages, size_t first, size_t count,             \
     uint32_t parts, uint64_t *size, char **error),                                                \
    (engine, messages, first, count, parts, size, error))                                          \
  X(engine, evaluate,                                                                              \
    (const pf_engine *engine, const void *messages, size_t size, const char *format, int devices,  \
     char **text, size_t *text_size, pf_stamp *stamp, char **error),                               \
    (engine, messages, size, format, devices, text, text_size, stamp, error))                      \
  X(engine, evaluate_watched,                                                                      \
    (const pf_engine *engine, const void *messages, size_t size, const char *format, int devices,  \
     const pf_watch *watch, char **text, size_t *text_size, pf_stamp *stamp, char **error),        \
    (engine, messages, size, format, devices, watch, text, text_size, stamp, error))               \
  X(engine, relation_new,                                                                          \
    (const pf_engine *engine, const pf_messages *messages, uint32_t flags, pf_relation **relation, \
     char **error),                                                                                \
    (engine, messages, flags, relation, error))                                                    \
  X(relation, relation_stream,                                                                     \
    (const pf_relation *relation, struct ArrowArrayStream *stream, char **error),                  \
    (relation, stream, error))                                                                     \
  X(relation, relation_users,                                                                      \
    (const pf_relation *relation, struct ArrowArrayStream *stream, char **error),                  \
    (relation, stream, error))                                                                     \
  X(engine, requests_new,                                                                          \
    (const pf_engine *engine, const void *messages, size_t size, const pf_sending *sending,        \
     pf_requests **requests, char **error),                                                        \
    (engine, messages, size, sending, requests, error))                                            \
  X(requests, requests_next,                                                                       \
    (pf_requests *requests, char **lines, size_t *size, char **error),                             \
    (requests, lines, size, error))                                                                \
  X(engine, replay,                                                                                \
    (const pf_engine *engine, const pf_traffic *traffic, const char *options, size_t size,         \
     const pf_watch *watch, pf_result **result, char **error),                                     \
    (engine, traffic, options, size, watch, result, error))                                        \
  X(engine, compare,                                                                               \
    (const pf_engine *engine, const pf_traffic *traffic, const char *options, size_t size,         \
     const pf_watch *watch, pf_result **result, char **error),                                     \
    (engine, traffic, options, size, watch, result, error))                                        \
  X(result, result_json,                                                                           \
    (const pf_result *result, char **json, size_t *json_size, char **error),                       \
    (result, json, json_size, error))                                                              \
  X(result, result_html,                                                                           \
    (const pf_result *result, const char *options, size_t size, char **html, size_t *html_size,    \
     char **error),                                                                                \
    (result, options, size, html, html_size, error))                                               \
  X(relation, relation_held,                                                                       \
    (const pf_relation *relation, struct ArrowArrayStream *stream, char **error),                  \
    (relation, stream, error))

#define PF_DECLARE(handle, name, ...) __typeof__(pf_##name) pf_swift_##name;
PF_FUNCTIONS(PF_DECLARE)
/* Those whose handles are checked in another way. */
__typeof__(pf_reopen) pf_swift_reopen;
__typeof__(pf_messages_count) pf_swift_messages_count;
void pf_swift_release(pf_object object);

/* A handle of an engine of this library. NULL when there is no memory; the object is released. */
pf_engine *pf_make_engine(pf_object object, int can_follow_fork);
/* A handle of something that belongs to an engine. */
void *pf_make_part(const pf_engine *engine, pf_object object, int kind);

#define PF_IGNORES_ZONES 0x10000

/* The number of threads that options ask for, 0 for the cores it may use; 1 where threads cannot be
** used after a fork; plus PF_IGNORES_ZONES where unknown zones are ignored. PF_MISUSE when there
** cannot be so many. */
int pf_threads(const pf_options *options, int32_t *threads, char **error);

/* Notes that several threads are used from now on, so that children of fork() use one. */
void pf_note_threads(void);
/* Whether this is a child of fork() of a process that used several threads. */
int pf_lost_threads(void);

/* Sets *error, unless error is NULL, to a copy of a text; returns the status. */
int pf_fail(char **error, int status, const char *text);

/* The bit of each odd code. */
void pf_pack_pushes(const uint8_t *codes, size_t count, uint8_t *bitmap);
/* Removes the codes that are 0, and the numbers beside them; returns how many stay. */
size_t pf_keep_numbers(uint8_t *codes, uint32_t *numbers, size_t count);
/* Removes the codes that are 0, and writes the views of 16 bytes beside the others; returns how many
** stay. There is room for all views. */
size_t pf_keep_views(uint8_t *codes, const void *views, void *kept, size_t count);
/* Fills with a number. */
void pf_fill(uint32_t *numbers, size_t count, uint32_t number);

#endif
