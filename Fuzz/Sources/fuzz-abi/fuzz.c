/* Calls the functions of the library in any order, with any numbers, texts, streams and handles,
** NULL among them. Whatever comes, nothing may trap, hang or be lost: inputs are programs whose bytes
** are taken one after the other. Only what cannot be checked is kept true: pointers are valid for
** their sizes, and handles are live. */
#include <push_fanout.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  const uint8_t *at, *end;
} input;

static uint8_t byte(input *in) { return in->at < in->end ? *in->at++ : 0; }

static const int64_t NUMBERS[] = {
  0, 1, -1, 2, 7, 127, 128, 255, 256, 65535, INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN,
  PF_LAST_INSTANT, PF_LAST_INSTANT + 1, 1717387200000, 1717426800000};

static int64_t number(input *in) {
  uint8_t kind = byte(in);
  if (kind < sizeof NUMBERS / sizeof *NUMBERS) return NUMBERS[kind];
  if (kind < 128) return kind;
  int64_t value = 0;
  for (int index = 0; index < kind % 8 + 1; index++) value = value << 8 | byte(in);
  return value;
}

static const char *const TEXTS[] = {
  "", "g", "u1", "u2", "t", "c1", "p", "nobody", "a-name-of-more-than-fifteen-bytes", "\xFF", "\xC3\xA9",
  "ndjson", "csv", "counts", "pushlist", "summary", "npy", "x.csv", "x.csv.gz", "/dev/null", "-", "/"};

/* A text and its size; in one of 32 NULL, perhaps with a size. */
static const char *text(input *in, size_t *size) {
  uint8_t kind = byte(in);
  if (kind >= 248) {
    *size = kind >= 252 ? byte(in) : 0;
    return NULL;
  }
  if (kind >= 200) {
    size_t length = kind - 200;
    if (length > (size_t)(in->end - in->at)) length = (size_t)(in->end - in->at);
    const char *start = (const char *)in->at;
    in->at += length;
    *size = length;
    return start;
  }
  const char *chosen = TEXTS[kind % (sizeof TEXTS / sizeof *TEXTS)];
  *size = strlen(chosen);
  return chosen;
}

static const char *const LINES[] = {
  "{\"kind\":\"app\",\"rules\":\"easemob\",\"timeZone\":\"Asia/Shanghai\"}\n",
  "{\"kind\":\"app\",\"rules\":\"rongcloud\",\"level\":\"mention\"}\n",
  "{\"kind\":\"app\",\"rules\":\"open\",\"level\":\"all\"}\n",
  "{\"kind\":\"user\",\"id\":\"u1\",\"level\":\"none\"}\n",
  "{\"kind\":\"user\",\"id\":\"u1\",\"level\":[\"keyword\"],\"keywords\":[\"nobody\"]}\n",
  "{\"kind\":\"user\",\"id\":\"u2\",\"level\":[\"reply\",\"role\"]}\n",
  "{\"kind\":\"user\",\"id\":\"u1\",\"devices\":[{\"id\":\"d1\"},{\"id\":\"d2\",\"state\":\"foreground\"}]}\n",
  "{\"kind\":\"user\",\"id\":\"u2\",\"quietHours\":{\"start\":\"22:00\",\"end\":\"08:00\"}}\n",
  "{\"kind\":\"user\",\"id\":\"u3\",\"quietHours\":{\"start\":\"22:00:00\",\"spanMinutes\":600,\"level\":\"none\"}}\n",
  "{\"kind\":\"conversation\",\"id\":\"t\",\"type\":\"thread\",\"parent\":\"g\"}\n",
  "{\"kind\":\"conversation\",\"id\":\"u\",\"type\":\"ultraGroup\",\"level\":\"mention\",\"channels\":{\"c1\":\"all\"}}\n",
  "{\"kind\":\"conversation\",\"id\":\"p\",\"type\":\"private\"}\n",
  "{\"kind\":\"member\",\"conversation\":\"g\",\"user\":\"u1\"}\n",
  "{\"kind\":\"member\",\"conversation\":\"g\",\"user\":\"u2\",\"level\":\"mention\"}\n",
  "{\"kind\":\"member\",\"conversation\":\"g\",\"user\":\"u2\",\"roles\":[\"c1\"]}\n",
  "{\"kind\":\"member\",\"conversation\":\"g\",\"user\":\"u3\",\"since\":1717400000000}\n",
  "{\"kind\":\"member\",\"conversation\":\"u\",\"user\":\"u1\",\"channels\":{\"c1\":\"none\"}}\n",
  "{\"kind\":\"member\",\"conversation\":\"t\",\"user\":\"u1\",\"level\":\"all\"}\n",
  "{\"id\":\"m1\",\"conversation\":\"g\",\"sender\":\"u1\",\"at\":1717387200000}\n",
  "{\"id\":\"m2\",\"conversation\":\"g\",\"at\":1717426800000,\"mentions\":[\"u2\"]}\n",
  "{\"id\":\"m3\",\"conversation\":\"t\",\"at\":0,\"mentionsAll\":true}\n",
  "{\"id\":\"m4\",\"conversation\":\"u\",\"channel\":\"c1\",\"at\":1717387200000,\"body\":\"custom\"}\n",
  "{\"id\":\"m5\",\"conversation\":\"g\",\"at\":1717387200000,\"filter\":{\"accept_device_id\":[\"d1\"]}}\n",
  "{\"id\":\"m5\",\"conversation\":\"g\",\"at\":0,\"text\":\"nobody\",\"mentionsRoles\":[\"c1\"],\"replyToUser\":\"u2\"}\n",
  "{\"id\":\"m6\",\"conversation\":\"g\",\"at\":1717387200000,\"ext\":{\"em_force_notification\":true}}\n",
};

/* Some lines, with bytes changed now and then. */
static size_t lines(input *in, char *output) {
  size_t size = 0;
  int count = byte(in) % 8;
  for (int index = 0; index < count; index++) {
    const char *line = LINES[byte(in) % (sizeof LINES / sizeof *LINES)];
    memcpy(output + size, line, strlen(line));
    uint8_t change = byte(in);
    if (change > 200) output[size + change % strlen(line)] = (char)byte(in);
    size += strlen(line);
  }
  return size;
}

/* A batch of columns of any type, whose buffers have room for what it says. */
typedef struct {
  uint8_t bytes[2048];
  struct ArrowSchema schemas[4];
  struct ArrowSchema *schema_list[4];
  struct ArrowArray arrays[4];
  struct ArrowArray *array_list[4];
  const void *buffers[4][4];
  int batches, columns, fails;
  int64_t rows;
} table;

static void keep_schema(struct ArrowSchema *schema) { schema->release = NULL; }
static void keep_array(struct ArrowArray *array) { array->release = NULL; }

static int get_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out) {
  table *made = stream->private_data;
  memset(out, 0, sizeof *out);
  out->format = made->fails == 1 ? "i" : made->fails == 2 ? NULL : "+s";
  out->n_children = made->columns;
  out->children = made->fails == 3 ? NULL : made->schema_list;
  out->release = keep_schema;
  return made->fails == 4;
}

static int get_next(struct ArrowArrayStream *stream, struct ArrowArray *out) {
  table *made = stream->private_data;
  memset(out, 0, sizeof *out);
  if (made->batches-- <= 0) return made->fails == 5;
  out->length = made->rows;
  out->n_buffers = made->fails == 6 ? 0 : 1;
  out->buffers = made->buffers[3];
  out->n_children = made->columns - (made->fails == 7);
  out->children = made->array_list;
  out->release = keep_array;
  return 0;
}

static const char *last_error(struct ArrowArrayStream *stream) {
  table *made = stream->private_data;
  return made->fails == 5 ? "an error" : NULL;
}

static void drop(struct ArrowArrayStream *stream) { stream->release = NULL; }

static const char *const FORMATS[] = {
  "u", "U", "vu", "l", "L", "i", "I", "s", "S", "c", "C", "b", "f", "g", "n", "tss:UTC", "tsm:UTC", "tsu:",
  "tsn:+08:00", "z", "", "+l", "+s", "tdD"};
static const char *const NAMES[] = {
  "id", "user", "conversation", "level", "at", "sender", "mutedUntil", "since", "silent", "kind", "", "\xFF"};

static struct ArrowArrayStream arrow(input *in, table *made) {
  memset(made, 0, sizeof *made);
  made->columns = byte(in) % 4;
  made->batches = byte(in) % 3;
  made->rows = byte(in) % 9;
  made->fails = byte(in) % 32;
  for (int column = 0; column < 4; column++) {
    const char *format = FORMATS[byte(in) % (sizeof FORMATS / sizeof *FORMATS)];
    uint8_t *start = made->bytes + 512 * column;
    for (int index = 0; index < 32; index++) {
      uint8_t value = byte(in) % 96;
      start[256 + index] = (uint8_t)(value + 32);
      /* Offsets mostly ascend, and always lie in the 96 bytes at the end. */
      int32_t narrow = index < 3 ? index : value;
      int64_t wide = narrow;
      if (format[0] == 'U') memcpy(start + 8 * (index % 16), &wide, 8);
      else if (format[0] == 'u') memcpy(start + 4 * index, &narrow, 4);
      else start[index] = value;
    }
    if (format[0] == 'v') memset(start, 0, 256);
    int64_t sizes[1] = {96};
    memcpy(start + 440, sizes, 8);
    made->buffers[column][0] = column < 3 && byte(in) % 4 == 0 ? start + 400 : NULL;
    made->buffers[column][1] = byte(in) == 1 ? NULL : start;
    made->buffers[column][2] = byte(in) == 1 ? NULL : start + 256;
    made->buffers[column][3] = start + 440;
    made->schemas[column] = (struct ArrowSchema){
      .format = format, .name = NAMES[byte(in) % (sizeof NAMES / sizeof *NAMES)], .release = keep_schema};
    made->arrays[column] = (struct ArrowArray){
      .length = byte(in) < 8 ? -1 : 8, .offset = byte(in) < 8 ? INT64_MIN : byte(in) % 2,
      .n_buffers = byte(in) < 8 ? 1 : format[0] == 'v' ? 4 : 3, .buffers = made->buffers[column],
      .release = keep_array};
    /* The fourth column is no field, but may be the values of dictionaries. */
    if (column < 3 && byte(in) < 48) {
      made->schemas[column].dictionary = &made->schemas[3];
      made->arrays[column].dictionary = byte(in) == 1 ? NULL : &made->arrays[3];
    }
    made->schema_list[column] = byte(in) == 1 ? NULL : &made->schemas[column];
    made->array_list[column] = byte(in) == 1 ? NULL : &made->arrays[column];
  }
  struct ArrowArrayStream stream = {get_schema, get_next, last_error, drop, made};
  if (made->fails == 8) stream.get_next = NULL;
  return stream;
}

/* `names` is room for 8 texts. */
static pf_message message(input *in, pf_text *names) {
  pf_message made = {0};
  made.struct_size = byte(in) == 255 ? byte(in) : sizeof made;
  made.conversation.bytes = text(in, &made.conversation.size);
  made.sender.bytes = text(in, &made.sender.size);
  made.at = byte(in) < 200 ? 1717387200000 : number(in);
  if (byte(in) < 128) return made;
  made.id.bytes = text(in, &made.id.size);
  made.mention_count = byte(in) % 4;
  made.mentions_role_count = byte(in) % 4;
  for (size_t index = 0; index < 8; index++) names[index].bytes = text(in, &names[index].size);
  made.mentions = byte(in) == 255 ? NULL : names;
  made.mentions_roles = byte(in) < 200 ? NULL : names + 4;
  if (!made.mentions_roles && byte(in) != 255) made.mentions_role_count = 0;
  if (byte(in) > 200) made.reply_to_user.bytes = text(in, &made.reply_to_user.size);
  made.text.bytes = text(in, &made.text.size);
  made.mentions_all = (int8_t)(byte(in) % 4 - 1);
  made.silent = (int8_t)(byte(in) % 4 - 1);
  made.body = (int8_t)(byte(in) % 6 - 1);
  made.force = (int8_t)(byte(in) % 4 - 1);
  made.online_only = (int8_t)byte(in);
  made.sent_at = number(in);
  made.channel.bytes = text(in, &made.channel.size);
  made.push_content.bytes = text(in, &made.push_content.size);
  made.is_mentioned = (int8_t)(byte(in) % 4 - 1);
  made.persisted = (int8_t)(byte(in) % 4 - 1);
  made.backlog = (int8_t)byte(in);
  return made;
}

/* Ends a call when it has been asked so many times. */
static int ends(void *calls, uint64_t done, uint64_t all) {
  (void)done, (void)all;
  return (*(int *)calls)-- == 0;
}

#define SLOTS 3
static pf_engine *engines[SLOTS];
static pf_messages *all_messages[SLOTS];
static pf_answer *answers[SLOTS];
static pf_relation *relations[SLOTS];

/* One of the slots, or in one of 16 none. */
static int slot(input *in) {
  uint8_t value = byte(in);
  return value >= 240 ? -1 : value % SLOTS;
}

/* The index is read from the input: once. */
#define AT(list, index) __extension__({ int at = (index); at < 0 ? NULL : (list)[at]; })
#define REPLACE(list, free, made) \
  do {                            \
    int index = slot(in);         \
    if (index < 0) index = 0;     \
    free((list)[index]);          \
    (list)[index] = (made);       \
  } while (0)

static void read_stream(struct ArrowArrayStream *stream) {
  struct ArrowSchema schema;
  if (stream->get_schema(stream, &schema) == 0) schema.release(&schema);
  for (;;) {
    struct ArrowArray array;
    if (stream->get_next(stream, &array) != 0 || !array.release) break;
    array.release(&array);
  }
  stream->release(stream);
}

static void ask(input *in, char **error) {
  size_t size = 0, other = 0, third = 0;
  pf_answer *answer = AT(answers, slot(in));
  const char *first;
  pf_ids ids;
  pf_targets targets;
  pf_summary summary;
  uint32_t numbers[PF_CODE_COUNT];
  uint8_t codes[64], code;
  size_t capacity = byte(in) % 65;
  switch (byte(in) % 12) {
    case 0: pf_answer_summary(answer, byte(in) == 255 ? NULL : &summary, error); break;
    case 1: pf_answer_counts(answer, byte(in) == 255 ? NULL : numbers, error); break;
    case 2: pf_answer_codes(answer, byte(in) == 255 ? NULL : codes, capacity, &size, error); break;
    case 3: pf_answer_push_bitmap(answer, codes, capacity, byte(in) == 255 ? NULL : &size, error); break;
    case 4: pf_answer_push_ranks(answer, numbers, capacity, &size, error); break;
    case 5: pf_answer_users(answer, numbers, capacity, &size, error); break;
    case 6: if (pf_answer_push_ids(answer, &ids, error) == PF_OK) pf_ids_free(&ids); break;
    case 7: if (pf_answer_push_targets(answer, &targets, error) == PF_OK) pf_targets_free(&targets); break;
    case 8: if (pf_answer_members(answer, &ids, error) == PF_OK) pf_ids_free(&ids); break;
    case 9: first = text(in, &size); pf_answer_code(answer, first, size, &code, error); break;
    case 10: {
      first = text(in, &size);
      const char *second = text(in, &other), *channel = text(in, &third);
      pf_change change;
      pf_stamp stamp;
      pf_next_change(AT(engines, slot(in)), first, size, second, other, channel, third, number(in), &change, &stamp, error);
      break;
    }
    default: {
      pf_text names[8];
      pf_message made = message(in, names);
      first = text(in, &size);
      int wants = byte(in) % 2;
      pf_stamp stamp;
      if (pf_decide_user(AT(engines, slot(in)), &made, first, size, &code, wants ? &ids : NULL, &stamp, error) == PF_OK && wants) {
        pf_ids_free(&ids);
      }
    }
  }
}

static void step(input *in, char **error) {
  static char buffer[4096];
  static table first_table, second_table;
  size_t size = 0;
  pf_engine *engine = AT(engines, slot(in));
  pf_text names[8];
  pf_options options = {0};
  options.struct_size = byte(in) == 255 ? byte(in) : sizeof options;
  options.threads = byte(in) > 250 ? (int32_t)number(in) : 1;
  options.unknown_zones = byte(in) > 250 ? (int32_t)number(in) : PF_ZONES_REFUSE;
  if (options.threads > 8) options.threads = 2000;
  switch (byte(in) % 24) {
    case 0: case 1: {
      pf_engine *made = NULL;
      size = lines(in, buffer);
      if (pf_open_bytes(buffer, size, &options, &made, error) == PF_OK) REPLACE(engines, pf_close, made);
      break;
    }
    case 2: {
      pf_engine *made = NULL;
      size = lines(in, buffer);
      struct ArrowArrayStream users = arrow(in, &first_table), members = arrow(in, &second_table);
      uint8_t which = byte(in);
      if (pf_open_arrow(buffer, size, which & 1 ? &users : NULL, which & 2 ? &members : NULL, &options, &made, error) == PF_OK) {
        REPLACE(engines, pf_close, made);
      }
      break;
    }
    case 3: {
      pf_engine *made = NULL;
      const char *path = TEXTS[byte(in) % (sizeof TEXTS / sizeof *TEXTS)];
      int status = byte(in) % 2
        ? pf_open_snapshot(path, 0, 0, &options, &made, error)
        : pf_open_files(&path, byte(in) % 2, &path, byte(in) % 2, NULL, 0, &options, &made, error);
      if (status == PF_OK) REPLACE(engines, pf_close, made);
      break;
    }
    case 4: {
      pf_engine *made = NULL;
      if (pf_reopen(engine, &made, error) == PF_OK) pf_close(made);
      break;
    }
    case 5: case 6: {
      pf_messages *made = NULL;
      size = lines(in, buffer);
      const char *name = byte(in) < 200 ? NULL : TEXTS[byte(in) % (sizeof TEXTS / sizeof *TEXTS)];
      if (pf_messages_read(engine, buffer, size, name, &made, error) == PF_OK) REPLACE(all_messages, pf_messages_free, made);
      break;
    }
    case 7: {
      pf_messages *made = NULL;
      struct ArrowArrayStream stream = arrow(in, &first_table);
      if (pf_messages_read_arrow(engine, &stream, &made, error) == PF_OK) REPLACE(all_messages, pf_messages_free, made);
      break;
    }
    case 8: {
      pf_answer *made = NULL;
      if (pf_answer_new(engine, &made, error) == PF_OK) REPLACE(answers, pf_answer_free, made);
      break;
    }
    case 9: case 10: {
      pf_message made = message(in, names);
      pf_decide(engine, byte(in) == 255 ? NULL : &made, AT(answers, slot(in)), error);
      break;
    }
    case 11:
      pf_decide_at(engine, AT(all_messages, slot(in)), (size_t)number(in), AT(answers, slot(in)), error);
      break;
    case 12: {
      pf_batch *batch = NULL;
      size_t from = (size_t)number(in), count = (size_t)number(in);
      const pf_messages *some = AT(all_messages, slot(in));
      uint32_t parts = byte(in) % 9;
      uint64_t bytes;
      int calls = byte(in) % 4;
      const pf_watch watch = {byte(in) % 8 ? ends : NULL, &calls};
      pf_batch_size(engine, some, from, count, parts, &bytes, NULL);
      int status = byte(in) % 2 ? pf_decide_batch(engine, some, from, count, parts, &batch, error)
                                : pf_decide_batch_watched(engine, some, from, count, parts, &watch, &batch, error);
      if (status == PF_OK) pf_batch_free(batch);
      break;
    }
    case 13: {
      char *made = NULL;
      pf_stamp stamp;
      size = lines(in, buffer);
      const char *format = TEXTS[byte(in) % (sizeof TEXTS / sizeof *TEXTS)];
      int devices = byte(in) % 2, calls = byte(in) % 4;
      const pf_watch watch = {ends, &calls};
      int status = byte(in) % 2
        ? pf_evaluate(engine, buffer, size, format, devices, &made, &size, &stamp, error)
        : pf_evaluate_watched(engine, buffer, size, format, devices, &watch, &made, &size, &stamp, error);
      if (status == PF_OK) pf_free(made);
      break;
    }
    case 14: {
      char *made = NULL;
      pf_stamp stamp;
      size_t length = lines(in, buffer);
      const char *user = text(in, &size);
      if (pf_explain(engine, buffer, length, user, size, byte(in) % 2, &made, NULL, &stamp, error) == PF_OK) pf_free(made);
      break;
    }
    case 15:
      size = lines(in, buffer);
      pf_update(engine, buffer, size, number(in), NULL, error);
      break;
    case 16: {
      size_t other = 0;
      const char *user = text(in, &size), *conversation = text(in, &other);
      pf_remove_member(engine, user, size, conversation, other, number(in), error);
      break;
    }
    case 17: pf_advance(engine, number(in), error); break;
    case 18: {
      const char *conversation = text(in, &size);
      pf_warm_up(engine, conversation, size, number(in), error);
      break;
    }
    case 19: {
      pf_ids ids;
      pf_stamp stamp;
      const char *conversation = text(in, &size);
      if (pf_members(engine, conversation, size, &stamp, &ids, error) == PF_OK) pf_ids_free(&ids);
      break;
    }
    case 20: {
      pf_info info = {byte(in) ? sizeof info : 0, 0, 0, 0, 0, 0, 0};
      pf_get_info(engine, &info, error);
      pf_memory memory = {0};
      memory.struct_size = sizeof memory;
      if (error) pf_free(*error);
      pf_get_memory(engine, &memory, error);
      char *id = NULL, *conversation = NULL;
      int64_t at;
      struct ArrowArrayStream stream;
      if (error) pf_free(*error);
      if (pf_messages_stream(AT(all_messages, slot(in)), &stream, error) == PF_OK) read_stream(&stream);
      if (error) pf_free(*error);
      if (pf_messages_get(AT(all_messages, slot(in)), (size_t)number(in), &id, &conversation, &at, error) == PF_OK) {
        pf_free(id);
        pf_free(conversation);
      }
      break;
    }
    case 21: {
      pf_relation *made = NULL;
      if (pf_relation_new(engine, AT(all_messages, slot(in)), byte(in) % 4, &made, error) == PF_OK) REPLACE(relations, pf_relation_free, made);
      break;
    }
    case 22: {
      struct ArrowArrayStream stream;
      pf_relation *relation = AT(relations, slot(in));
      int chosen = byte(in) % 3;
      int status = chosen == 0 ? pf_relation_users(relation, &stream, error)
        : chosen == 1 ? pf_relation_stream(relation, &stream, error)
                      : pf_relation_held(relation, &stream, error);
      if (status == PF_OK) read_stream(&stream);
      break;
    }
    default: ask(in, error);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  input in = {data, data + size};
  for (int count = 0; in.at < in.end && count < 64; count++) {
    char *error = NULL;
    step(&in, &error);
    pf_free(error);
  }
  for (int index = 0; index < SLOTS; index++) {
    pf_close(engines[index]);
    pf_messages_free(all_messages[index]);
    pf_answer_free(answers[index]);
    pf_relation_free(relations[index]);
    engines[index] = NULL;
    all_messages[index] = NULL;
    answers[index] = NULL;
    relations[index] = NULL;
  }
  return 0;
}
