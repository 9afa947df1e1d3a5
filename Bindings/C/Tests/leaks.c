/* Opens, asks and closes, and fails to, many times; memory may not grow: `leaks COUNT`. */
#include <malloc.h>
#include <unistd.h>

#include "check.h"

static long resident(void) {
  long size = 0, pages = 0;
  FILE *file = fopen("/proc/self/statm", "r");
  if (fscanf(file, "%ld %ld", &size, &pages) != 2) exit(2);
  fclose(file);
  return pages * sysconf(_SC_PAGESIZE);
}

static void round_of_calls(void) {
  char *error = NULL;
  pf_engine *engine = NULL;
  pf_options options = {.struct_size = sizeof options, .threads = 1};
  OK(pf_open_bytes(WORLD, strlen(WORLD), &options, &engine, &error));
  const char *ndjson = "{\"id\":\"m1\",\"conversation\":\"g\",\"sender\":\"dan\",\"at\":1717387200000}\n";
  pf_messages *messages = NULL;
  OK(pf_messages_read(engine, ndjson, strlen(ndjson), NULL, &messages, &error));
  pf_answer *answer = NULL;
  OK(pf_answer_new(engine, &answer, &error));
  OK(pf_decide_at(engine, messages, 0, answer, &error));
  pf_ids ids;
  OK(pf_answer_members(answer, &ids, &error));
  pf_ids_free(&ids);
  pf_targets targets;
  OK(pf_answer_push_targets(answer, &targets, &error));
  pf_targets_free(&targets);
  pf_batch *batch = NULL;
  OK(pf_decide_batch(engine, messages, 0, 1, PF_COUNTS | PF_CODES | PF_PUSH_BITMAPS, &batch, &error));
  pf_batch_free(batch);
  pf_relation *relation = NULL;
  OK(pf_relation_new(engine, messages, PF_ARROW_IDS, &relation, &error));
  struct ArrowArrayStream stream;
  OK(pf_relation_stream(relation, &stream, &error));
  struct ArrowSchema schema;
  stream.get_schema(&stream, &schema);
  schema.release(&schema);
  struct ArrowArray array;
  stream.get_next(&stream, &array);
  array.release(&array);
  stream.release(&stream);
  char *json = NULL;
  OK(pf_explain(engine, ndjson, strlen(ndjson), "ann", 3, 1, &json, NULL, NULL, &error));
  pf_free(json);
  const pf_file file = {{"m.ndjson", 8}, {ndjson, strlen(ndjson)}};
  const pf_traffic traffic = {.struct_size = sizeof traffic, .messages = &file, .message_count = 1};
  pf_result *result = NULL;
  OK(pf_replay(engine, &traffic, NULL, 0, NULL, &result, &error));
  OK(pf_result_html(result, NULL, 0, &json, NULL, &error));
  pf_free(json);
  pf_result_free(result);
  const char *sender = "{\"kind\":\"sender\",\"platform\":\"apns\",\"topic\":\"t\"}";
  const pf_sending sending = {.struct_size = sizeof sending, .senders = {{NULL, 0}, {sender, strlen(sender)}}};
  pf_requests *requests = NULL;
  OK(pf_requests_new(engine, ndjson, strlen(ndjson), &sending, &requests, &error));
  OK(pf_requests_next(requests, &json, NULL, &error));
  pf_free(json);
  pf_requests_free(requests);
  OK(pf_update(engine, "{\"kind\":\"user\",\"id\":\"new\"}\n", 27, NOON, NULL, &error));
  pf_engine *none = NULL;
  CHECK(pf_open_bytes("{", 1, &options, &none, &error) == PF_INVALID);
  pf_free(error);
  CHECK(pf_update(engine, "{", 1, NOON, NULL, &error) == PF_INVALID);
  pf_free(error);
  pf_relation_free(relation);
  pf_answer_free(answer);
  pf_messages_free(messages);
  pf_close(engine);
}

int main(int count, char **arguments) {
  if (count != 2) return 2;
  int rounds = atoi(arguments[1]);
  for (int number = 0; number < rounds / 4; number++) round_of_calls();
  malloc_trim(0);
  long before = resident();
  for (int number = rounds / 4; number < rounds; number++) round_of_calls();
  malloc_trim(0);
  long growth = resident() - before;
#ifndef __SANITIZE_ADDRESS__ /* which keeps what was freed, and looks for leaks itself */
  /* A leak of 100 bytes a round would be more. */
  CHECK(growth < (rounds - rounds / 4) * 64L + 262144);
#endif
  printf("leaks: %d opens, %ld bytes more in the last three quarters\n", rounds, growth);
  return failures > 0;
}
