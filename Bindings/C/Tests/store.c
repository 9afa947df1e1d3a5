/* The second library: a store behind the functions of the first: `store FOLDER`, which is written
** to. */
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

static int pushes(pf_engine *engine) {
  char *error = NULL;
  pf_answer *answer = NULL;
  pf_summary summary = {0};
  OK(pf_answer_new(engine, &answer, &error));
  pf_message message = {0};
  message.struct_size = sizeof message;
  message.conversation = text_of("g");
  message.at = NOON;
  OK(pf_decide(engine, &message, answer, &error));
  OK(pf_answer_summary(answer, &summary, &error));
  pf_answer_free(answer);
  return (int)summary.pushes;
}

int main(int count, char **arguments) {
  if (count != 2) return 2;
  char *error = NULL;
  char path[512], text[1024];
  snprintf(path, sizeof path, "%s/app.store", arguments[1]);
  CHECK(pf_store_abi_version() == pf_abi_version());
  pf_engine *engine = NULL, *reader = NULL, *again = NULL;
  OK(pf_store_open(path, PF_STORE_CREATE, NULL, &engine, &error));
  uint64_t records = 0;
  OK(pf_update(engine, WORLD, strlen(WORLD), NOON, &records, &error));
  CHECK(records == 9);
  CHECK(pushes(engine) == 3);
  OK(pf_remove_member(engine, "dan", 3, "g", 1, NOON, &error));
  CHECK(pushes(engine) == 2);
  const char *ndjson = "{\"id\":\"m1\",\"conversation\":\"g\",\"at\":1717387200000}\n";
  char *json = NULL;
  OK(pf_explain(engine, ndjson, strlen(ndjson), "ann", 3, 1, &json, NULL, NULL, &error));
  pf_free(json);
  OK(pf_store_open(path, PF_STORE_READ, NULL, &reader, &error));
  CHECK(pushes(reader) == 2);
  int status = pf_update(reader, WORLD, strlen(WORLD), NOON, NULL, &error);
  CHECK(status == PF_STORE && error && strstr(error, "read"));
  pf_free(error);
  status = pf_store_open(path, PF_STORE_WRITE, NULL, &again, &error);
  CHECK(status == PF_STORE && error);
  pf_free(error);
  /* In a child the store is refused, whatever is tried. */
  fflush(NULL);
  pid_t child = fork();
  if (child == 0) {
    failures = 0;
    alarm(120);
    FAILS(
      pf_advance(engine, NOON, &error), PF_FORKED,
      "the engine was opened before a fork; open it again with pf_reopen()");
    snprintf(
      text, sizeof text,
      "%s: a store cannot be opened again in a child of fork(); open its snapshot, or the store in "
      "a new process", path);
    FAILS(pf_reopen(reader, &again, &error), PF_FORKED, text);
    FAILS(
      pf_store_open(path, PF_STORE_READ, NULL, &again, &error), PF_FORKED,
      "a store cannot be opened in a child of a process that has used threads; open it before any "
      "thread is used, or in a new process");
    pf_close(engine);
    pf_close(reader);
    _exit(failures > 0);
  }
  int ended = 0;
  waitpid(child, &ended, 0);
  CHECK(WIFEXITED(ended) && WEXITSTATUS(ended) == 0);
  pf_close(reader);
  CHECK(pushes(engine) == 2);
  pf_close(engine);
  /* What was acknowledged is there. */
  OK(pf_store_open(path, PF_STORE_WRITE, NULL, &engine, &error));
  CHECK(pushes(engine) == 2);
  pf_info info = {0};
  info.struct_size = sizeof info;
  OK(pf_get_info(engine, &info, &error));
  CHECK(info.user_count == 4);
  pf_close(engine);
  FAILS(
    pf_store_open(NULL, PF_STORE_READ, NULL, &engine, &error), PF_MISUSE, "the path is NULL");
  FAILS(
    pf_store_open(path, 3, NULL, &engine, &error), PF_MISUSE, "access must be one of PF_STORE_");
  snprintf(path, sizeof path, "%s/none.store", arguments[1]);
  status = pf_store_open(path, PF_STORE_READ, NULL, &engine, &error);
  CHECK(status == PF_STORE && error);
  pf_free(error);
  if (failures == 0) puts("store: the second library attaches");
  return failures > 0;
}
