/* What is behind the exported functions: internal to the libraries of one release. */
#ifndef PUSH_FANOUT_FUNCTIONS_H
#define PUSH_FANOUT_FUNCTIONS_H

#include "push_fanout.h"

typedef void *pf_object;

#define PF_IGNORES_ZONES 0x10000

/* The functions of a library, in Swift. A handle has those of the library that made it: engines of
** libpushfanout-store.so are decided there. Objects are retained references. Pointers that are
** needed are not NULL; a function that gets `error` writes to it only when it fails. */
typedef struct pf_functions {
  void (*release)(pf_object);

  /* `threads` is their number, plus PF_IGNORES_ZONES where unknown zones are ignored. */
  int (*open_bytes)(const void *, size_t, int32_t threads, pf_object *, char **error);
  int (*open_files)(
    const char *const *, size_t, const char *const *, size_t, const char *const *, size_t,
    int32_t threads, pf_object *, char **error);
  int (*open_snapshot)(
    const char *path, uint64_t high, uint64_t low, int32_t threads, pf_object *, char **error);
  int (*open_arrow)(
    const void *, size_t, struct ArrowArrayStream *users, struct ArrowArrayStream *members,
    int32_t threads, pf_object *, char **error);
  int (*reopen)(pf_object engine, pf_object *, char **error);
  /* Whether the engine works on in a child of fork(): it uses one thread, and no store. */
  int (*can_follow_fork)(pf_object engine);
  int (*write_snapshot)(
    pf_object engine, const char *path, uint64_t high, uint64_t low, uint64_t sequence,
    char **error);
  int (*get_info)(pf_object engine, pf_info *, char **error);
  int (*get_memory)(pf_object engine, pf_memory *, char **error);
  void (*unknown_zone_users)(pf_object engine, pf_ids *users, pf_ids *zones);
  int (*members)(
    pf_object engine, const char *, size_t, pf_stamp *, pf_ids *, char **error);

  int (*update)(
    pf_object engine, const void *, size_t, int64_t now, uint64_t *records, char **error);
  int (*remove_member)(
    pf_object engine, const char *, size_t, const char *, size_t, int64_t now, char **error);
  int (*advance)(pf_object engine, int64_t at, char **error);
  int (*warm_up)(pf_object engine, const char *, size_t, int64_t at, char **error);

  int (*messages_read)(
    pf_object engine, const void *, size_t, const char *name, pf_object *, char **error);
  int (*messages_read_arrow)(
    pf_object engine, struct ArrowArrayStream *, pf_object *, char **error);
  size_t (*messages_count)(pf_object messages);
  int (*messages_get)(
    pf_object messages, size_t, char **id, char **conversation, int64_t *at, char **error);
  void (*messages_stream)(pf_object messages, struct ArrowArrayStream *);

  pf_object (*answer_new)(pf_object engine);
  int (*decide)(pf_object engine, const pf_message *, pf_object answer, char **error);
  int (*decide_at)(
    pf_object engine, pf_object messages, size_t, pf_object answer, char **error);
  int (*answer_summary)(pf_object answer, pf_summary *);
  int (*answer_counts)(pf_object answer, uint32_t *);
  size_t (*answer_size)(pf_object answer);
  void (*answer_codes)(pf_object answer, uint8_t *);
  void (*answer_push_bitmap)(pf_object answer, uint8_t *);
  size_t (*answer_push_count)(pf_object answer);
  void (*answer_push_ranks)(pf_object answer, uint32_t *);
  void (*answer_users)(pf_object answer, uint32_t *);
  void (*answer_push_ids)(pf_object answer, pf_ids *);
  void (*answer_push_targets)(pf_object answer, pf_targets *);
  void (*answer_refused)(pf_object answer, pf_ids *);
  void (*answer_members)(pf_object answer, pf_ids *);
  int (*answer_code)(pf_object answer, const char *, size_t, uint8_t *, char **error);

  int (*decide_user)(
    pf_object engine, const pf_message *, const char *, size_t, uint8_t *, pf_ids *, pf_stamp *,
    char **error);
  int (*explain)(
    pf_object engine, const void *, size_t, const char *, size_t, int content, char **, size_t *,
    pf_stamp *, char **error);
  int (*next_change)(
    pf_object engine, const char *, size_t, const char *, size_t, const char *, size_t, int64_t,
    pf_change *, pf_stamp *, char **error);

  int (*decide_batch)(
    pf_object engine, pf_object messages, size_t, size_t, uint32_t parts, pf_batch **,
    char **error);
  int (*evaluate)(
    pf_object engine, const void *, size_t, const char *format, int devices, char **, size_t *,
    pf_stamp *, char **error);

  int (*relation_new)(
    pf_object engine, pf_object messages, uint32_t flags, pf_object *, char **error);
  void (*relation_stream)(pf_object relation, struct ArrowArrayStream *);
  void (*relation_users)(pf_object relation, struct ArrowArrayStream *);
  void (*relation_held)(pf_object relation, struct ArrowArrayStream *);
} pf_functions;

/* Those of this library. */
const pf_functions *pf_swift_functions(void);
uint32_t pf_swift_outcome_count(void);
int pf_swift_outcome(uint8_t code, const char **action, const char **reason, const char **scope);

/* Makes a handle of an engine. */
int pf_make_engine(const pf_functions *, pf_object, pf_engine **, char **error);

/* The number of threads that options ask for, 0 for the cores it may use; 1 where threads cannot be
** used after a fork. PF_MISUSE when there cannot be so many. */
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
