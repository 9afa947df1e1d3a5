/* What works in a child of fork(), and what is refused: `fork FOLDER`, which is written to. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

static const char *const MESSAGE = "{\"id\":\"m\",\"conversation\":\"g\",\"at\":1717387200000}\n";
static const char *const FORKED =
  "the engine was opened before a fork; open it again with pf_reopen()";
static const char *folder;

/* Runs `body` in a child, which has two minutes. */
static void in_child(void (*body)(void *), void *value) {
  fflush(NULL);
  pid_t child = fork();
  if (child == 0) {
    failures = 0;
    alarm(120);
    body(value);
    _exit(failures > 0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    fprintf(stderr, "a child ended with status %x\n", status);
    failures++;
  }
}

static int decide(pf_engine *engine, char **error) {
  char *text = NULL;
  int status = pf_evaluate(engine, MESSAGE, strlen(MESSAGE), "pushlist", 0, &text, NULL, NULL, error);
  if (status == PF_OK) CHECK_TEXT(text, "{\"message\":\"m\",\"push\":[\"ann\",\"ben\",\"dan\"]}\n");
  if (status == PF_OK) pf_free(text);
  return status;
}

static pf_engine *open_files(int threads) {
  char *error = NULL;
  char path[512];
  snprintf(path, sizeof path, "%s/fork.ndjson", folder);
  const char *paths[] = {path};
  pf_options options = {.struct_size = sizeof options, .threads = threads};
  pf_engine *engine = NULL;
  OK(pf_open_files(paths, 1, NULL, 0, NULL, 0, &options, &engine, &error));
  return engine;
}

typedef struct {
  pf_engine *engine;
  pf_answer *answer;
  pf_messages *messages;
  pf_relation *relation;
} handles;

/* An engine of several threads is refused; opened again, it answers. */
static void with_threads(void *value) {
  handles *all = value;
  char *error = NULL;
  pf_summary summary;
  FAILS(decide(all->engine, &error), PF_FORKED, FORKED);
  FAILS(pf_answer_summary(all->answer, &summary, &error), PF_FORKED, FORKED);
  FAILS(pf_advance(all->engine, 0, &error), PF_FORKED, FORKED);
  FAILS(pf_relation_stream(all->relation, (struct ArrowArrayStream *)&summary, &error), PF_FORKED, FORKED);
  pf_engine *again = NULL;
  OK(pf_reopen(all->engine, &again, &error));
  OK(decide(again, &error));
  pf_info info = {0};
  info.struct_size = sizeof info;
  OK(pf_get_info(again, &info, &error));
  CHECK(info.threads == 1);
  /* In any order; of those that cannot be used the memory stays. */
  pf_close(all->engine);
  pf_answer_free(all->answer);
  pf_messages_free(all->messages);
  pf_relation_free(all->relation);
  OK(decide(again, &error));
  pf_close(again);
  /* So does what is opened anew. */
  pf_options options = {.struct_size = sizeof options, .threads = 4};
  OK(pf_open_bytes(WORLD, strlen(WORLD), &options, &again, &error));
  OK(pf_get_info(again, &info, &error));
  CHECK(info.threads == 1);
  OK(decide(again, &error));
  pf_close(again);
}

static void from_bytes(void *value) {
  char *error = NULL;
  pf_engine *again = NULL;
  FAILS(
    pf_reopen(value, &again, &error), PF_MISUSE,
    "the settings of the engine came from bytes or streams and cannot be opened again; open it "
    "from files or a snapshot, or use one thread");
}

static void grandchild(void *value) {
  char *error = NULL;
  OK(decide(value, &error));
}

/* A quiet engine of one thread works on, also in a child of the child. */
static void with_one_thread(void *value) {
  char *error = NULL;
  OK(decide(value, &error));
  OK(pf_update(value, "{\"kind\":\"user\",\"id\":\"cid\"}\n", 27, NOON, NULL, &error));
  OK(pf_update(value, "{\"kind\":\"user\",\"id\":\"cid\",\"level\":\"none\"}\n", 42, NOON, NULL, &error));
  in_child(grandchild, value);
  OK(decide(value, &error));
  pf_close(value);
}

static int stop;

static void *decide_always(void *engine) {
  char *error = NULL;
  while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) OK(decide(engine, &error));
  return NULL;
}

/* An engine of one thread that was deciding is refused; one that rested between two calls may work.
** It never hangs. */
static void while_deciding(void *value) {
  char *error = NULL;
  int status = decide(value, &error);
  if (status == PF_FORKED) {
    CHECK_TEXT(error, FORKED);
    pf_free(error);
  } else {
    CHECK(status == PF_OK);
  }
}

static void reopened(void *value) {
  char *error = NULL;
  FAILS(decide(value, &error), PF_FORKED, FORKED);
  pf_engine *again = NULL;
  OK(pf_reopen(value, &again, &error));
  OK(decide(again, &error));
  pf_close(again);
}

static void fork_often(pf_engine *engine, void (*body)(void *), int times) {
  pthread_t decider;
  stop = 0;
  pthread_create(&decider, NULL, decide_always, engine);
  for (int number = 0; number < times; number++) {
    in_child(body, engine);
    usleep(200);
  }
  __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
  pthread_join(decider, NULL);
}

int main(int count, char **arguments) {
  if (count != 2) return 2;
  folder = arguments[1];
  char *error = NULL;
  char path[512], snapshot[512];
  snprintf(path, sizeof path, "%s/fork.ndjson", folder);
  snprintf(snapshot, sizeof snapshot, "%s/fork.snapshot", folder);
  FILE *file = fopen(path, "w");
  fputs(WORLD, file);
  fclose(file);

  pf_engine *single = open_files(1);
  OK(decide(single, &error));
  in_child(with_one_thread, single);
  OK(decide(single, &error));

  handles all = {open_files(2), NULL, NULL, NULL};
  OK(decide(all.engine, &error));
  OK(pf_answer_new(all.engine, &all.answer, &error));
  OK(pf_messages_read(all.engine, MESSAGE, strlen(MESSAGE), NULL, &all.messages, &error));
  OK(pf_relation_new(all.engine, all.messages, 0, &all.relation, &error));
  in_child(with_threads, &all);
  /* Also where the parent uses threads, a quiet engine of one works on. */
  in_child(with_one_thread, single);
  pf_engine *bytes = NULL;
  pf_options options = {.struct_size = sizeof options, .threads = 2};
  OK(pf_open_bytes(WORLD, strlen(WORLD), &options, &bytes, &error));
  in_child(from_bytes, bytes);
  pf_close(bytes);
  /* The parent goes on. */
  OK(decide(all.engine, &error));
  OK(pf_write_snapshot(all.engine, snapshot, 1, 2, 3, &error));
  pf_answer_free(all.answer);
  pf_messages_free(all.messages);
  pf_relation_free(all.relation);

  fork_often(single, while_deciding, 300);
  pf_engine *mapped = NULL;
  OK(pf_open_snapshot(snapshot, 1, 2, &options, &mapped, &error));
  fork_often(mapped, reopened, 300);
  pf_close(mapped);
  pf_close(all.engine);
  pf_close(single);
  if (failures == 0) puts("fork: children are refused, or answer");
  return failures > 0;
}
