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

/* --------------------------------------------------------------------------------------- Handles */

/* The functions of a library. */
struct pf_functions {
  void (*release)(pf_object);
  __typeof__(pf_reopen) *reopen;
  __typeof__(pf_messages_count) *messages_count;
#define FIELD(handle, name, ...) __typeof__(pf_##name) *name;
  PF_FUNCTIONS(FIELD)
};

static const struct pf_functions own = {
  pf_swift_release, pf_swift_reopen, pf_swift_messages_count,
#define ENTRY(handle, name, ...) pf_swift_##name,
  PF_FUNCTIONS(ENTRY)
};

static pf_handle *make(
  const struct pf_functions *functions, pf_object object, uint64_t kind, pf_life *life,
  const void *engine) {
  pf_handle *handle = life ? malloc(sizeof *handle) : NULL;
  if (handle) *handle = (pf_handle){kind, functions, object, life, engine};
  else functions->release(object);
  return handle;
}

pf_engine *pf_make_engine(pf_object object, int can_follow_fork) {
  pf_life *life = calloc(1, sizeof *life);
  pf_handle *handle = make(&own, object, PF_KIND(engine), life, life);
  if (!handle) {
    free(life);
    return NULL;
  }
  life->can_follow_fork = can_follow_fork;
  if (!can_follow_fork) pf_note_threads();
  atomic_store(&life->references, 1);
  atomic_store(&life->state, (unsigned long long)atomic_load(&generation) << 32);
  return (pf_engine *)handle;
}

void *pf_make_part(const pf_engine *engine, pf_object object, int kind) {
  const pf_handle *self = (const pf_handle *)engine;
  pf_handle *handle =
    make(self->functions, object, PF_KIND(engine) - PF_KIND_engine + kind, self->life, self->engine);
  if (handle) atomic_fetch_add(&self->life->references, 1);
  return handle;
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

void pf_close(pf_engine *engine) { release((pf_handle *)engine, PF_KIND(engine)); }
void pf_messages_free(pf_messages *messages) { release((pf_handle *)messages, PF_KIND(messages)); }
void pf_answer_free(pf_answer *answer) { release((pf_handle *)answer, PF_KIND(answer)); }
void pf_relation_free(pf_relation *relation) { release((pf_handle *)relation, PF_KIND(relation)); }
void pf_result_free(pf_result *result) { release((pf_handle *)result, PF_KIND(result)); }
void pf_requests_free(pf_requests *requests) { release((pf_handle *)requests, PF_KIND(requests)); }

/* ---------------------------------------------------------------------------------------- Values */

int32_t pf_abi_version(void) { return PF_ABI_VERSION; }

const char *pf_status_name(int status) {
  static const char *const names[] = {
    "PF_OK", "PF_MISUSE", "PF_INVALID", "PF_NOT_FOUND", "PF_IO", "PF_SNAPSHOT", "PF_STORE",
    "PF_TIME_ZONES", "PF_LIMIT", "PF_TOO_SMALL", "PF_FORKED", "PF_REFUSED", "PF_INTERNAL",
    "PF_MEMORY", "PF_CANCELLED"};
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

/* ------------------------------------------------------------------------------------- Functions */

static void drop(struct ArrowArrayStream *stream) {
  if (stream && stream->release) stream->release(stream);
}

#define DEFINE(handle, name, parameters, arguments, ...)                 \
  int pf_##name parameters {                                             \
    const pf_handle *self = (const pf_handle *)handle;                   \
    int status = begin(self, PF_KIND(handle), #handle, error);           \
    if (status == PF_OK) {                                               \
      status = self->functions->name arguments;                          \
      leave(self->life);                                                 \
    }                                                                    \
    __VA_ARGS__;                                                         \
    return status;                                                       \
  }
PF_FUNCTIONS(DEFINE)

/* Also for an engine that cannot be used after a fork. */
int pf_reopen(const pf_engine *engine, pf_engine **reopened, char **error) {
  if (error) *error = NULL;
  const pf_handle *self = (const pf_handle *)engine;
  if (!self || self->kind != PF_KIND(engine)) return misuse(error, "engine is NULL or closed");
  return self->functions->reopen(engine, reopened, error);
}

size_t pf_messages_count(const pf_messages *messages) {
  const pf_handle *self = (const pf_handle *)messages;
  return self && self->kind == PF_KIND(messages) ? self->functions->messages_count(messages) : 0;
}
