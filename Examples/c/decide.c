/* Decides a message in a group of three: who gets a push, on which devices, and why others do not. */
#include <push_fanout.h>
#include <stdio.h>
#include <string.h>

static const char SETTINGS[] =
  "{\"kind\":\"app\",\"rules\":\"easemob\",\"timeZone\":\"Asia/Shanghai\"}\n"
  "{\"kind\":\"user\",\"id\":\"ann\",\"devices\":[{\"id\":\"phone\"},{\"id\":\"tablet\"}]}\n"
  "{\"kind\":\"user\",\"id\":\"ben\",\"quietHours\":{\"start\":\"22:00\",\"end\":\"08:00\"}}\n"
  "{\"kind\":\"member\",\"conversation\":\"g1\",\"user\":\"ann\"}\n"
  "{\"kind\":\"member\",\"conversation\":\"g1\",\"user\":\"ben\"}\n"
  "{\"kind\":\"member\",\"conversation\":\"g1\",\"user\":\"cid\"}\n";

static int failed(char *error) {
  fprintf(stderr, "%s\n", error ? error : "failed");
  pf_free(error);
  return 1;
}

int main(void) {
  char *error = NULL;
  pf_engine *engine;
  pf_answer *answer;
  if (pf_open_bytes(SETTINGS, strlen(SETTINGS), NULL, &engine, &error)) return failed(error);
  if (pf_answer_new(engine, &answer, &error)) return failed(error);

  /* Once for each membership version: the ids by rank. */
  pf_stamp stamp;
  pf_ids members;
  if (pf_members(engine, "g1", 2, &stamp, &members, &error)) return failed(error);

  pf_message message = {0};
  message.struct_size = sizeof message;
  message.conversation = (pf_text){"g1", 2};
  message.sender = (pf_text){"cid", 3};
  message.at = 1717426800000; /* 23:00 in Shanghai */
  if (pf_decide(engine, &message, answer, &error)) return failed(error);

  uint8_t codes[16];
  size_t count;
  pf_summary summary;
  if (pf_answer_summary(answer, &summary, &error)) return failed(error);
  if (pf_answer_codes(answer, codes, sizeof codes, &count, &error)) return failed(error);
  if (summary.stamp.epoch != stamp.epoch || summary.stamp.membership != stamp.membership) {
    return failed(NULL); /* fetch the members again */
  }
  for (size_t rank = 0; rank < count; rank++) {
    const char *action, *reason;
    int length = (int)(members.offsets[rank + 1] - members.offsets[rank]);
    const char *id = members.bytes + members.offsets[rank];
    if (pf_outcome(codes[rank], &action, &reason, NULL)) {
      printf("%.*s is not a recipient\n", length, id);
    } else {
      printf("%.*s: %s, %s\n", length, id, action, reason);
    }
  }
  pf_targets targets;
  if (pf_answer_push_targets(answer, &targets, &error)) return failed(error);
  for (size_t device = 0; device < targets.devices.count; device++) {
    const uint64_t *offsets = targets.devices.offsets + device;
    printf("push to %.*s\n", (int)(offsets[1] - offsets[0]), targets.devices.bytes + offsets[0]);
  }
  pf_targets_free(&targets);
  pf_ids_free(&members);
  pf_answer_free(answer);
  pf_close(engine);
  return 0;
}
