/* How long calls take: `speed calls [SNAPSHOT]`, of the world and messages of `fanout-bench calls`; and
** Arrow streams: `speed arrow [THREADS [USERS [MEMBERSHIPS [FORM]]]]`; with a form of ids only that is
** read. */
#define _GNU_SOURCE
#include <time.h>

#include "arrow.h"

/* Rows of a batch. */
#define BATCH 131072

/* Seconds. The processor time of the thread is less disturbed by other work on the machine; that of the
** process is of all threads. */
static double now(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static uint64_t state = 5;

static uint64_t draw(uint64_t bound) {
  uint64_t value = state += UINT64_C(0x9E3779B97F4A7C15);
  value = (value ^ value >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
  value = (value ^ value >> 27) * UINT64_C(0x94D049BB133111EB);
  return (value ^ value >> 31) % bound;
}

static void *room(size_t size) {
  void *memory = calloc(1, size);
  if (!memory) abort();
  return memory;
}

/* Texts, as utf8 and as utf8_view, a prefix and a number each. */
typedef struct {
  int32_t *offsets;
  char *characters;
  char *views;
  int64_t *numbers;
  size_t count, size;
} texts;

static texts texts_of(size_t capacity) {
  texts made = {room(4 * (capacity + 1)), room(12 * capacity), room(16 * capacity), room(8 * capacity), 0, 0};
  return made;
}

static void add(texts *texts, const char *prefix, int64_t number) {
  int size = sprintf(texts->characters + texts->size, "%s%lld", prefix, (long long)number);
  int32_t view_size = size;
  memcpy(texts->views + 16 * texts->count, &view_size, 4);
  memcpy(texts->views + 16 * texts->count + 4, texts->characters + texts->size, (size_t)size);
  texts->numbers[texts->count] = number;
  texts->size += (size_t)size;
  texts->offsets[++texts->count] = (int32_t)texts->size;
}

/* The rows of a table, in batches. */
typedef struct {
  test_column columns[5];
  int count;
  int64_t rows, next;
} big_table;

static int big_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out) {
  big_table *table = stream->private_data;
  const test_column root = {
    .name = "", .format = "+s", .n_buffers = 1, .children = table->count, .child = table->columns};
  column_schema(&root, out);
  return 0;
}

static int big_next(struct ArrowArrayStream *stream, struct ArrowArray *out) {
  big_table *table = stream->private_data;
  memset(out, 0, sizeof *out);
  if (table->next >= table->rows) return 0;
  int64_t rows = table->rows - table->next < BATCH ? table->rows - table->next : BATCH;
  for (int index = 0; index < table->count; index++) table->columns[index].offset = table->next;
  const test_column root = {
    .name = "", .format = "+s", .n_buffers = 1, .children = table->count, .child = table->columns};
  column_array(&root, rows, out);
  for (int index = 0; index < table->count; index++) {
    /* The children of a struct go on with it. */
    for (int64_t child = 0; child < out->children[index]->n_children; child++) {
      out->children[index]->children[child]->length = table->rows;
    }
  }
  table->next += rows;
  return 0;
}

static void big_release(struct ArrowArrayStream *stream) { stream->release = NULL; }

static struct ArrowArrayStream big_stream(big_table *table) {
  table->next = 0;
  struct ArrowArrayStream stream = {big_schema, big_next, table_error, big_release, table};
  return stream;
}

enum { STRINGS, VIEWS, NUMBERS };

static test_column ids(const char *name, const texts *texts, int form) {
  if (form == STRINGS) {
    return (test_column){name, "u", 3, {NULL, texts->offsets, texts->characters}, 0, NULL, NULL, 0, 0};
  }
  if (form == VIEWS) {
    static const int64_t none[1];
    return (test_column){name, "vu", 3, {NULL, texts->views, none}, 0, NULL, NULL, 0, 0};
  }
  return (test_column){name, "l", 2, {NULL, texts->numbers}, 0, NULL, NULL, 0, 0};
}

static const char *const ZONES[] = {
  "Asia/Shanghai", "America/New_York", "Europe/Berlin", "Africa/Juba", "Asia/Kolkata", "UTC"};
static const char *const CLOCKS[] = {"22:00", "23:30", "21:15", "07:00", "08:30", "06:45"};
static const char *const LEVELS[] = {"none", "mention", "all"};

/* A column of few texts: a dictionary with 8-bit indices, of which -1 is a null. */
typedef struct {
  test_column entries;
  int32_t offsets[8];
  char characters[128];
  uint8_t *validity;
  int8_t *keys;
} choice;

static choice *choice_of(const char *const *words, int count, size_t rows) {
  choice *made = room(sizeof *made);
  for (int index = 0; index < count; index++) {
    made->offsets[index + 1] = made->offsets[index] + (int32_t)strlen(words[index]);
    memcpy(made->characters + made->offsets[index], words[index], strlen(words[index]));
  }
  made->entries = (test_column){
    "", "u", 3, {NULL, made->offsets, made->characters}, 0, NULL, NULL, count, 0};
  made->validity = room(rows / 8 + 1);
  made->keys = room(rows);
  return made;
}

static void choose(choice *choice, size_t row, int key) {
  if (key < 0) return;
  choice->validity[row / 8] |= (uint8_t)(1 << (row % 8));
  choice->keys[row] = (int8_t)key;
}

static test_column choices(const char *name, const choice *choice) {
  return (test_column){name, "c", 2, {choice->validity, choice->keys}, 0, NULL, &choice->entries, 0, 0};
}

static pf_engine *engine;
/* The form that is measured; NULL for all. */
static const char *only;

/* Opens an engine for the same users and memberships, the ids in one form. */
static void open_form(
  const char *name, int form, int threads, const texts *users, const texts *conversations,
  const texts *members, const test_column *quiet, const choice *zones, const choice *levels,
  const test_column *since) {
  char *error = NULL;
  pf_options options = {.struct_size = sizeof options, .threads = threads};
  if (only && strcmp(only, name) != 0) return;
  for (int round = 0; round < 3; round++) {
    big_table user_table = {
      {ids("id", users, form), choices("timeZone", zones), *quiet}, 3, (int64_t)users->count, 0};
    big_table member_table = {
      {ids("conversation", conversations, form), ids("user", members, form), choices("level", levels), *since},
      4, (int64_t)members->count, 0};
    struct ArrowArrayStream user_stream = big_stream(&user_table), member_stream = big_stream(&member_table);
    if (engine) pf_close(engine);
    engine = NULL;
    double start = now(CLOCK_MONOTONIC), used = now(CLOCK_PROCESS_CPUTIME_ID);
    OK(pf_open_arrow(NULL, 0, &user_stream, &member_stream, &options, &engine, &error));
    double taken = now(CLOCK_MONOTONIC) - start;
    size_t rows = users->count + members->count;
    printf(
      "in, %s, %d threads: %.3f s, %.1f M rows/s, %.2f s of processor time\n", name, threads, taken,
      (double)rows / taken / 1e6, now(CLOCK_PROCESS_CPUTIME_ID) - used);
  }
  pf_info info = {0};
  info.struct_size = sizeof info;
  OK(pf_get_info(engine, &info, &error));
  if (info.user_count != users->count) printf("but there are %llu users\n", (unsigned long long)info.user_count);
}

static void measure_in(int threads, size_t user_count, size_t member_count) {
  texts users = texts_of(user_count), conversations = texts_of(member_count), members = texts_of(member_count);
  choice *zones = choice_of(ZONES, 6, user_count), *clocks[2] = {
    choice_of(CLOCKS, 3, user_count), choice_of(CLOCKS + 3, 3, user_count)};
  uint8_t *has_quiet = room(user_count / 8 + 1);
  for (size_t row = 0; row < user_count; row++) {
    add(&users, "u", (int64_t)row);
    choose(zones, row, (int)draw(8) < 6 ? (int)draw(6) : -1);
    if (draw(20) >= 11) continue;
    has_quiet[row / 8] |= (uint8_t)(1 << (row % 8));
    choose(clocks[0], row, (int)draw(3));
    choose(clocks[1], row, (int)draw(3));
  }
  choice *levels = choice_of(LEVELS, 3, member_count);
  int64_t *since = room(8 * member_count);
  uint8_t *has_since = room(member_count / 8 + 1);
  int64_t conversation = -1;
  for (size_t row = 0, left = 0; row < member_count; row++, left--) {
    if (left == 0) {
      conversation++;
      left = conversation % 500 == 0 ? 2000 : 16;
    }
    add(&conversations, "c", conversation);
    add(&members, "u", (int64_t)draw(user_count));
    choose(levels, row, (int)draw(9) < 4 ? (int)draw(2) : -1);
    if (draw(10) > 0) continue;
    has_since[row / 8] |= (uint8_t)(1 << (row % 8));
    since[row] = NOON - (int64_t)draw(1000000000);
  }
  test_column fields[] = {choices("start", clocks[0]), choices("end", clocks[1])};
  test_column quiet = {"quietHours", "+s", 1, {has_quiet}, 2, fields, NULL, 0, 0};
  test_column start = {"since", "l", 2, {has_since, since}, 0, NULL, NULL, 0, 0};
  open_form("utf8", STRINGS, threads, &users, &conversations, &members, &quiet, zones, levels, &start);
  open_form("utf8_view", VIEWS, threads, &users, &conversations, &members, &quiet, zones, levels, &start);
  open_form("int64", NUMBERS, threads, &users, &conversations, &members, &quiet, zones, levels, &start);
}

/* Opens an engine with rooms of so many members, of whom each third has a level if that is wanted. */
static void open_rooms(int rooms, int members, int has_levels) {
  char *error = NULL, *lines = room((size_t)rooms * (size_t)members * 80), *at = lines;
  for (int number = 0; number < rooms; number++) {
    for (int member = 0; member < members; member++) {
      at += sprintf(
        at, "{\"kind\":\"member\",\"conversation\":\"room%d\",\"user\":\"user%d\"%s}\n", number,
        number * 50 + member, has_levels && member % 3 == 0 ? ",\"level\":\"none\"" : "");
    }
  }
  pf_options options = {.struct_size = sizeof options, .threads = 1};
  if (engine) pf_close(engine);
  engine = NULL;
  OK(pf_open_bytes(lines, (size_t)(at - lines), &options, &engine, &error));
  free(lines);
}

/* Reads a relation of messages to rooms: `messages` of them, of `members` members each. */
static void measure_out(const char *name, int rooms, int members, int messages, uint32_t flags) {
  open_rooms(rooms, members, 1);
  char *error = NULL, *lines = room((size_t)messages * 120), *at = lines;
  for (int number = 0; number < messages; number++) {
    int conversation = number % rooms;
    at += sprintf(
      at, "{\"id\":\"m%d\",\"conversation\":\"room%d\",\"sender\":\"user%d\",\"at\":%lld}\n", number,
      conversation, conversation * 50 + number % members, (long long)NOON + number);
  }
  pf_messages *read = NULL;
  OK(pf_messages_read(engine, lines, (size_t)(at - lines), NULL, &read, &error));
  free(lines);
  pf_relation *relation = NULL;
  OK(pf_relation_new(engine, read, flags, &relation, &error));
  double best = 1e9;
  int64_t rows = 0;
  for (int round = 0; round < 3; round++) {
    struct ArrowArrayStream stream;
    double start = now(CLOCK_PROCESS_CPUTIME_ID);
    OK(pf_relation_stream(relation, &stream, &error));
    rows = 0;
    for (;;) {
      struct ArrowArray array;
      CHECK(stream.get_next(&stream, &array) == 0);
      if (!array.release) break;
      rows += array.length;
      array.release(&array);
    }
    stream.release(&stream);
    double taken = now(CLOCK_PROCESS_CPUTIME_ID) - start;
    if (taken < best) best = taken;
  }
  CHECK(rows == (int64_t)messages * (members - 1));
  printf(
    "out, %s: %d messages, %.1f M rows, %.3f s of processor time, %.0f M rows/s\n", name, messages,
    (double)rows / 1e6, best, (double)rows / best / 1e6);
  pf_relation_free(relation);
  pf_messages_free(read);
}

static int measure_arrow(int count, char **arguments) {
  int threads = count > 0 ? atoi(arguments[0]) : 4;
  size_t users = count > 1 ? (size_t)atol(arguments[1]) : 1000000;
  size_t members = count > 2 ? (size_t)atol(arguments[2]) : 10000000;
  only = count > 3 ? arguments[3] : NULL;
  if (users > 0) measure_in(threads, users, members);
  if (only) return failures > 0;
  measure_out("rooms of 20", 1000, 20, 100000, 0);
  measure_out("rooms of 200", 64, 200, 100000, 0);
  measure_out("rooms of 20 with ids as views", 1000, 20, 100000, PF_ARROW_ID_VIEWS);
  measure_out("rooms of 200 with ids", 64, 200, 100000, PF_ARROW_IDS);
  measure_out("rooms of 200 with ids as views", 64, 200, 100000, PF_ARROW_ID_VIEWS);
  measure_out("rooms of 10,000", 8, 10000, 10000, 0);
  measure_out("a room of 1,000,000", 1, 1000000, 100, 0);
  measure_out("a room of 1,000,000 with ids", 1, 1000000, 100, PF_ARROW_IDS);
  measure_out("a room of 1,000,000 with ids as views", 1, 1000000, 100, PF_ARROW_ID_VIEWS);
  pf_close(engine);
  return failures > 0;
}

#define ROOMS 64
#define MEMBERS 200
#define MESSAGES 1024

static int measure_calls(const char *snapshot) {
  char *error = NULL;
  open_rooms(ROOMS, MEMBERS, 0);
  static pf_message messages[MESSAGES];
  static char rooms[MESSAGES][16], users[MESSAGES][16];
  for (int number = 0; number < MESSAGES; number++) {
    sprintf(rooms[number], "room%d", number % ROOMS);
    sprintf(users[number], "user%d", number % ROOMS * 50 + number % MEMBERS);
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
        for (int number = 0; number < MESSAGES; number++) {
          pf_summary summary;
          uint32_t counts[PF_CODE_COUNT];
          pf_decide(engine, &messages[number], answer, NULL);
          if (with == 1) pf_answer_summary(answer, &summary, NULL);
          if (with == 2) pf_answer_counts(answer, counts, NULL);
        }
      }
      double taken = (now(CLOCK_THREAD_CPUTIME_ID) - start) / (100 * MESSAGES) * 1e9;
      if (taken < best[with]) best[with] = taken;
    }
  }
  printf(
    "C:     %.0f ns a message, %.0f with its summary, %.0f with its counts\n", best[0], best[1], best[2]);
  pf_answer_free(answer);
  pf_close(engine);
  if (snapshot) {
    double start = now(CLOCK_MONOTONIC);
    OK(pf_open_snapshot(snapshot, 1, 2, NULL, &engine, &error));
    printf("snapshot: opened in %.3f s\n", now(CLOCK_MONOTONIC) - start);
    pf_close(engine);
  }
  return failures > 0;
}

int main(int count, char **arguments) {
  if (count > 1 && strcmp(arguments[1], "calls") == 0) {
    return measure_calls(count > 2 ? arguments[2] : NULL);
  }
  if (count > 1 && strcmp(arguments[1], "arrow") == 0) return measure_arrow(count - 2, arguments + 2);
  fprintf(stderr, "usage: speed calls [SNAPSHOT] | arrow [THREADS [USERS [MEMBERSHIPS [FORM]]]]\n");
  return 2;
}
