/* How long calls take: `speed [SNAPSHOT]`. The same world and messages as Sources/decide-speed. */
#define _GNU_SOURCE
#include <time.h>

#include "check.h"

#define ROOMS 64
#define MEMBERS 200

/* Of the thread's processor time, which other work on the machine disturbs less. */
static double now(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

int main(int count, char **arguments) {
  char *error = NULL, *lines = malloc(ROOMS * MEMBERS * 80), *at = lines;
  for (int room = 0; room < ROOMS; room++) {
    for (int member = 0; member < MEMBERS; member++) {
      at += sprintf(
        at, "{\"kind\":\"member\",\"conversation\":\"room%d\",\"user\":\"user%d\"}\n", room,
        room * 50 + member);
    }
  }
  pf_engine *engine = NULL;
  pf_options options = {.struct_size = sizeof options, .threads = 1};
  OK(pf_open_bytes(lines, (size_t)(at - lines), &options, &engine, &error));
  static pf_message messages[1024];
  static char rooms[1024][16], users[1024][16];
  for (int number = 0; number < 1024; number++) {
    int room = number % ROOMS;
    sprintf(rooms[number], "room%d", room);
    sprintf(users[number], "user%d", room * 50 + number % MEMBERS);
    messages[number].struct_size = sizeof(pf_message);
    messages[number].conversation = text_of(rooms[number]);
    messages[number].sender = text_of(users[number]);
    messages[number].at = NOON + number;
  }
  pf_answer *answer = NULL;
  OK(pf_answer_new(engine, &answer, &error));
  double best[3] = {1e9, 1e9, 1e9};
  for (int round = 0; round < 20; round++) {
    for (int with = 0; with < 3; with++) {
      double start = now(CLOCK_THREAD_CPUTIME_ID);
      for (int time = 0; time < 100; time++) {
        for (int number = 0; number < 1024; number++) {
          pf_summary summary;
          uint32_t counts[PF_CODE_COUNT];
          pf_decide(engine, &messages[number], answer, NULL);
          if (with == 1) pf_answer_summary(answer, &summary, NULL);
          if (with == 2) pf_answer_counts(answer, counts, NULL);
        }
      }
      double taken = now(CLOCK_THREAD_CPUTIME_ID) - start;
      if (taken < best[with]) best[with] = taken;
    }
  }
  printf(
    "C:     %.0f ns a message, %.0f with its summary, %.0f with its counts\n", best[0] / 102400 * 1e9,
    best[1] / 102400 * 1e9, best[2] / 102400 * 1e9);
  pf_answer_free(answer);
  pf_close(engine);
  if (count > 1) {
    double start = now(CLOCK_MONOTONIC);
    OK(pf_open_snapshot(arguments[1], 1, 2, NULL, &engine, &error));
    printf("snapshot: opened in %.3f s\n", now(CLOCK_MONOTONIC) - start);
    pf_close(engine);
  }
  return failures > 0;
}
