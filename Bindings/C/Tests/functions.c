/* Every function of the library, and what it refuses: `functions FOLDER`, which is written to. */
#include <pthread.h>
#include <unistd.h>

#include "arrow.h"

static pf_engine *open_world(void) {
  pf_engine *engine = NULL;
  char *error = NULL;
  OK(pf_open_bytes(WORLD, strlen(WORLD), NULL, &engine, &error));
  return engine;
}

static pf_message message_at(int64_t at) {
  pf_message message = {0};
  message.struct_size = sizeof message;
  message.conversation = text_of("g");
  message.sender = text_of("dan");
  message.at = at;
  return message;
}

static void names_and_numbers(void) {
  const char *action, *reason, *scope;
  CHECK(pf_abi_version() == PF_ABI_VERSION);
  CHECK(pf_outcome_registry_version() >= 70);
  CHECK_TEXT(pf_status_name(PF_INVALID), "PF_INVALID");
  CHECK_TEXT(pf_status_name(99), "unknown");
  CHECK(pf_outcome(1, &action, &reason, &scope) == PF_OK);
  CHECK_TEXT(action, "push");
  CHECK_TEXT(reason, "allowed");
  CHECK_TEXT(scope, "quietHours");
  CHECK(pf_outcome(92, &action, &reason, &scope) == PF_OK);
  CHECK_TEXT(reason, "online");
  CHECK(scope == NULL);
  CHECK(pf_outcome(92, NULL, NULL, NULL) == PF_OK);
  CHECK(pf_outcome(0, &action, &reason, &scope) == PF_NOT_FOUND);
  CHECK(pf_outcome(255, &action, &reason, &scope) == PF_NOT_FOUND);
  uint32_t count = 0;
  for (int code = 0; code < 256; code++) {
    if (pf_outcome((uint8_t)code, &action, NULL, NULL) != PF_OK) continue;
    count++;
    CHECK((code & 1) == (strcmp(action, "push") == 0));
  }
  CHECK(count == pf_outcome_registry_version());
  pf_free(NULL);
  pf_ids_free(NULL);
  pf_targets_free(NULL);
  pf_batch_free(NULL);
  pf_close(NULL);
  pf_messages_free(NULL);
  pf_answer_free(NULL);
  pf_relation_free(NULL);
  CHECK(pf_messages_count(NULL) == 0);
}

static void one_message(void) {
  char *error = NULL;
  pf_engine *engine = open_world();
  pf_answer *answer = NULL;
  OK(pf_answer_new(engine, &answer, &error));
  pf_message message = message_at(NOON);
  OK(pf_decide(engine, &message, answer, &error));

  pf_summary summary;
  OK(pf_answer_summary(answer, &summary, &error));
  CHECK(summary.members == 4 && summary.recipients == 3 && summary.pushes == 2);
  CHECK(summary.stamp.epoch != 0 && summary.stamp.sequence == 1 && summary.stamp.membership != 0);

  uint32_t counts[PF_CODE_COUNT];
  OK(pf_answer_counts(answer, counts, &error));
  /* docs/outcome-codes.csv: 29 push/allowed/app, 33 push/allowed/default, 60 none/levelNone/app. */
  CHECK(counts[0] == 0 && counts[29] == 1 && counts[33] == 1 && counts[60] == 1);

  size_t count = 0;
  uint8_t codes[4] = {0};
  OK(pf_answer_codes(answer, codes, 4, &count, &error));
  CHECK(count == 4);
  CHECK(codes[0] == 29 && codes[1] == 33 && codes[2] == 60 && codes[3] == 0);
  count = 0;
  FAILS(
    pf_answer_codes(answer, codes, 3, &count, &error), PF_TOO_SMALL,
    "the buffer is too small; *count is needed");
  CHECK(count == 4);
  FAILS(
    pf_answer_codes(answer, NULL, 4, &count, &error), PF_MISUSE,
    "a pointer for the result is NULL");

  uint8_t bitmap = 0xFF;
  OK(pf_answer_push_bitmap(answer, &bitmap, 1, &count, &error));
  CHECK(count == 1 && bitmap == 3);
  uint32_t ranks[2] = {9, 9};
  OK(pf_answer_push_ranks(answer, ranks, 2, &count, &error));
  CHECK(count == 2 && ranks[0] == 0 && ranks[1] == 1);
  uint32_t users[4] = {9, 9, 9, 9};
  OK(pf_answer_users(answer, users, 4, NULL, &error));
  CHECK(users[0] == 0 && users[1] == 1 && users[2] == 2 && users[3] == 3);

  pf_ids ids;
  OK(pf_answer_push_ids(answer, &ids, &error));
  CHECK(ids_are(&ids, "ann,ben"));
  pf_ids_free(&ids);
  CHECK(ids.count == 0 && ids.offsets == NULL);
  OK(pf_answer_members(answer, &ids, &error));
  CHECK(ids_are(&ids, "ann,ben,cid,dan"));
  pf_ids_free(&ids);
  pf_targets targets;
  OK(pf_answer_push_targets(answer, &targets, &error));
  CHECK(ids_are(&targets.users, "ann,ben"));
  CHECK(ids_are(&targets.devices, "a1,a2,default"));
  CHECK(targets.device_starts[0] == 0 && targets.device_starts[1] == 2);
  CHECK(targets.device_starts[2] == 3);
  pf_targets_free(&targets);

  uint8_t code = 9;
  OK(pf_answer_code(answer, "cid", 3, &code, &error));
  CHECK(code == 60);
  OK(pf_answer_code(answer, "dan", 3, &code, &error));
  CHECK(code == 0);
  OK(pf_answer_code(answer, "nobody", 6, &code, &error));
  CHECK(code == 0);

  /* As in NDJSON, where the conversation is needed, and no id is empty. */
  const pf_text places[] = {{NULL, 0}, {"", 0}};
  for (int place = 0; place < 2; place++) {
    message.conversation = places[place];
    FAILS(
      pf_decide(engine, &message, answer, &error), PF_INVALID, "conversation must not be empty");
    FAILS(
      pf_decide_user(engine, &message, "ann", 3, &code, NULL, NULL, &error), PF_INVALID,
      "conversation must not be empty");
  }
  message.conversation = text_of("g");
  message.sender = text_of("");
  FAILS(pf_decide(engine, &message, answer, &error), PF_INVALID, "sender must not be empty");
  const pf_text mention = {"", 0};
  message.sender = text_of("dan");
  message.mentions = &mention;
  message.mention_count = 1;
  FAILS(pf_decide(engine, &message, answer, &error), PF_INVALID, "a mention must not be empty");
  message.mentions = NULL;
  message.mention_count = 0;

  message.conversation = text_of("unknown");
  OK(pf_decide(engine, &message, answer, &error));
  OK(pf_answer_summary(answer, &summary, &error));
  CHECK(summary.members == 0 && summary.stamp.membership == 0 && summary.stamp.sequence == 1);
  OK(pf_answer_codes(answer, NULL, 0, &count, &error));
  CHECK(count == 0);
  OK(pf_answer_push_ids(answer, &ids, &error));
  CHECK(ids.count == 0 && ids.offsets[0] == 0);
  pf_ids_free(&ids);
  pf_answer_free(answer);
  pf_close(engine);
}

static void fields_of_a_message(void) {
  char *error = NULL;
  pf_engine *engine = open_world();
  pf_answer *answer = NULL;
  OK(pf_answer_new(engine, &answer, &error));
  pf_summary summary;
  pf_message message = message_at(NOON);
  message.silent = 1;
  OK(pf_decide(engine, &message, answer, &error));
  OK(pf_answer_summary(answer, &summary, &error));
  CHECK(summary.pushes == 0 && summary.recipients == 3);
  /* A plain message after it is plain again. */
  message = message_at(NIGHT);
  OK(pf_decide(engine, &message, answer, &error));
  OK(pf_answer_summary(answer, &summary, &error));
  CHECK(summary.pushes == 1);
  message.force = 1;
  OK(pf_decide(engine, &message, answer, &error));
  OK(pf_answer_summary(answer, &summary, &error));
  CHECK(summary.pushes == 2);

  message = message_at(NOON);
  pf_text mentions[] = {text_of("cid"), text_of("ben")};
  message.mentions = mentions;
  message.mention_count = 2;
  OK(pf_decide(engine, &message, answer, &error));
  message.mentions = NULL;
  FAILS(
    pf_decide(engine, &message, answer, &error), PF_MISUSE,
    "mentions are NULL, but their count is not 0");
  OK(pf_answer_summary(answer, &summary, &error));
  CHECK(summary.members == 0 && summary.stamp.epoch == 0);

  message = message_at(-1);
  FAILS(
    pf_decide(engine, &message, answer, &error), PF_MISUSE,
    "at is -1; it must be milliseconds, 0 ... 9007199254740991");
  message = message_at(NOON);
  message.body = 4;
  FAILS(
    pf_decide(engine, &message, answer, &error), PF_MISUSE,
    "body is 4; it must be one of PF_BODY_");
  message = message_at(NOON);
  message.silent = 7;
  FAILS(
    pf_decide(engine, &message, answer, &error), PF_MISUSE, "silent is 7; it must be 1, 0 or -1");
  message = message_at(NOON);
  message.conversation.bytes = "\xFF";
  message.conversation.size = 1;
  FAILS(
    pf_decide(engine, &message, answer, &error), PF_INVALID, "conversation is not UTF-8");
  message = message_at(NOON);
  message.struct_size = 8;
  FAILS(
    pf_decide(engine, &message, answer, &error), PF_MISUSE,
    "message is NULL, or its struct_size is not that of pf_message");
  message = message_at(NOON);
  FAILS(pf_decide(NULL, &message, answer, &error), PF_MISUSE, "engine is NULL");
  FAILS(
    pf_decide(engine, &message, NULL, &error), PF_MISUSE,
    "answer is NULL, closed, or of another engine");
  FAILS(
    pf_decide((pf_engine *)answer, &message, answer, &error), PF_MISUSE,
    "engine is no such handle, closed, or of another release of the library");
  pf_engine *other = open_world();
  FAILS(
    pf_decide(other, &message, answer, &error), PF_MISUSE,
    "answer is NULL, closed, or of another engine");
  pf_close(other);
  CHECK(pf_decide(NULL, NULL, NULL, NULL) == PF_MISUSE);
  pf_answer_free(answer);
  pf_close(engine);
}

/* Under open rules: keywords of a text, roles, and the author of what is answered. */
static void fields_of_open_rules(void) {
  static const char *const world =
    "{\"kind\":\"app\",\"rules\":\"open\"}\n"
    "{\"kind\":\"user\",\"id\":\"ann\",\"level\":[\"keyword\"],\"keywords\":[\"caf\u00e9 au lait\"]}\n"
    "{\"kind\":\"user\",\"id\":\"ben\",\"level\":[\"role\"]}\n"
    "{\"kind\":\"user\",\"id\":\"cid\",\"level\":[\"reply\"]}\n"
    "{\"kind\":\"member\",\"conversation\":\"g\",\"user\":\"ann\"}\n"
    "{\"kind\":\"member\",\"conversation\":\"g\",\"user\":\"ben\",\"roles\":[\"ops\"]}\n"
    "{\"kind\":\"member\",\"conversation\":\"g\",\"user\":\"cid\"}\n"
    "{\"kind\":\"member\",\"conversation\":\"g\",\"user\":\"dan\",\"level\":\"none\"}\n";
  char *error = NULL;
  pf_engine *engine = NULL;
  pf_answer *answer = NULL;
  pf_ids ids;
  OK(pf_open_bytes(world, strlen(world), NULL, &engine, &error));
  OK(pf_answer_new(engine, &answer, &error));
  pf_info info = {.struct_size = sizeof info};
  OK(pf_get_info(engine, &info, &error));
  CHECK(info.rules == PF_RULES_OPEN);
  const char *said = "Un CAF\u00c9 au lait?", *other = "Un the au lait?";
  const pf_text roles[] = {text_of("nobody's"), text_of("ops")};
  /* After each, a message has none of its fields any more. */
  const struct {
    const char *text, *reply, *pushes;
    size_t roles;
  } cases[] = {{said, NULL, "ann", 0}, {NULL, NULL, "", 0},   {NULL, NULL, "", 1},
               {other, NULL, "ben", 2}, {NULL, "cid", "cid", 0}, {"", "dan", "", 0},
               {said, "cid", "ann,ben,cid", 2}, {NULL, NULL, "", 0}};
  for (size_t index = 0; index < sizeof cases / sizeof *cases; index++) {
    pf_message message = message_at(NOON);
    if (cases[index].text) message.text = text_of(cases[index].text);
    if (cases[index].reply) message.reply_to_user = text_of(cases[index].reply);
    message.mentions_roles = cases[index].roles ? roles : NULL;
    message.mentions_role_count = cases[index].roles;
    OK(pf_decide(engine, &message, answer, &error));
    OK(pf_answer_push_ids(answer, &ids, &error));
    CHECK(ids_are(&ids, cases[index].pushes));
    pf_ids_free(&ids);
    uint8_t code = 0, own = 9;
    OK(pf_answer_code(answer, "ann", 3, &code, &error));
    OK(pf_decide_user(engine, &message, "ann", 3, &own, NULL, NULL, &error));
    CHECK(code == own && (code & 1) == (cases[index].text == said));
  }

  /* Of a text the first 65,536 bytes are looked at; more is no error, but has to be UTF-8. */
  static char text[65552];
  memset(text, ' ', sizeof text);
  const size_t size = strlen(said);
  pf_message message = message_at(NOON);
  message.text = (pf_text){text, sizeof text};
  for (int cut = 0; cut < 2; cut++) {
    /* Without its last byte, the sign. */
    memcpy(text + 65536 - size + 1 + (size_t)cut, said, size);
    OK(pf_decide(engine, &message, answer, &error));
    OK(pf_answer_push_ids(answer, &ids, &error));
    CHECK(ids_are(&ids, cut ? "" : "ann"));
    pf_ids_free(&ids);
  }
  text[sizeof text - 1] = '\xE9';
  FAILS(pf_decide(engine, &message, answer, &error), PF_INVALID, "text is not UTF-8");
  message.text = (pf_text){NULL, 0};

  static pf_text many[10001];
  for (int index = 0; index < 10001; index++) many[index] = text_of("ops");
  for (int over = 0; over < 2; over++) {
    message.mentions_roles = many;
    message.mentions_role_count = 8 + (size_t)over;
    if (over) {
      FAILS(
        pf_decide(engine, &message, answer, &error), PF_INVALID,
        "\"mentionsRoles\": 9 roles; at most 8 are allowed");
    } else {
      OK(pf_decide(engine, &message, answer, &error));
    }
    message.mentions_role_count = 0;
    message.mentions = many;
    message.mention_count = 10000 + (size_t)over;
    if (over) {
      FAILS(
        pf_decide(engine, &message, answer, &error), PF_INVALID,
        "\"mentions\": 10001 mentioned users; at most 10000 are allowed");
    } else {
      OK(pf_decide(engine, &message, answer, &error));
    }
    message.mention_count = 0;
  }
  message = message_at(NOON);
  message.mentions_role_count = 1;
  FAILS(
    pf_decide(engine, &message, answer, &error), PF_MISUSE,
    "mentions_roles are NULL, but their count is not 0");
  many[0] = text_of("");
  message.mentions_roles = many;
  FAILS(
    pf_decide(engine, &message, answer, &error), PF_INVALID, "a mentioned role must not be empty");
  message = message_at(NOON);
  message.reply_to_user = text_of("");
  FAILS(pf_decide(engine, &message, answer, &error), PF_INVALID, "reply_to_user must not be empty");
  pf_answer_free(answer);
  pf_close(engine);

  /* A vendor's message may have a text, and none of the others, as in NDJSON. */
  engine = open_world();
  OK(pf_answer_new(engine, &answer, &error));
  message = message_at(NOON);
  message.text = text_of(said);
  OK(pf_decide(engine, &message, answer, &error));
  OK(pf_answer_push_ids(answer, &ids, &error));
  CHECK(ids_are(&ids, "ann,ben"));
  pf_ids_free(&ids);
  message.mentions_roles = roles;
  FAILS(
    pf_decide(engine, &message, answer, &error), PF_INVALID,
    "\"mentionsRoles\" belongs to open, but the rules are easemob");
  message.mentions_roles = NULL;
  message.reply_to_user = text_of("cid");
  uint8_t code = 0;
  FAILS(
    pf_decide_user(engine, &message, "ann", 3, &code, NULL, NULL, &error), PF_INVALID,
    "\"replyToUser\" belongs to open, but the rules are easemob");
  const char *const lines[] = {
    "{\"id\":\"m\",\"conversation\":\"g\",\"at\":0,\"text\":\"lait\"}\n",
    "{\"id\":\"m\",\"conversation\":\"g\",\"at\":0,\"replyToUser\":\"cid\"}\n"};
  pf_messages *messages = NULL;
  OK(pf_messages_read(engine, lines[0], strlen(lines[0]), NULL, &messages, &error));
  pf_messages_free(messages);
  FAILS(
    pf_messages_read(engine, lines[1], strlen(lines[1]), NULL, &messages, &error), PF_INVALID,
    "messages.ndjson:1: \"replyToUser\" belongs to open, but the rules are easemob");
  message.reply_to_user = (pf_text){NULL, 0};
  OK(pf_decide(engine, &message, answer, &error));
  pf_answer_free(answer);
  pf_close(engine);
}

/* What devices say of themselves, each line by itself. */
static void heartbeats(void) {
  static const char *const world =
    "{\"kind\":\"app\",\"rules\":\"open\"}\n"
    "{\"kind\":\"member\",\"conversation\":\"g\",\"user\":\"ann\"}\n"
    "{\"kind\":\"member\",\"conversation\":\"g\",\"user\":\"ben\"}\n";
  static const char *const lines =
    "{\"user\":\"ann\",\"device\":\"default\",\"state\":\"foreground\"}\n"
    "{\"user\":\"ann\",\"device\":\"phone\",\"state\":\"foreground\"}\n"
    "{\"user\":\"dan\",\"device\":\"default\",\"state\":\"foreground\"}\n";
  char *error = NULL;
  pf_engine *engine = NULL;
  pf_answer *answer = NULL;
  pf_ids ids;
  uint64_t applied = 9;
  OK(pf_open_bytes(world, strlen(world), NULL, &engine, &error));
  OK(pf_answer_new(engine, &answer, &error));
  FAILS(
    pf_set_presence(engine, lines, strlen(lines), &applied, &error), PF_NOT_FOUND,
    "presence.ndjson:2: the user \"ann\" has no device \"phone\" in the settings\n"
    "presence.ndjson:3: there is no user \"dan\" in the settings");
  CHECK(applied == 1);
  const pf_message message = message_at(NOON);
  OK(pf_decide(engine, &message, answer, &error));
  OK(pf_answer_push_ids(answer, &ids, &error));
  CHECK(ids_are(&ids, "ben"));
  pf_ids_free(&ids);
  OK(pf_set_presence(engine, NULL, 0, &applied, &error));
  CHECK(applied == 0);
  pf_answer_free(answer);
  pf_close(engine);

  engine = open_world();
  FAILS(
    pf_set_presence(engine, lines, strlen(lines), NULL, &error), PF_INVALID,
    "the rules \"easemob\" have no heartbeats; the state of a device is a setting");
  pf_close(engine);
}

static void one_user(void) {
  char *error = NULL;
  pf_engine *engine = open_world();
  pf_message message = message_at(NOON);
  uint8_t code = 9;
  pf_ids devices;
  OK(pf_decide_user(engine, &message, "ann", 3, &code, &devices, NULL, &error));
  CHECK(code == 29 && ids_are(&devices, "a1,a2"));
  pf_ids_free(&devices);
  OK(pf_decide_user(engine, &message, "dan", 3, &code, NULL, NULL, &error));
  CHECK(code == 0);
  pf_info info = {0};
  info.struct_size = sizeof info;
  OK(pf_get_info(engine, &info, &error));
  pf_stamp stamp = {0, 0, 9};
  OK(pf_decide_user(engine, &message, "cid", 3, &code, NULL, &stamp, &error));
  CHECK(code == 60 && stamp.epoch == info.epoch && stamp.sequence == 1 && stamp.membership == 0);
  const char *level = "{\"kind\":\"user\",\"id\":\"cid\",\"level\":\"all\"}\n";
  OK(pf_update(engine, level, strlen(level), NOON, NULL, &error));
  OK(pf_decide_user(engine, &message, "cid", 3, &code, &devices, &stamp, &error));
  CHECK(code == 29 && stamp.sequence == 2 && ids_are(&devices, "default"));
  pf_ids_free(&devices);
  OK(pf_decide_user(engine, &message, "cid", 3, &code, NULL, NULL, &error));
  pf_close(engine);
  engine = open_world();

  const char *ndjson = "{\"id\":\"m1\",\"conversation\":\"g\",\"at\":1717387200000}\n";
  char *json = NULL;
  size_t size = 0;
  OK(pf_explain(engine, ndjson, strlen(ndjson), "cid", 3, 0, &json, &size, NULL, &error));
  CHECK(json && strlen(json) == size && json[size - 1] == '\n');
  pf_free(json);
  info.struct_size = sizeof info;
  OK(pf_get_info(engine, &info, &error));
  stamp = (pf_stamp){0, 0, 9};
  OK(pf_explain(
    engine, ndjson, strlen(ndjson), "cid", 3, 0, &json, &size, &stamp, &error));
  CHECK(stamp.epoch == info.epoch && stamp.sequence == 1 && stamp.membership == 0);
  CHECK(strstr(json, "\"decision\":{\"action\":\"none\",\"reason\":\"levelNone\",\"scope\":\"app\"}"));
  pf_free(json);
  OK(pf_explain(engine, ndjson, strlen(ndjson), "ann", 3, 1, &json, NULL, NULL, &error));
  CHECK(strstr(json, "\"payload\":"));
  pf_free(json);
  FAILS(
    pf_explain(engine, ndjson, strlen(ndjson), "eve", 3, 0, &json, &size, NULL, &error), PF_NOT_FOUND,
    "there is no user \"eve\"");
  FAILS(
    pf_explain(engine, "x", 1, "cid", 3, 0, &json, &size, NULL, &error), PF_INVALID,
    "messages.ndjson:1: the line is not JSON");

  pf_change change;
  OK(pf_next_change(engine, "ben", 3, "g", 1, NULL, 0, NOON, &change, NULL, &error));
  /* 22:00 in Shanghai: 76 is none/quietHours/app. */
  CHECK(change.at == INT64_C(1717423200000) && change.before == 33 && change.after == 76);
  OK(pf_next_change(engine, "cid", 3, "g", 1, NULL, 0, NOON, &change, NULL, &error));
  CHECK(change.at == -1 && change.before == 60 && change.after == 60);
  OK(pf_update(engine, level, strlen(level), NOON, NULL, &error));
  OK(pf_next_change(engine, "cid", 3, "g", 1, NULL, 0, NOON, &change, &stamp, &error));
  CHECK(change.before == 29);
  CHECK(stamp.epoch == info.epoch && stamp.sequence == 2 && stamp.membership == 0);
  FAILS(
    pf_next_change(engine, "ben", 3, "h", 1, NULL, 0, NOON, &change, NULL, &error), PF_NOT_FOUND,
    "there is no conversation \"h\"");
  FAILS(
    pf_next_change(engine, "ben", 3, "g", 1, NULL, 0, INT64_MIN, &change, NULL, &error), PF_MISUSE,
    "after is -9223372036854775808; it must be milliseconds, 0 ... 9007199254740991");
  pf_close(engine);
}

static void changes(void) {
  char *error = NULL;
  pf_engine *engine = open_world();
  pf_answer *answer = NULL;
  OK(pf_answer_new(engine, &answer, &error));
  pf_message message = message_at(NOON);
  pf_stamp stamps[5];
  pf_summary summary;
  pf_ids ids;
  const char *level = "{\"kind\":\"member\",\"conversation\":\"g\",\"user\":\"ben\",\"level\":\"none\"}\n";
  const char *joins =
    "{\"kind\":\"user\",\"id\":\"eve\"}\n{\"kind\":\"member\",\"conversation\":\"g\",\"user\":\"eve\"}\n";
  for (int step = 0; step < 5; step++) {
    uint64_t records = 0;
    if (step == 1) OK(pf_update(engine, level, strlen(level), NOON, &records, &error));
    if (step == 1) CHECK(records == 1);
    if (step == 2) OK(pf_update(engine, joins, strlen(joins), NOON, NULL, &error));
    if (step == 3) OK(pf_remove_member(engine, "cid", 3, "g", 1, NOON, &error));
    /* No changes are no new version. */
    if (step == 4) {
      records = 9;
      OK(pf_update(engine, NULL, 0, NOON, &records, &error));
      CHECK(records == 0);
      OK(pf_update(engine, "\n \n", 3, NOON, &records, &error));
      CHECK(records == 0);
    }
    OK(pf_decide(engine, &message, answer, &error));
    OK(pf_answer_summary(answer, &summary, &error));
    stamps[step] = summary.stamp;
  }
  /* A level is no change of ranks; joining and leaving are. */
  CHECK(stamps[0].sequence == 1 && stamps[1].sequence == 2 && stamps[2].sequence == 3);
  CHECK(stamps[0].membership == stamps[1].membership);
  CHECK(stamps[1].membership != stamps[2].membership);
  CHECK(stamps[2].membership != stamps[3].membership);
  CHECK(stamps[3].membership != stamps[0].membership);
  CHECK(stamps[4].sequence == stamps[3].sequence);
  CHECK(stamps[0].epoch == stamps[3].epoch);
  pf_stamp stamp;
  OK(pf_members(engine, "g", 1, &stamp, &ids, &error));
  CHECK(ids_are(&ids, "ann,ben,dan,eve"));
  CHECK(stamp.epoch == stamps[3].epoch && stamp.membership == stamps[3].membership);
  pf_ids_free(&ids);
  OK(pf_members(engine, "nothing", 7, NULL, &ids, &error));
  CHECK(ids.count == 0);
  pf_ids_free(&ids);

  /* An answer is of its version, whatever was updated since. */
  OK(pf_update(engine, level, strlen(level), NOON, NULL, &error));
  OK(pf_remove_member(engine, "eve", 3, "g", 1, NOON, &error));
  OK(pf_answer_members(answer, &ids, &error));
  CHECK(ids_are(&ids, "ann,ben,dan,eve"));
  pf_ids_free(&ids);

  FAILS(
    pf_remove_member(engine, "cid", 3, "g", 1, NOON, &error), PF_NOT_FOUND,
    "\"cid\" is not a member of \"g\"");
  const char *wrong = "{\"kind\":\"user\",\"id\":\"zoe\"}\n{\"kind\":\"user\",\"id\":\"\"}\n";
  FAILS(
    pf_update(engine, wrong, strlen(wrong), NOON, NULL, &error), PF_INVALID,
    "settings.ndjson:2: \"id\" must not be empty");
  const char *rules = "{\"kind\":\"app\",\"rules\":\"rongcloud\"}\n";
  FAILS(
    pf_update(engine, rules, strlen(rules), NOON, NULL, &error), PF_REFUSED,
    "the changes are by the rules rongcloud, the settings by easemob");
  pf_info info = {0};
  info.struct_size = sizeof info;
  OK(pf_get_info(engine, &info, &error));
  CHECK(info.user_count == 5 && info.epoch == stamps[0].epoch && info.rules == PF_RULES_EASEMOB);
  CHECK(info.snapshot_sequence == 0 && info.threads >= 1);
  info.struct_size = 3;
  FAILS(
    pf_get_info(engine, &info, &error), PF_MISUSE, "struct_size of info is not that of pf_info");

  OK(pf_advance(engine, NOON, &error));
  FAILS(
    pf_advance(engine, INT64_MAX, &error), PF_MISUSE,
    "at is 9223372036854775807; it must be milliseconds, 0 ... 9007199254740991");
  OK(pf_warm_up(engine, "g", 1, NOON, &error));
  OK(pf_warm_up(engine, "nothing", 7, NOON, &error));
  pf_memory memory = {0};
  memory.struct_size = sizeof memory;
  OK(pf_get_memory(engine, &memory, &error));
  CHECK(memory.user_count == 5 && memory.conversation_count == 1 && memory.membership_count == 3);
  CHECK(memory.users > 0 && memory.mapped == 0);
  pf_answer_free(answer);
  pf_close(engine);
}

typedef struct {
  int times, ends;
  uint64_t done;
} asked;

static int ask(void *context, uint64_t done, uint64_t all) {
  asked *self = context;
  self->times++;
  self->done = done;
  CHECK(all == 0 || done <= all);
  return self->ends;
}

static void many_messages(void) {
  char *error = NULL;
  pf_engine *engine = open_world();
  const char *ndjson =
    "{\"id\":\"m1\",\"conversation\":\"g\",\"sender\":\"dan\",\"at\":1717387200000}\n"
    "{\"id\":\"m2\",\"conversation\":\"nothing\",\"at\":1717387200000}\n"
    "{\"id\":\"m3\",\"conversation\":\"g\",\"at\":1717426800000}\n";
  pf_messages *messages = NULL;
  OK(pf_messages_read(engine, ndjson, strlen(ndjson), NULL, &messages, &error));
  CHECK(pf_messages_count(messages) == 3);
  char *id = NULL, *conversation = NULL;
  int64_t at = 0;
  OK(pf_messages_get(messages, 2, &id, &conversation, &at, &error));
  CHECK_TEXT(id, "m3");
  CHECK_TEXT(conversation, "g");
  CHECK(at == NIGHT);
  pf_free(id);
  pf_free(conversation);
  struct ArrowArrayStream rows;
  OK(pf_messages_stream(messages, &rows, &error));
  FAILS(
    pf_messages_get(messages, 3, NULL, NULL, NULL, &error), PF_MISUSE,
    "index 3, but there are 3 messages");
  FAILS(
    pf_messages_get(messages, SIZE_MAX, NULL, NULL, NULL, &error), PF_MISUSE,
    "index 18446744073709551615, but there are 3 messages");
  pf_answer *answer = NULL;
  OK(pf_answer_new(engine, &answer, &error));
  pf_summary summary;
  OK(pf_decide_at(engine, messages, 2, answer, &error));
  OK(pf_answer_summary(answer, &summary, &error));
  CHECK(summary.recipients == 4 && summary.pushes == 2);
  FAILS(
    pf_decide_at(engine, messages, 3, answer, &error), PF_MISUSE,
    "index 3, but there are 3 messages");

  pf_batch *batch = NULL;
  OK(pf_decide_batch(
    engine, messages, 0, 3, PF_COUNTS | PF_CODES | PF_PUSH_BITMAPS, &batch, &error));
  CHECK(batch->count == 3);
  CHECK(batch->summaries[0].pushes == 2 && batch->summaries[1].members == 0);
  CHECK(batch->summaries[2].pushes == 2 && batch->summaries[2].recipients == 4);
  CHECK(batch->summaries[0].stamp.sequence == 1 && batch->summaries[0].stamp.membership != 0);
  CHECK(batch->counts[29] == 1 && batch->counts[2 * PF_CODE_COUNT + 76] == 1);
  const uint8_t codes[] = {29, 33, 60, 0, 29, 76, 60, 33};
  CHECK(batch->code_starts[1] == 4 && batch->code_starts[2] == 4 && batch->code_starts[3] == 8);
  CHECK(memcmp(batch->codes, codes, sizeof codes) == 0);
  CHECK(batch->bitmap_starts[1] == 1 && batch->bitmap_starts[3] == 2);
  CHECK(batch->bitmaps[0] == 3 && batch->bitmaps[1] == 9);
  pf_batch_free(batch);
  OK(pf_decide_batch(engine, messages, 1, 2, 0, &batch, &error));
  CHECK(batch->count == 2 && batch->counts == NULL && batch->codes == NULL);
  CHECK(batch->summaries[1].pushes == 2);
  pf_batch_free(batch);
  OK(pf_decide_batch(engine, messages, 3, 0, PF_CODES, &batch, &error));
  CHECK(batch->count == 0 && batch->code_starts[0] == 0);
  pf_batch_free(batch);
  FAILS(
    pf_decide_batch(engine, messages, 2, SIZE_MAX, 0, &batch, &error), PF_MISUSE,
    "messages 2 and 18446744073709551615 more, but there are 3");
  FAILS(
    pf_decide_batch(engine, messages, 0, 1, 8, &batch, &error), PF_MISUSE,
    "parts must be a sum of PF_COUNTS, PF_CODES and PF_PUSH_BITMAPS");

  /* Two messages to "g", and one to nobody. */
  uint64_t bytes = 0;
  OK(pf_batch_size(engine, messages, 0, 3, PF_COUNTS | PF_CODES | PF_PUSH_BITMAPS, &bytes, &error));
  CHECK(bytes == 3 * sizeof(pf_summary) + 3 * 4 * PF_CODE_COUNT + 2 * 4 * 8 + 8 + 2);
  OK(pf_batch_size(engine, messages, 1, 2, PF_CODES, &bytes, &error));
  CHECK(bytes == 2 * sizeof(pf_summary) + 3 * 8 + 4);
  FAILS(
    pf_batch_size(engine, messages, 3, 1, 0, &bytes, &error), PF_MISUSE,
    "messages 3 and 1 more, but there are 3");
  asked asked = {0, 0, 0};
  const pf_watch watch = {ask, &asked};
  OK(pf_decide_batch_watched(engine, messages, 0, 3, PF_CODES, &watch, &batch, &error));
  CHECK(asked.times == 1 && asked.done == 3);
  CHECK(memcmp(batch->codes, codes, sizeof codes) == 0);
  pf_batch_free(batch);
  pf_messages *more = NULL;
  OK(pf_messages_read_watched(engine, ndjson, strlen(ndjson), NULL, &watch, &more, &error));
  CHECK(pf_messages_count(more) == 3 && asked.times == 2 && asked.done == 0);
  const pf_messages *parts[] = {messages, more};
  pf_messages *joined = NULL;
  OK(pf_messages_join(engine, parts, 2, &joined, &error));
  CHECK(pf_messages_count(joined) == 6);
  int64_t at_last = 0, at_joined = 1;
  OK(pf_messages_get(joined, 5, NULL, NULL, &at_joined, &error));
  OK(pf_messages_get(more, 2, NULL, NULL, &at_last, &error));
  CHECK(at_joined == at_last);
  pf_messages_free(joined);
  OK(pf_messages_join(engine, NULL, 0, &joined, &error));
  CHECK(pf_messages_count(joined) == 0);
  pf_messages_free(joined);
  parts[1] = NULL;
  FAILS(
    pf_messages_join(engine, parts, 2, &joined, &error), PF_MISUSE,
    "messages are NULL, closed, or of another engine");
  struct ArrowArrayStream stream;
  OK(pf_messages_stream(more, &stream, &error));
  asked.ends = 1;
  FAILS(
    pf_messages_read_arrow_watched(engine, &stream, &watch, &more, &error), PF_CANCELLED,
    "the caller ended the call");
  CHECK(!stream.release);
  FAILS(
    pf_messages_read_watched(engine, ndjson, strlen(ndjson), NULL, &watch, &more, &error),
    PF_CANCELLED, "the caller ended the call");
  pf_messages_free(more);
  FAILS(
    pf_decide_batch_watched(engine, messages, 0, 3, PF_CODES, &watch, &batch, &error), PF_CANCELLED,
    "the caller ended the call");

  char *text = NULL;
  size_t size = 0;
  FAILS(
    pf_evaluate_watched(
      engine, ndjson, strlen(ndjson), "pushlist", 0, &watch, &text, &size, NULL, &error),
    PF_CANCELLED, "the caller ended the call");
  asked.ends = 0;
  OK(pf_evaluate_watched(
    engine, ndjson, strlen(ndjson), "counts", 0, &watch, &text, &size, NULL, &error));
  pf_free(text);
  OK(pf_evaluate(engine, ndjson, strlen(ndjson), "pushlist", 0, &text, &size, NULL, &error));
  CHECK_TEXT(
    text,
    "{\"message\":\"m1\",\"push\":[\"ann\",\"ben\"]}\n{\"message\":\"m2\",\"push\":[]}\n"
    "{\"message\":\"m3\",\"push\":[\"ann\",\"dan\"]}\n");
  pf_free(text);
  pf_info info = {0};
  info.struct_size = sizeof info;
  OK(pf_get_info(engine, &info, &error));
  pf_stamp stamp = {0, 0, 9};
  OK(pf_evaluate(
    engine, ndjson, strlen(ndjson), "summary", 0, &text, NULL, &stamp, &error));
  CHECK(stamp.epoch == info.epoch && stamp.sequence == 1 && stamp.membership == 0);
  pf_free(text);
  FAILS(
    pf_evaluate(engine, ndjson, 5, "csv", 0, &text, &size, NULL, &error), PF_INVALID,
    "messages.ndjson:1: the JSON ends too early; the line was cut off");
  FAILS(
    pf_evaluate(engine, ndjson, strlen(ndjson), "npy", 0, &text, &size, NULL, &error), PF_MISUSE,
    "there is no format \"npy\"; it must be one of [\"ndjson\", \"csv\", \"counts\", "
    "\"pushlist\", \"summary\"]");
  pf_messages *none = NULL;
  FAILS(
    pf_messages_read(engine, NULL, 0, "day.ndjson", &none, &error), PF_INVALID,
    "day.ndjson:1: the file is empty");
  /* Bytes that are not of a file may be none. */
  OK(pf_messages_read(engine, NULL, 0, NULL, &none, &error));
  CHECK(none != NULL && pf_messages_count(none) == 0);
  OK(pf_decide_batch(engine, none, 0, 0, PF_COUNTS | PF_CODES, &batch, &error));
  CHECK(batch->count == 0 && batch->counts != NULL && batch->code_starts[0] == 0);
  pf_batch_free(batch);
  pf_messages_free(none);
  for (int part = 0; part < 2; part++) {
    OK(pf_evaluate(
      engine, part == 0 ? NULL : "\n", (size_t)part, "csv", 0, &text, &size, NULL, &error));
    CHECK_TEXT(text, "message,user,action,reason,scope\n");
    pf_free(text);
  }
  const char *csv = "id,conversation,at\nm1,g,x\n";
  FAILS(
    pf_messages_read(engine, csv, strlen(csv), "day.csv", &none, &error), PF_INVALID,
    "day.csv:2: \"at\": x is not an instant; give Unix milliseconds, 0 to 9007199254740991, or an "
    "RFC 3339 time with an offset or Z");
  pf_answer_free(answer);
  pf_messages_free(messages);
  /* The rows outlive the messages. */
  struct ArrowArray array;
  CHECK(rows.get_next(&rows, &array) == 0 && array.length == 3 && array.n_children == 4);
  CHECK(((const uint32_t *)array.children[0]->buffers[1])[2] == 2);
  CHECK(memcmp(array.children[1]->buffers[2], "m1m2m3", 6) == 0);
  CHECK(memcmp(array.children[2]->buffers[2], "gnothingg", 9) == 0);
  CHECK(((const int64_t *)array.children[2]->buffers[1])[2] == 8);
  CHECK(((const int64_t *)array.children[3]->buffers[1])[2] == NIGHT);
  array.release(&array);
  CHECK(rows.get_next(&rows, &array) == 0 && array.release == NULL);
  rows.release(&rows);
  FAILS(pf_messages_stream(NULL, &rows, &error), PF_MISUSE, "messages is NULL");
  pf_close(engine);
}

/* Views of 16 bytes: a short text within, a long one in a buffer of characters. */
typedef struct {
  int32_t size;
  union {
    char text[12];
    struct {
      char prefix[4];
      int32_t buffer, offset;
    } long_text;
  } of;
} view;

/* The id in a row of a column of users; the result is its size. */
static size_t id_at(const struct ArrowArray *column, uint32_t flags, int64_t row, const char **id) {
  row += column->offset;
  if (flags == PF_ARROW_IDS) {
    const int64_t *offsets = column->buffers[1];
    *id = (const char *)column->buffers[2] + offsets[row];
    return (size_t)(offsets[row + 1] - offsets[row]);
  }
  const view *at = (const view *)column->buffers[1] + row;
  *id = at->of.text;
  if (at->size > 12) {
    const int64_t *sizes = column->buffers[column->n_buffers - 1];
    int32_t buffer = at->of.long_text.buffer;
    CHECK(buffer >= 0 && buffer < column->n_buffers - 3);
    CHECK(at->of.long_text.offset + at->size <= sizes[buffer]);
    *id = (const char *)column->buffers[2 + buffer] + at->of.long_text.offset;
    CHECK(memcmp(*id, at->of.long_text.prefix, 4) == 0);
  }
  return (size_t)at->size;
}

/* Adds the rows of a stream to `rows`, and reads its metadata. */
static void read_rows(struct ArrowArrayStream *stream, uint32_t flags, char *rows, char *metadata) {
  struct ArrowSchema schema;
  CHECK(stream->get_schema(stream, &schema) == 0);
  CHECK_TEXT(schema.format, "+s");
  CHECK(schema.n_children == 3);
  CHECK_TEXT(schema.children[1]->name, "user");
  CHECK_TEXT(schema.children[1]->format, flags == 0 ? "I" : flags == PF_ARROW_IDS ? "U" : "vu");
  int32_t pairs;
  memcpy(&pairs, schema.metadata, 4);
  const char *at = schema.metadata + 4;
  for (int32_t index = 0; index < 2 * pairs; index++) {
    int32_t length;
    memcpy(&length, at, 4);
    strncat(metadata, at + 4, (size_t)length);
    strcat(metadata, index % 2 ? ";" : "=");
    at += 4 + length;
  }
  schema.release(&schema);
  for (;;) {
    struct ArrowArray array;
    CHECK(stream->get_next(stream, &array) == 0);
    if (!array.release) break;
    const struct ArrowArray *message = array.children[0], *user = array.children[1],
                            *code = array.children[2];
    for (int64_t row = 0; row < array.length; row++) {
      char id[64], line[128];
      if (flags) {
        const char *text;
        int length = (int)id_at(user, flags, row, &text);
        snprintf(id, sizeof id, "%.*s", length, text);
      } else {
        snprintf(id, sizeof id, "%u", ((const uint32_t *)user->buffers[1])[row + user->offset]);
      }
      snprintf(
        line, sizeof line, "%u:%s:%u ",
        ((const uint32_t *)message->buffers[1])[row + message->offset], id,
        ((const uint8_t *)code->buffers[1])[row + code->offset]);
      strcat(rows, line);
    }
    array.release(&array);
    CHECK(array.release == NULL);
  }
}

static void relations(void) {
  char *error = NULL;
  pf_engine *engine = open_world();
  const char *ndjson =
    "{\"id\":\"m1\",\"conversation\":\"g\",\"sender\":\"dan\",\"at\":1717387200000}\n"
    "{\"id\":\"m2\",\"conversation\":\"nothing\",\"at\":1717387200000}\n"
    "{\"id\":\"m3\",\"conversation\":\"g\",\"sender\":\"ann\",\"at\":1717426800000}\n";
  pf_messages *messages = NULL;
  OK(pf_messages_read(engine, ndjson, strlen(ndjson), NULL, &messages, &error));
  pf_relation *relation = NULL, *named = NULL, *viewed = NULL;
  FAILS(
    pf_relation_new(engine, messages, 3, &relation, &error), PF_MISUSE,
    "flags must be 0, PF_ARROW_IDS or PF_ARROW_ID_VIEWS");
  OK(pf_relation_new(engine, messages, 0, &relation, &error));
  OK(pf_relation_new(engine, messages, PF_ARROW_IDS, &named, &error));
  OK(pf_relation_new(engine, messages, PF_ARROW_ID_VIEWS, &viewed, &error));
  pf_messages_free(messages);
  const char *level = "{\"kind\":\"user\",\"id\":\"ann\",\"level\":\"none\"}\n";
  for (int time = 0; time < 2; time++) {
    char rows[1024] = "", metadata[1024] = "", expected[256];
    struct ArrowArrayStream stream;
    OK(pf_relation_stream(relation, &stream, &error));
    read_rows(&stream, 0, rows, metadata);
    stream.release(&stream);
    CHECK(stream.release == NULL);
    CHECK_TEXT(rows, "0:0:29 0:1:33 0:2:60 2:1:76 2:2:60 2:3:33 ");
    pf_info info = {0};
    info.struct_size = sizeof info;
    OK(pf_get_info(engine, &info, &error));
    snprintf(
      expected, sizeof expected,
      "push_fanout.epoch=%llu;push_fanout.sequence=1;push_fanout.outcomes=%u;",
      (unsigned long long)info.epoch, pf_outcome_registry_version());
    CHECK_TEXT(metadata, expected);
    /* The second time after an update, which a relation does not see. */
    OK(pf_update(engine, level, strlen(level), NOON, NULL, &error));
  }
  pf_close(engine);
  struct ArrowArrayStream stream, users, views;
  OK(pf_relation_stream(named, &stream, &error));
  OK(pf_relation_stream(viewed, &views, &error));
  OK(pf_relation_users(named, &users, &error));
  pf_relation_free(relation);
  pf_relation_free(named);
  pf_relation_free(viewed);
  char rows[1024] = "", metadata[1024] = "";
  read_rows(&stream, PF_ARROW_IDS, rows, metadata);
  stream.release(&stream);
  CHECK_TEXT(rows, "0:ann:29 0:ben:33 0:cid:60 2:ben:76 2:cid:60 2:dan:33 ");
  rows[0] = 0;
  read_rows(&views, PF_ARROW_ID_VIEWS, rows, metadata);
  views.release(&views);
  CHECK_TEXT(rows, "0:ann:29 0:ben:33 0:cid:60 2:ben:76 2:cid:60 2:dan:33 ");
  struct ArrowArray array;
  CHECK(users.get_next(&users, &array) == 0 && array.length == 4);
  /* A child may be moved away, and outlives its parent. */
  struct ArrowArray ids = *array.children[1];
  array.children[1]->release = NULL;
  array.release(&array);
  CHECK(((const int64_t *)ids.buffers[1])[4] == 12);
  CHECK(memcmp(ids.buffers[2], "annbenciddan", 12) == 0);
  ids.release(&ids);
  CHECK(users.get_next(&users, &array) == 0 && array.release == NULL);
  users.release(&users);
}

/* Ben's quiet hours hold back a push until 08:00; cid's level holds back none. */
static void held_pushes(void) {
  char *error = NULL;
  pf_engine *engine = open_world();
  const char *ndjson =
    "{\"id\":\"m1\",\"conversation\":\"g\",\"at\":1717387200000}\n"
    "{\"id\":\"m2\",\"conversation\":\"g\",\"at\":1717426800000}\n";
  pf_messages *messages = NULL;
  OK(pf_messages_read(engine, ndjson, strlen(ndjson), NULL, &messages, &error));
  for (uint32_t flags = 0; flags <= PF_ARROW_IDS; flags++) {
    pf_relation *relation = NULL;
    OK(pf_relation_new(engine, messages, flags, &relation, &error));
    FAILS(pf_relation_held(relation, NULL, &error), PF_MISUSE, "a pointer for the result is NULL");
    struct ArrowArrayStream stream;
    OK(pf_relation_held(relation, &stream, &error));
    pf_relation_free(relation);
    struct ArrowSchema schema;
    CHECK(stream.get_schema(&stream, &schema) == 0 && schema.n_children == 4);
    CHECK_TEXT(schema.children[1]->format, flags ? "U" : "I");
    CHECK_TEXT(schema.children[3]->name, "pushAt");
    CHECK_TEXT(schema.children[3]->format, "l");
    schema.release(&schema);
    struct ArrowArray rows;
    CHECK(stream.get_next(&stream, &rows) == 0 && rows.length == 1);
    CHECK(((const uint32_t *)rows.children[0]->buffers[1])[0] == 1);
    if (flags) {
      CHECK(memcmp(rows.children[1]->buffers[2], "ben", 3) == 0);
    } else {
      CHECK(((const uint32_t *)rows.children[1]->buffers[1])[0] == 1);
    }
    CHECK(((const uint8_t *)rows.children[2]->buffers[1])[0] == 76);
    CHECK(((const int64_t *)rows.children[3]->buffers[1])[0] == INT64_C(1717459200000));
    rows.release(&rows);
    CHECK(stream.get_next(&stream, &rows) == 0 && rows.release == NULL);
    stream.release(&stream);
  }
  pf_messages_free(messages);
  pf_close(engine);
}

/* Reads a relation to rooms of more than 65,536 members, which share one buffer of users. */
static void check_large(
  const pf_relation *relation, const pf_engine *engine, const pf_messages *messages, uint32_t flags,
  const pf_ids *user_ids) {
  char *error = NULL;
  struct ArrowArrayStream stream;
  OK(pf_relation_stream(relation, &stream, &error));
  pf_answer *answer = NULL;
  OK(pf_answer_new(engine, &answer, &error));
  /* Where the columns of users began, for each message with batches of its own. */
  const void *shared[8] = {0};
  static uint8_t codes[80000];
  static uint32_t users[80000];
  size_t message = 0, rank = 0, members = 0, rows = 0, expected = 0;
  for (;;) {
    struct ArrowArray array;
    CHECK(stream.get_next(&stream, &array) == 0);
    if (!array.release) break;
    const struct ArrowArray *column = array.children[1];
    for (int64_t row = 0; row < array.length; row++) {
      uint32_t number = ((const uint32_t *)array.children[0]->buffers[1])[row + array.children[0]->offset];
      uint8_t code = ((const uint8_t *)array.children[2]->buffers[1])[row + array.children[2]->offset];
      while (members == 0 || number != message) {
        /* Nobody who is behind the last row of a message is a recipient. */
        for (; rank < members; rank++) CHECK(codes[rank] == 0);
        if (members > 0) message++;
        OK(pf_decide_at(engine, messages, message, answer, &error));
        OK(pf_answer_codes(answer, codes, 80000, &members, &error));
        OK(pf_answer_users(answer, users, 80000, NULL, &error));
        pf_summary summary;
        OK(pf_answer_summary(answer, &summary, &error));
        expected += summary.recipients;
        rank = 0;
      }
      while (rank < members && codes[rank] == 0) rank++;
      if (rank == members || codes[rank] != code) {
        CHECK(!"a row has another code");
        break;
      }
      if (flags) {
        const char *id;
        uint64_t from = user_ids->offsets[users[rank]], size = user_ids->offsets[users[rank] + 1] - from;
        if (id_at(column, flags, row, &id) != size || memcmp(id, user_ids->bytes + from, size) != 0) {
          CHECK(!"a row has another id");
          break;
        }
      } else if (((const uint32_t *)column->buffers[1])[row + column->offset] != users[rank]) {
        CHECK(!"a row has another user");
        break;
      }
      rank++;
      rows++;
    }
    if (message < 8 && members > 65536) shared[message] = column->buffers[flags == PF_ARROW_IDS ? 2 : 1];
    array.release(&array);
  }
  CHECK(rows == expected && message == 6);
  /* The messages before and behind a small one, but not the one that has many gaps. */
  CHECK(shared[0] != NULL && shared[0] == shared[1] && shared[1] == shared[4]);
  CHECK(shared[3] != shared[0]);
  stream.release(&stream);
  pf_answer_free(answer);
}

/* What one user in seven has behind "user" and the number: too much for a view. */
#define LONG_NAME(user) ((user) % 7 == 4 ? "-has-a-long-name" : "")

static void large_rooms(void) {
  char *error = NULL;
  const int count = 70000;
  char *lines = malloc((size_t)count * 300), *at = lines;
  for (int user = 0; user < count; user++) {
    const char *rest = LONG_NAME(user);
    at += sprintf(
      at, "{\"kind\":\"user\",\"id\":\"user%d%s\",\"level\":\"%s\"}\n", user, rest, user % 7 ? "all" : "none");
    at += sprintf(
      at, "{\"kind\":\"member\",\"conversation\":\"big\",\"user\":\"user%d%s\"%s}\n", user, rest,
      user % 4000 == 5 ? ",\"since\":1717400000000" : user > 60000 ? ",\"mutedUntil\":1717400000000" : "");
    if (user % 10) continue;
    at += sprintf(at, "{\"kind\":\"member\",\"conversation\":\"small\",\"user\":\"user%d%s\"}\n", user, rest);
  }
  /* A room just above the limit, and one just below it. */
  for (int user = 0; user < 65537; user++) {
    at += sprintf(
      at, "{\"kind\":\"member\",\"conversation\":\"above\",\"user\":\"user%d%s\"}\n", user, LONG_NAME(user));
  }
  pf_engine *engine = NULL;
  OK(pf_open_bytes(lines, (size_t)(at - lines), NULL, &engine, &error));
  free(lines);
  /* 0 and 1 with a gap, the sender, behind the instant of all starts; 3 before them, so with 18 gaps. */
  const char *ndjson =
    "{\"id\":\"0\",\"conversation\":\"big\",\"sender\":\"user0\",\"at\":1717426800000}\n"
    "{\"id\":\"1\",\"conversation\":\"big\",\"sender\":\"user69999\",\"at\":1717426800000}\n"
    "{\"id\":\"2\",\"conversation\":\"small\",\"sender\":\"user10\",\"at\":1717387200000}\n"
    "{\"id\":\"3\",\"conversation\":\"big\",\"sender\":\"user9\",\"at\":1717387200000}\n"
    "{\"id\":\"4\",\"conversation\":\"big\",\"at\":1717426800000}\n"
    "{\"id\":\"5\",\"conversation\":\"above\",\"sender\":\"user65536\",\"at\":1717387200000}\n"
    "{\"id\":\"6\",\"conversation\":\"small\",\"at\":1717387200000}\n";
  pf_messages *messages = NULL;
  OK(pf_messages_read(engine, ndjson, strlen(ndjson), NULL, &messages, &error));
  pf_ids ids;
  OK(pf_members(engine, "big", 3, NULL, &ids, &error));
  for (uint32_t flags = 0; flags <= PF_ARROW_ID_VIEWS; flags++) {
    pf_relation *relation = NULL;
    OK(pf_relation_new(engine, messages, flags, &relation, &error));
    /* The members of the room are all users, so ids by rank are ids by number. */
    check_large(relation, engine, messages, flags, &ids);
    /* A stream that is not read to its end. */
    struct ArrowArrayStream stream;
    OK(pf_relation_stream(relation, &stream, &error));
    struct ArrowArray array;
    CHECK(stream.get_next(&stream, &array) == 0);
    stream.release(&stream);
    array.release(&array);
    pf_relation_free(relation);
  }
  pf_ids_free(&ids);
  pf_messages_free(messages);
  pf_close(engine);
}

static void arrow_in(void) {
  char *error = NULL;
  int released = 0;
  const char *app = "{\"kind\":\"app\",\"rules\":\"easemob\"}\n";
  static const int32_t offsets[] = {0, 3, 6, 9};
  static const int64_t large[] = {0, 4, 4, 8};
  static const uint8_t second_is_null = 5;
  const test_column user_columns[] = {
    {"id", "u", 3, {NULL, offsets, "annbencid"}},
    {"level", "U", 3, {&second_is_null, large, "nonenone"}}};
  static const int64_t until[] = {0, 1717426800, 0};
  view users[3] = {
    {3, {"ann"}}, {3, {"ben"}}, {21, {.long_text = {{'a', '-', 'l', 'o'}, 0, 2}}}};
  static const char characters[] = "..a-long-id-of-a-member";
  static const int64_t sizes[] = {23};
  const test_column member_columns[] = {
    {"user", "vu", 4, {NULL, users, characters, sizes}},
    {"conversation", "u", 3, {NULL, (const int32_t[]){0, 1, 2, 3}, "ggg"}},
    {"mutedUntil", "tss:UTC", 2, {NULL, until}}};
  test_table user_table = {3, 2, user_columns, 1, &released};
  test_table member_table = {3, 3, member_columns, 1, &released};
  struct ArrowArrayStream user_stream = stream_of(&user_table), member_stream = stream_of(&member_table);
  pf_engine *engine = NULL;
  OK(pf_open_arrow(app, strlen(app), &user_stream, &member_stream, NULL, &engine, &error));
  CHECK(released == 2);
  CHECK(user_stream.release == NULL && member_stream.release == NULL);
  pf_ids ids;
  OK(pf_members(engine, "g", 1, NULL, &ids, &error));
  CHECK(ids_are(&ids, "ann,ben,a-long-id-of-a-member"));
  pf_ids_free(&ids);

  /* ann: none by her level; ben: muted until NIGHT; the long one: pushed to. */
  const test_column message_columns[] = {
    {"id", "u", 3, {NULL, (const int32_t[]){0, 2}, "m1"}},
    {"conversation", "u", 3, {NULL, (const int32_t[]){0, 1}, "g"}},
    {"at", "tsn:UTC", 2, {NULL, (const int64_t[]){INT64_C(1717387200000999999)}}},
    {"silent", "b", 2, {NULL, "\0"}}};
  test_table message_table = {1, 4, message_columns, 1, &released};
  struct ArrowArrayStream message_stream = stream_of(&message_table);
  pf_messages *messages = NULL;
  OK(pf_messages_read_arrow(engine, &message_stream, &messages, &error));
  int64_t at = 0;
  OK(pf_messages_get(messages, 0, NULL, NULL, &at, &error));
  CHECK(at == NOON);
  pf_answer *answer = NULL;
  OK(pf_answer_new(engine, &answer, &error));
  OK(pf_decide_at(engine, messages, 0, answer, &error));
  uint8_t codes[3];
  OK(pf_answer_codes(answer, codes, 3, NULL, &error));
  CHECK(codes[0] == 60 && codes[1] == 80 && codes[2] == 33);
  pf_answer_free(answer);
  pf_messages_free(messages);
  pf_close(engine);

  /* What is refused. */
  static const int32_t descending[] = {0, 3, 1, 9};
  const test_column wrong[][2] = {
    {{"id", "u", 3, {NULL, descending, "annbencid"}}, {"level", "u", 3, {NULL, offsets, "allallall"}}},
    {{"id", "u", 3, {NULL, offsets, "annbencid"}}, {"level", "u", 3, {NULL, offsets, "allannall"}}},
    {{"id", "u", 3, {NULL, offsets, "annbencid"}}, {"colour", "u", 3, {NULL, offsets, "redredred"}}},
    {{"id", "u", 3, {NULL, offsets, "annbencid"}}, {"level", "z", 3, {NULL, offsets, "redredred"}}},
    {{"id", "u", 2, {NULL, offsets, NULL}}, {"level", "u", 3, {NULL, offsets, "allallall"}}},
    {{"id", "u", 3, {NULL, offsets, "ann\xFFzz\"\\\n"}}, {"level", "u", 3, {NULL, offsets, "allallall"}}},
  };
  const char *words[] = {
    "users:2: the column \"id\" has offsets that descend or are out of range",
    "users:2: \"level\" cannot be \"ann\"; did you mean all? It is one of default, all, mention, none",
    "users:1: unknown field \"colour\"",
    ("users.level: a column of the type \"z\" cannot be read; it must be text, integers, bool, a "
     "timestamp, a struct or a list"),
    "users: the column \"id\" has other buffers than its type",
    "users:2: the text in the column \"id\" is not UTF-8"};
  for (size_t index = 0; index < sizeof wrong / sizeof *wrong; index++) {
    test_table table = {3, 2, wrong[index], 1, &released};
    struct ArrowArrayStream stream = stream_of(&table);
    released = 0;
    FAILS(
      pf_open_arrow(NULL, 0, &stream, NULL, NULL, &engine, &error), PF_INVALID, words[index]);
    CHECK(released == 1);
  }
  /* A row that is null as a whole, in the second batch; timestamps of nobody knows where; no rows. */
  test_table masked = {3, 2, user_columns, 1, &released, &second_is_null};
  struct ArrowArrayStream null_row = stream_of(&masked);
  FAILS(
    pf_open_arrow(NULL, 0, &null_row, NULL, NULL, &engine, &error), PF_INVALID,
    "users:2: the row is null");
  const test_column naive[] = {message_columns[0], message_columns[1], {
    "at", "tsu:", 2, {NULL, (const int64_t[]){INT64_C(1717387200000999)}}}};
  test_table naive_table = {1, 3, naive, 1, &released};
  struct ArrowArrayStream naive_stream = stream_of(&naive_table);
  OK(pf_open_bytes(WORLD, strlen(WORLD), NULL, &engine, &error));
  FAILS(
    pf_messages_read_arrow(engine, &naive_stream, &messages, &error), PF_INVALID,
    "messages.at: the timestamps have no time zone, so that nothing says which instants they are; "
    "give the column one, such as UTC");
  test_table no_rows = {0, 4, message_columns, 1, &released};
  for (int batches = 0; batches < 2; batches++) {
    no_rows.batches = batches;
    struct ArrowArrayStream nothing = stream_of(&no_rows);
    OK(pf_messages_read_arrow(engine, &nothing, &messages, &error));
    CHECK(pf_messages_count(messages) == 0);
    pf_messages_free(messages);
  }
  pf_close(engine);
  test_table table = {3, 2, user_columns, 1, &released};
  struct ArrowArrayStream stream = stream_of(&table);
  stream.get_next = table_failure;
  FAILS(
    pf_open_arrow(NULL, 0, &stream, NULL, NULL, &engine, &error), PF_INVALID,
    "users: the test's own error");
  FAILS(
    pf_open_arrow(NULL, 0, &stream, NULL, NULL, &engine, &error), PF_INVALID,
    "users: the stream is released, or lacks a function");
}

/* A stream whose schema changes, and arrays that are not what the schema says. */
static void other_schemas(void) {
  char *error = NULL;
  int released = 0;
  static const int32_t offsets[] = {0, 1, 2};
  static const int64_t wide[] = {0, 1, 2}, numbers[] = {7, 8};
  const test_column first[] = {
    {"conversation", "u", 3, {NULL, offsets, "gg"}}, {"user", "u", 3, {NULL, offsets, "ab"}}};
  const test_column second[] = {
    {"user", "U", 3, {NULL, wide, "cd"}}, {"conversation", "u", 3, {NULL, offsets, "gg"}},
    {"level", "n", 0}};
  const test_column third[] = {
    {"user", "l", 2, {NULL, numbers}}, {"conversation", "U", 3, {NULL, wide, "gg"}}};
  const test_table last = {2, 2, third, 1, &released};
  const test_table empty = {.columns = 1, .column = first, .released = &released, .next = &last};
  const test_table other = {2, 3, second, 2, &released, .next = &empty};
  test_table table = {2, 2, first, 1, &released, .next = &other};
  struct ArrowArrayStream stream = stream_of(&table);
  pf_engine *engine = NULL;
  OK(pf_open_arrow(NULL, 0, NULL, &stream, NULL, &engine, &error));
  CHECK(released == 1);
  pf_ids ids;
  OK(pf_members(engine, "g", 1, NULL, &ids, &error));
  CHECK(ids_are(&ids, "a,b,c,d,7,8"));
  pf_ids_free(&ids);
  pf_close(engine);

  const test_column entries = {"", "u", 3, {NULL, offsets, "ab"}, .length = 2};
  const test_column item = {"item", "u", 3, {NULL, offsets, "ab"}, .length = 2};
  static const int8_t keys[] = {0, 1};
  const test_column text = first[1], number = third[0], nothing = {"user", "n", 0},
    coded = {"user", "c", 2, {NULL, keys}, .dictionary = &entries},
    key = {"user", "c", 2, {NULL, keys}},
    list = {"user", "+l", 2, {NULL, offsets}, .children = 1, .child = &item},
    object = {"user", "+s", 1, {NULL}, .children = 1, .child = &item},
    bare = {"user", "+s", 1, {NULL}},
    views = {"user", "vu", 2, {NULL, keys}}, many = {"user", "l", 2, {NULL, numbers}, .null_count = 3},
    hidden = {"user", "l", 2, {NULL, numbers}, .null_count = 1};
  const struct {
    test_column said, is;
    const char *words;
  } cases[] = {
    {nothing, text, "has other buffers than its type"}, {text, nothing, "has other buffers than its type"},
    {number, text, "has other buffers than its type"}, {text, number, "has other buffers than its type"},
    {text, coded, "has other buffers than its type"}, {coded, text, "has other buffers than its type"},
    {list, text, "has other buffers than its type"}, {text, list, "has other buffers than its type"},
    {object, number, "has other buffers than its type"}, {views, views, "has other buffers than its type"},
    {nothing, object, "has other children than its type"},
    {number, list, "has other children than its type"}, {list, number, "has other children than its type"},
    {object, bare, "has other children than its type"}, {coded, key, "lacks its dictionary"},
    {key, coded, "has a dictionary, but its type has none"},
    {many, many, "has more nulls than it can have"}, {hidden, hidden, "has more nulls than it can have"}};
  for (size_t index = 0; index < sizeof cases / sizeof *cases; index++) {
    const test_column said[] = {first[0], cases[index].said}, is[] = {first[0], cases[index].is};
    test_table wrong = {2, 2, is, 1, &released, .said = said};
    struct ArrowArrayStream misfit = stream_of(&wrong);
    char words[120];
    snprintf(words, sizeof words, "members: the column \"user\" %s", cases[index].words);
    FAILS(pf_open_arrow(NULL, 0, NULL, &misfit, NULL, &engine, &error), PF_INVALID, words);
  }
}

/* A value of an extension type is not what is stored; a text is. */
static void extension_types(void) {
  char *error = NULL;
  int released = 0;
  static const int64_t numbers[] = {653};
  static const int32_t offsets[] = {0, 1};
  static const char metadata[] =
    "\2\0\0\0\1\0\0\0a\0\0\0\0\24\0\0\0ARROW:extension:name\15\0\0\0pandas.period";
  const test_column columns[] = {
    {"conversation", "u", 3, {NULL, offsets, "g"}, .metadata = metadata},
    {"user", "l", 2, {NULL, numbers}}, {"since", "l", 2, {NULL, numbers}, .metadata = metadata}};
  pf_engine *engine = NULL;
  test_table read = {1, 2, columns, 1, &released};
  struct ArrowArrayStream stream = stream_of(&read);
  OK(pf_open_arrow(NULL, 0, NULL, &stream, NULL, &engine, &error));
  pf_close(engine);
  test_table refused = {1, 3, columns, 1, &released};
  stream = stream_of(&refused);
  FAILS(
    pf_open_arrow(NULL, 0, NULL, &stream, NULL, &engine, &error), PF_INVALID,
    "members.since: a column of an extension type cannot be read; cast it");
}

/* Ids that are integers answer as the texts of their digits do. */
static void number_ids(const char *folder) {
  char *error = NULL, snapshot[512];
  int released = 0;
  snprintf(snapshot, sizeof snapshot, "%s/numbers.snapshot", folder);
  static const int64_t ids[] = {42, -7, INT64_MAX}, rooms[] = {1, 1, 1};
  static const char *const levels = "all";
  static const int32_t level_offsets[] = {0, 3};
  static const int8_t keys[] = {0, 0, 0};
  static const uint8_t only_first = 1;
  const test_column entries = {"", "u", 3, {NULL, level_offsets, levels}, 0, NULL, NULL, 1, 0};
  const test_column user_columns[] = {
    {"id", "l", 2, {NULL, ids}, 0, NULL, NULL, 0, 0},
    {"level", "c", 2, {&only_first, keys}, 0, NULL, &entries, 0, 0}};
  const test_column member_columns[] = {
    {"user", "l", 2, {NULL, ids}, 0, NULL, NULL, 0, 0},
    {"conversation", "l", 2, {NULL, rooms}, 0, NULL, NULL, 0, 0}};
  test_table user_table = {3, 2, user_columns, 1, &released};
  test_table member_table = {3, 2, member_columns, 1, &released};
  struct ArrowArrayStream users = stream_of(&user_table), members = stream_of(&member_table);
  pf_engine *engine = NULL, *mapped = NULL;
  OK(pf_open_arrow(NULL, 0, &users, &members, NULL, &engine, &error));
  OK(pf_write_snapshot(engine, snapshot, 1, 2, 0, &error));
  OK(pf_open_snapshot(snapshot, 1, 2, NULL, &mapped, &error));
  for (int time = 0; time < 2; time++) {
    pf_engine *from = time ? mapped : engine;
    pf_ids found;
    OK(pf_members(from, "1", 1, NULL, &found, &error));
    CHECK(ids_are(&found, "42,-7,9223372036854775807"));
    pf_ids_free(&found);
    pf_answer *answer = NULL;
    OK(pf_answer_new(from, &answer, &error));
    pf_text mention = text_of("-7");
    pf_message message = message_at(NOON);
    message.conversation = text_of("1");
    message.sender = text_of("42");
    message.mentions = &mention;
    message.mention_count = 1;
    OK(pf_decide(from, &message, answer, &error));
    uint8_t codes[3] = {9, 9, 9}, code = 9;
    OK(pf_answer_codes(answer, codes, 3, NULL, &error));
    CHECK(codes[0] == 0 && codes[1] % 2 == 1 && codes[2] % 2 == 1);
    OK(pf_answer_code(answer, "9223372036854775807", 19, &code, &error));
    CHECK(code == codes[2]);
    char *json = NULL;
    const char *ndjson = "{\"id\":\"m\",\"conversation\":\"1\",\"sender\":\"-7\",\"at\":1717387200000}\n";
    OK(pf_explain(from, ndjson, strlen(ndjson), "42", 2, 0, &json, NULL, NULL, &error));
    CHECK(json && strstr(
      json, "\"decision\":{\"action\":\"push\",\"devices\":[\"default\"],\"reason\":\"allowed\",\"scope\":\"app\"}"));
    pf_free(json);
    pf_answer_free(answer);
  }
  pf_close(mapped);
  const char *change = "{\"kind\":\"user\",\"id\":\"42\",\"level\":\"none\"}\n";
  OK(pf_update(engine, change, strlen(change), NOON, NULL, &error));
  pf_info info = {0};
  info.struct_size = sizeof info;
  OK(pf_get_info(engine, &info, &error));
  CHECK(info.user_count == 3);

  /* Messages with such ids. */
  static const int32_t mention_offsets[] = {0, 1};
  static const int64_t mentioned[] = {-7};
  const test_column item = {"item", "l", 2, {NULL, mentioned}, 0, NULL, NULL, 1, 0};
  const test_column message_columns[] = {
    {"id", "l", 2, {NULL, ids}, 0, NULL, NULL, 0, 0},
    {"conversation", "l", 2, {NULL, rooms}, 0, NULL, NULL, 0, 0},
    {"sender", "l", 2, {NULL, ids}, 0, NULL, NULL, 0, 0},
    {"mentions", "+l", 2, {NULL, mention_offsets}, 1, &item, NULL, 0, 0},
    {"at", "l", 2, {NULL, (const int64_t[]){NOON}}, 0, NULL, NULL, 0, 0}};
  test_table message_table = {1, 5, message_columns, 1, &released};
  struct ArrowArrayStream stream = stream_of(&message_table);
  pf_messages *messages = NULL;
  OK(pf_messages_read_arrow(engine, &stream, &messages, &error));
  char *id = NULL, *conversation = NULL;
  OK(pf_messages_get(messages, 0, &id, &conversation, NULL, &error));
  CHECK_TEXT(id, "42");
  CHECK_TEXT(conversation, "1");
  pf_free(id);
  pf_free(conversation);
  pf_batch *batch = NULL;
  OK(pf_decide_batch(engine, messages, 0, 1, PF_CODES, &batch, &error));
  CHECK(batch->codes[0] == 0 && batch->codes[1] % 2 == 1);
  pf_batch_free(batch);
  pf_messages_free(messages);
  pf_close(engine);
}

static void files_and_snapshots(const char *folder) {
  char *error = NULL;
  char settings[512], members[512], snapshot[512], text[1024];
  snprintf(settings, sizeof settings, "%s/settings.ndjson", folder);
  snprintf(members, sizeof members, "%s/members.csv", folder);
  snprintf(snapshot, sizeof snapshot, "%s/world.snapshot", folder);
  FILE *file = fopen(settings, "w");
  fputs(WORLD, file);
  fclose(file);
  file = fopen(members, "w");
  fputs("conversation,user\ng,eve\n", file);
  fclose(file);
  const char *settings_paths[] = {settings}, *member_paths[] = {members};
  asked asked = {0, 1, 0};
  const pf_watch watch = {ask, &asked};
  pf_options options = {.struct_size = sizeof options, .threads = 2, .watch = &watch};
  pf_engine *engine = NULL;
  FAILS(
    pf_open_files(settings_paths, 1, NULL, 0, member_paths, 1, &options, &engine, &error),
    PF_CANCELLED, "the caller ended the call");
  FAILS(
    pf_open_bytes(WORLD, strlen(WORLD), &options, &engine, &error), PF_CANCELLED,
    "the caller ended the call");
  FAILS(
    pf_open_arrow(WORLD, strlen(WORLD), NULL, NULL, &options, &engine, &error), PF_CANCELLED,
    "the caller ended the call");
  CHECK(asked.times == 3);
  /* As of an earlier header. */
  options.struct_size = offsetof(pf_options, watch);
  OK(pf_open_bytes(WORLD, strlen(WORLD), &options, &engine, &error));
  pf_close(engine);
  options.struct_size = sizeof options;
  asked.ends = 0;
  OK(pf_open_files(settings_paths, 1, NULL, 0, member_paths, 1, &options, &engine, &error));
  pf_ids ids;
  OK(pf_members(engine, "g", 1, NULL, &ids, &error));
  CHECK(ids_are(&ids, "ann,ben,cid,dan,eve"));
  pf_ids_free(&ids);
  OK(pf_write_snapshot(engine, snapshot, 1, 2, 77, &error));
  FAILS(
    pf_write_snapshot(engine, NULL, 1, 2, 77, &error), PF_MISUSE, "the path is NULL");

  pf_engine *again = NULL, *mapped = NULL;
  OK(pf_reopen(engine, &again, &error));
  OK(pf_members(again, "g", 1, NULL, &ids, &error));
  CHECK(ids.count == 5);
  pf_ids_free(&ids);
  pf_info info = {0}, other = {0};
  info.struct_size = other.struct_size = sizeof info;
  OK(pf_get_info(engine, &info, &error));
  OK(pf_get_info(again, &other, &error));
  CHECK(info.epoch != other.epoch && info.threads == 2);
  OK(pf_open_snapshot(snapshot, 1, 2, NULL, &mapped, &error));
  OK(pf_get_info(mapped, &info, &error));
  CHECK(info.snapshot_sequence == 77 && info.user_count == 5);
  pf_close(again);
  OK(pf_reopen(mapped, &again, &error));
  pf_close(again);
  pf_close(mapped);
  pf_close(engine);
  snprintf(
    text, sizeof text, "%s: belongs to another store, 0000000000000001-0000000000000002", snapshot);
  int status = pf_open_snapshot(snapshot, 1, 3, NULL, &mapped, &error);
  CHECK(status == PF_SNAPSHOT && error && strstr(error, "belongs to another store"));
  pf_free(error);
  snprintf(text, sizeof text, "%s/none.ndjson: cannot be opened: No such file or directory", folder);
  snprintf(settings, sizeof settings, "%s/none.ndjson", folder);
  FAILS(
    pf_open_files(settings_paths, 1, NULL, 0, NULL, 0, NULL, &engine, &error), PF_IO, text);
  settings_paths[0] = NULL;
  FAILS(
    pf_open_files(settings_paths, 1, NULL, 0, NULL, 0, NULL, &engine, &error), PF_MISUSE,
    "a path is NULL");
  settings_paths[0] = "-";
  FAILS(
    pf_open_files(settings_paths, 1, NULL, 0, NULL, 0, NULL, &engine, &error), PF_MISUSE,
    "a path is \"-\"; name a file");
  options.threads = 5000;
  FAILS(
    pf_open_bytes(NULL, 0, &options, &engine, &error), PF_MISUSE, "threads must be 0 ... 1024");
  options.struct_size = 1;
  FAILS(
    pf_open_bytes(NULL, 0, &options, &engine, &error), PF_MISUSE,
    "struct_size of the options is not that of pf_options");
  FAILS(
    pf_open_bytes(NULL, 4, NULL, &engine, &error), PF_MISUSE,
    "settings are NULL, but not of size 0");
  FAILS(
    pf_open_bytes(WORLD, strlen(WORLD), NULL, NULL, &error), PF_MISUSE,
    "a pointer for the result is NULL");
  const char *zone = "{\"kind\":\"app\",\"timeZone\":\"Europe/Nowhere\"}\n";
  FAILS(
    pf_open_bytes(zone, strlen(zone), NULL, &engine, &error), PF_INVALID,
    "settings.ndjson:1: \"timeZone\": \"Europe/Nowhere\" is not a time zone of the IANA database");
  engine = open_world();
  FAILS(
    pf_reopen(engine, &again, &error), PF_MISUSE,
    "the settings of the engine came from bytes or streams and cannot be opened again; open it "
    "from files or a snapshot, or use one thread");
  pf_close(engine);
  OK(pf_open_bytes(NULL, 0, NULL, &engine, &error));
  pf_close(engine);
}

static pf_engine *shared;
static int stop;

static const char *const SENDERS =
  "{\"kind\":\"sender\",\"platform\":\"apns\",\"topic\":\"t\"}\n"
  "{\"kind\":\"sender\",\"platform\":\"fcm\",\"notifier\":\"f\",\"project\":\"p\"}\n";

/* A user whose time zone the machine does not have. */
static void unknown_zones(const char *folder) {
  const char *settings =
    "{\"kind\":\"user\",\"id\":\"mia\",\"timeZone\":\"Mars/Base\"}\n"
    "{\"kind\":\"member\",\"conversation\":\"h\",\"user\":\"mia\"}\n"
    "{\"kind\":\"member\",\"conversation\":\"h\",\"user\":\"ben\"}\n"
    "{\"kind\":\"member\",\"conversation\":\"g\",\"user\":\"ben\"}\n";
  const char *to_h = "{\"id\":\"m\",\"conversation\":\"h\",\"at\":1717387200000}\n";
  const char *to_g = "{\"id\":\"m\",\"conversation\":\"g\",\"at\":1717387200000}\n";
  const char *start = "user \"mia\" (time zone \"Mars/Base\"): this machine's time-zone data";
  char *error = NULL, *text = NULL;
  char path[512];
  snprintf(path, sizeof path, "%s/zones.snapshot", folder);
  pf_options options = {0};
  options.struct_size = sizeof options;
  pf_engine *engine = NULL;
  FAILS(
    pf_open_bytes(settings, strlen(settings), &options, &engine, &error), PF_INVALID,
    "settings.ndjson:1: \"timeZone\": \"Mars/Base\" is not a time zone of the IANA database");
  options.unknown_zones = 2;
  FAILS(
    pf_open_bytes(settings, strlen(settings), &options, &engine, &error), PF_MISUSE,
    "unknown_zones must be one of PF_ZONES_");
  /* Of a program that was built with an earlier header, what lies behind is not read. */
  options.struct_size = 16;
  OK(pf_open_bytes("", 0, &options, &engine, &error));
  pf_close(engine);
  options.struct_size = sizeof options;
  options.unknown_zones = PF_ZONES_IGNORE;
  OK(pf_open_bytes(settings, strlen(settings), &options, &engine, &error));
  OK(pf_write_snapshot(engine, path, 1, 2, 3, &error));
  for (int refuses = 0; refuses < 2; refuses++) {
    if (refuses) {
      pf_close(engine);
      OK(pf_open_snapshot(path, 1, 2, NULL, &engine, &error));
    }
    pf_ids users, zones;
    OK(pf_unknown_zone_users(engine, &users, &zones, &error));
    CHECK(users.count == 1 && users.offsets[1] == 3 && memcmp(users.bytes, "mia", 3) == 0);
    CHECK(zones.count == 1 && zones.offsets[1] == 9 && memcmp(zones.bytes, "Mars/Base", 9) == 0);
    pf_ids_free(&users);
    pf_ids_free(&zones);
    OK(pf_unknown_zone_users(engine, NULL, NULL, &error));
    pf_answer *answer = NULL;
    OK(pf_answer_new(engine, &answer, &error));
    pf_message message = {0};
    message.struct_size = sizeof message;
    message.conversation = text_of("h");
    message.at = NOON;
    pf_summary summary = {0};
    OK(pf_decide(engine, &message, answer, &error));
    OK(pf_answer_summary(answer, &summary, &error));
    CHECK(summary.members == 2 && summary.recipients == (refuses ? 1 : 2));
    OK(pf_answer_refused(answer, &users, &error));
    CHECK(users.count == (size_t)refuses);
    pf_ids_free(&users);
    pf_answer_free(answer);
    uint8_t code = 0;
    OK(pf_decide_user(engine, &message, "ben", 3, &code, NULL, NULL, &error));
    CHECK(code & 1);
    OK(pf_evaluate(engine, to_g, strlen(to_g), "pushlist", 0, &text, NULL, NULL, &error));
    pf_free(text);
    int status[5];
    pf_change change;
    char *errors[5] = {NULL, NULL, NULL, NULL, NULL};
    status[0] = pf_decide_user(engine, &message, "mia", 3, &code, NULL, NULL, &errors[0]);
    status[1] = pf_evaluate(engine, to_h, strlen(to_h), "csv", 0, &text, NULL, NULL, &errors[1]);
    if (status[1] == PF_OK) pf_free(text);
    status[2] = pf_explain(
      engine, to_h, strlen(to_h), "mia", 3, 0, &text, NULL, NULL, &errors[2]);
    if (status[2] == PF_OK) pf_free(text);
    status[3] = pf_next_change(engine, "mia", 3, "h", 1, NULL, 0, NOON, &change, NULL, &errors[3]);
    /* Behind the requests of the others. */
    const pf_sending sending = {.struct_size = sizeof sending, .senders = {{NULL, 0}, text_of(SENDERS)}};
    pf_requests *requests = NULL;
    OK(pf_requests_new(engine, to_h, strlen(to_h), &sending, &requests, &error));
    OK(pf_requests_next(requests, &text, NULL, &error));
    CHECK(text && strstr(text, "\"ben\"") && (strstr(text, "\"mia\"") == NULL) == refuses);
    pf_free(text);
    status[4] = pf_requests_next(requests, &text, NULL, &errors[4]);
    pf_requests_free(requests);
    for (int index = 0; index < 5; index++) {
      CHECK(status[index] == (refuses ? PF_TIME_ZONES : PF_OK));
      CHECK(!refuses == !errors[index]);
      if (errors[index]) CHECK(strncmp(errors[index], start, strlen(start)) == 0);
      pf_free(errors[index]);
    }
  }
  pf_close(engine);
}

/* Traffic of one file of messages. */
static pf_traffic traffic_of(const pf_file *file) {
  return (pf_traffic){.struct_size = sizeof(pf_traffic), .messages = file, .message_count = 1};
}

static void replays(const char *folder) {
  char *error = NULL;
  pf_engine *engine = open_world();
  const char *lines =
    "{\"id\":\"m1\",\"conversation\":\"g\",\"at\":1717387200000}\n"
    "{\"id\":\"m2\",\"conversation\":\"g\",\"at\":1717426800000}\n";
  const pf_file content = {{"day.ndjson", 10}, {lines, strlen(lines)}};
  pf_traffic traffic = traffic_of(&content);
  pf_result *result = NULL;
  char *json = NULL, *html = NULL;
  size_t size = 0;

  OK(pf_replay(engine, &traffic, NULL, 0, NULL, &result, &error));
  OK(pf_result_json(result, &json, &size, &error));
  CHECK(strlen(json) == size && strstr(json, "\"messages\":2,") && strstr(json, "\"decisions\":8,"));
  CHECK(strstr(json, "\"pushFanoutReplay\":1") && !strstr(json, "\"hold\""));
  OK(pf_result_html(result, NULL, 0, &html, &size, &error));
  CHECK(strlen(html) == size && strncmp(html, "<!DOCTYPE html>", 15) == 0);
  pf_free(html);
  const char *titled = "{\"title\":\"A & B\",\"print-figures\":true}";
  OK(pf_result_html(result, titled, strlen(titled), &html, NULL, &error));
  CHECK(strstr(html, "A &amp; B") != NULL);
  pf_free(html);
  FAILS(
    pf_result_html(result, "{\"titel\":\"A\"}", 13, &html, NULL, &error), PF_MISUSE,
    "there is no option \"titel\"; there are note, price-per-million, print-figures, title");
  FAILS(
    pf_result_json(result, NULL, NULL, &error), PF_MISUSE, "a pointer for the result is NULL");
  FAILS(pf_result_json(NULL, &json, NULL, &error), PF_MISUSE, "result is NULL");

  /* The same from a file, and with options. The result outlives the engine. */
  char path[400];
  snprintf(path, sizeof path, "%s/day.ndjson", folder);
  FILE *file = fopen(path, "w");
  fputs(lines, file);
  fclose(file);
  const pf_file named = {{path, strlen(path)}, {NULL, 0}};
  traffic = traffic_of(&named);
  pf_result *second = NULL;
  char *other = NULL;
  char rows[900];
  snprintf(
    rows, sizeof rows, "{\"held\":\"%s/held.ndjson\",\"people\":\"%s/people.csv\"}", folder, folder);
  OK(pf_replay(engine, &traffic, rows, strlen(rows), NULL, &second, &error));
  pf_result_free(second);
  char written[400];
  snprintf(written, sizeof written, "%s/people.csv", folder);
  file = fopen(written, "r");
  CHECK(file && fgets(rows, sizeof rows, file) && strcmp(rows, "user,days,pushes,neverReachedBy\n") == 0);
  fclose(file);
  snprintf(written, sizeof written, "%s/held.ndjson", folder);
  file = fopen(written, "r");
  CHECK(file && fgets(rows, sizeof rows, file) && strstr(rows, "\"pushAt\":"));
  fclose(file);
  OK(pf_replay(engine, &traffic, "{\"hold\":true}", 13, NULL, &second, &error));
  OK(pf_result_json(second, &other, NULL, &error));
  CHECK(strstr(other, "\"hold\":{") && strstr(other, "\"decisions\":8,"));
  pf_free(other);
  pf_result_free(second);

  /* Messages that were read, twice, beside a file. */
  pf_messages *read = NULL, *none = NULL;
  OK(pf_messages_read(engine, lines, strlen(lines), NULL, &read, &error));
  const pf_messages *lists[] = {read, read, NULL};
  traffic.read = lists;
  traffic.read_count = 2;
  OK(pf_replay(engine, &traffic, NULL, 0, NULL, &second, &error));
  OK(pf_result_json(second, &other, NULL, &error));
  CHECK(strstr(other, "\"messages\":6,") && strstr(other, "\"decisions\":24,"));
  pf_free(other);
  pf_result_free(second);
  traffic.read_count = 3;
  FAILS(
    pf_replay(engine, &traffic, NULL, 0, NULL, &second, &error), PF_MISUSE,
    "messages are NULL, closed, or of another engine");
  const char *late =
    "{\"id\":\"m\",\"conversation\":\"g\",\"at\":2}\n{\"id\":\"m\",\"conversation\":\"g\",\"at\":1}\n";
  OK(pf_messages_read(engine, late, strlen(late), NULL, &none, &error));
  lists[0] = none;
  traffic.read_count = 1;
  FAILS(
    pf_replay(engine, &traffic, NULL, 0, NULL, &second, &error), PF_INVALID,
    "messages:2: the instant is earlier than that of the message before");
  const char *nobody = "{\"b\":[\"everyone.level=none\"]}";
  FAILS(
    pf_compare(engine, &traffic, nobody, strlen(nobody), NULL, &second, &error), PF_MISUSE,
    "a comparison reads messages itself; give what they are of");
  traffic.read = NULL;
  FAILS(
    pf_replay(engine, &traffic, NULL, 0, NULL, &second, &error), PF_MISUSE,
    "read messages are NULL, but their count is not 0");
  traffic.read_count = 0;
  pf_messages_free(read);
  pf_messages_free(none);

  const char *changes = "{\"b\":[\"everyone.level=none\"],\"top\":1}";
  OK(pf_compare(engine, &traffic, changes, strlen(changes), NULL, &second, &error));
  pf_info info = {.struct_size = sizeof info};
  OK(pf_get_info(engine, &info, &error));
  CHECK(info.sequence == 1);

  FAILS(
    pf_compare(engine, &traffic, "{}", 2, NULL, &result, &error), PF_MISUSE,
    "there is no option \"b\", or it is empty: what is compared with what is");
  FAILS(
    pf_replay(engine, &traffic, "{\"hold\":1}", 10, NULL, &result, &error), PF_INVALID,
    "options: \"hold\" must be true or false");
  FAILS(
    pf_replay(engine, NULL, NULL, 0, NULL, &result, &error), PF_MISUSE,
    "traffic is NULL, or its struct_size is not that of pf_traffic");
  const pf_file input = {{"-", 1}, {NULL, 0}}, bad = {{"x.ndjson", 8}, {"{", 1}};
  traffic = traffic_of(&input);
  FAILS(
    pf_replay(engine, &traffic, NULL, 0, NULL, &result, &error), PF_MISUSE,
    "a path is \"-\"; name a file");
  traffic = traffic_of(&bad);
  CHECK(pf_replay(engine, &traffic, NULL, 0, NULL, &result, &error) == PF_INVALID);
  CHECK(error && strncmp(error, "x.ndjson:1: ", 12) == 0);
  pf_free(error);
  error = NULL;
  traffic.change_count = 1;
  FAILS(
    pf_replay(engine, &traffic, NULL, 0, NULL, &result, &error), PF_MISUSE,
    "files are NULL, but their count is not 0");

  pf_close(engine);
  OK(pf_result_json(second, &other, NULL, &error));
  CHECK(strstr(other, "\"pushFanoutCompare\":1") && strstr(other, "everyone.level=none"));
  pf_free(other);
  pf_free(json);
  pf_result_free(second);
  pf_result_free(result);
  pf_result_free(NULL);
}

static void *decide_always(void *unused) {
  (void)unused;
  char *error = NULL;
  pf_answer *answer = NULL;
  OK(pf_answer_new(shared, &answer, &error));
  pf_message message = message_at(NOON);
  long decided = 0;
  while (!__atomic_load_n(&stop, __ATOMIC_RELAXED) || decided < 100) {
    OK(pf_decide(shared, &message, answer, &error));
    pf_summary summary;
    OK(pf_answer_summary(answer, &summary, &error));
    pf_ids ids;
    OK(pf_answer_members(answer, &ids, &error));
    /* Members and summary are of one version. */
    CHECK(ids.count == summary.members);
    pf_ids_free(&ids);
    decided++;
  }
  pf_answer_free(answer);
  return NULL;
}

static void threads(void) {
  char *error = NULL;
  shared = open_world();
  pthread_t deciders[3];
  for (int index = 0; index < 3; index++) pthread_create(&deciders[index], NULL, decide_always, NULL);
  for (int number = 0; number < 200; number++) {
    char line[128];
    int size = snprintf(
      line, sizeof line, "{\"kind\":\"member\",\"conversation\":\"g\",\"user\":\"n%d\"}\n", number);
    OK(pf_update(shared, line, (size_t)size, NOON, NULL, &error));
  }
  __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
  for (int index = 0; index < 3; index++) pthread_join(deciders[index], NULL);
  pf_close(shared);
}

static void write_file(const char *path, const char *text) {
  FILE *file = fopen(path, "w");
  fputs(text, file);
  fclose(file);
}

static void requests_of_messages(const char *folder) {
  char *error = NULL;
  pf_engine *engine = open_world();
  const char *one = "{\"id\":\"m1\",\"conversation\":\"g\",\"sender\":\"dan\",\"at\":1717387200000}\n";
  pf_sending sending = {.struct_size = sizeof sending};
  pf_requests *requests = NULL;
  char *lines = NULL;
  size_t size = 0;
  FAILS(
    pf_requests_new(engine, one, strlen(one), NULL, &requests, &error), PF_MISUSE,
    "sending is NULL, or its struct_size is not that of pf_sending");
  FAILS(
    pf_requests_new(engine, one, strlen(one), &sending, &requests, &error), PF_MISUSE,
    "senders.ndjson is not given, as a path or as bytes");
  sending.senders.content = text_of("{\"kind\":\"sender\",\"platform\":\"apns\"}");
  FAILS(
    pf_requests_new(engine, one, strlen(one), &sending, &requests, &error), PF_INVALID,
    "senders.ndjson:1: the field \"topic\" is missing");
  sending.senders.content = text_of(SENDERS);
  sending.platforms = 4;
  FAILS(
    pf_requests_new(engine, one, strlen(one), &sending, &requests, &error), PF_MISUSE,
    "platforms must be PF_APNS, PF_FCM, both, or 0");
  sending.platforms = 0;
  OK(pf_requests_new(engine, one, strlen(one), &sending, &requests, &error));
  OK(pf_requests_next(requests, &lines, &size, &error));
  /* ann's two devices, and ben's default. */
  CHECK(lines && strlen(lines) == size && strstr(lines, "\"user\":\"ann\",\"device\":\"a2\",\"platform\":\"apns\""));
  pf_free(lines);
  OK(pf_requests_next(requests, &lines, &size, &error));
  CHECK(lines == NULL && size == 0);
  OK(pf_requests_next(requests, &lines, NULL, &error));
  FAILS(pf_requests_next(requests, NULL, NULL, &error), PF_MISUSE, "a pointer for the result is NULL");
  FAILS(pf_requests_next(NULL, &lines, NULL, &error), PF_MISUSE, "requests is NULL");
  pf_requests_free(requests);
  pf_requests_free(NULL);

  /* From files, with bodies once; the engine may be closed before. */
  char path[1000], missing[1100];
  snprintf(path, sizeof path, "%s/senders.ndjson", folder);
  write_file(path, SENDERS);
  sending.senders = (pf_file){text_of(path), {NULL, 0}};
  sending.share_bodies = 1;
  OK(pf_requests_new(engine, one, strlen(one), &sending, &requests, &error));
  pf_close(engine);
  OK(pf_requests_next(requests, &lines, &size, &error));
  CHECK(lines && strncmp(lines, "{\"bodyId\":0,\"body\":{", 20) == 0);
  pf_free(lines);
  pf_requests_free(requests);
  engine = open_world();
  snprintf(missing, sizeof missing, "%s.none", path);
  sending.senders.name = text_of(missing);
  CHECK(pf_requests_new(engine, one, strlen(one), &sending, &requests, &error) == PF_IO);
  pf_free(error);
  sending.senders.name = text_of("-");
  FAILS(
    pf_requests_new(engine, one, strlen(one), &sending, &requests, &error), PF_MISUSE,
    "a path is \"-\"; name a file");
  sending.senders = (pf_file){{NULL, 0}, text_of(SENDERS)};

  /* Templates are for them alone. */
  sending.templates.content = text_of(
    "{\"kind\":\"template\",\"name\":\"default\",\"title\":\"T\",\"content\":\"from a template\"}");
  OK(pf_requests_new(engine, one, strlen(one), &sending, &requests, &error));
  OK(pf_requests_next(requests, &lines, NULL, &error));
  CHECK(lines && strstr(lines, "from a template"));
  pf_free(lines);
  pf_requests_free(requests);
  sending.templates = (pf_file){{NULL, 0}, {NULL, 0}};

  /* What a message is wrong in comes behind the requests of those before it, and stays. */
  char two[300];
  snprintf(two, sizeof two, "%s{\"id\":5}\n", one);
  OK(pf_requests_new(engine, two, strlen(two), &sending, &requests, &error));
  OK(pf_requests_next(requests, &lines, NULL, &error));
  CHECK(lines != NULL);
  pf_free(lines);
  for (int time = 0; time < 2; time++) {
    FAILS(
      pf_requests_next(requests, &lines, NULL, &error), PF_INVALID,
      "messages.ndjson:2: \"id\" must be a string");
  }
  pf_requests_free(requests);
  OK(pf_requests_new(engine, NULL, 0, &sending, &requests, &error));
  OK(pf_requests_next(requests, &lines, &size, &error));
  CHECK(lines == NULL && size == 0);
  pf_requests_free(requests);

  /* Many come in pieces. */
  size_t count = 4000, length = strlen(one);
  char *many = malloc(count * length);
  for (size_t index = 0; index < count; index++) memcpy(many + index * length, one, length);
  OK(pf_requests_new(engine, many, count * length, &sending, &requests, &error));
  free(many);
  size_t pieces = 0, found = 0;
  for (;; pieces++) {
    OK(pf_requests_next(requests, &lines, &size, &error));
    if (!lines) break;
    CHECK(size < 300000 && lines[size - 1] == '\n');
    for (char *place = lines; (place = strstr(place, "\"device\"")); place++) found++;
    pf_free(lines);
  }
  CHECK(pieces > 2 && found == count * 3);
  pf_requests_free(requests);
  pf_close(engine);

  const char *open = "{\"kind\":\"app\",\"rules\":\"open\"}";
  OK(pf_open_bytes(open, strlen(open), NULL, &engine, &error));
  CHECK(pf_requests_new(engine, one, strlen(one), &sending, &requests, &error) == PF_MISUSE);
  CHECK(error && strstr(error, "open"));
  pf_free(error);
  pf_close(engine);
}

static void answers_of_providers(void) {
  char *error = NULL;
  pf_provider_answer answer = {.struct_size = sizeof answer, .platform = PF_APNS, .now = NOON, .attempt = 1};
  pf_step step;
  OK(pf_read_provider_answer(&answer, &step, &error));
  CHECK_TEXT(step.action, "retry");
  /* Nobody knows what became of it, and it has no expiry. */
  CHECK(step.retry_at == -1 && step.timestamp == -1 && !step.forgets_token && !step.needs_new_connection);
  answer.surely_not_taken = 1;
  answer.random = 0.5;
  OK(pf_read_provider_answer(&answer, &step, &error));
  CHECK(step.retry_at == NOON + 1250);
  answer.status = 503;
  answer.body = text_of("{\"reason\":\"Shutdown\"}");
  answer.retry_after = 7;
  answer.expiry = NOON + 7000;
  OK(pf_read_provider_answer(&answer, &step, &error));
  CHECK(step.retry_at == NOON + 7000 && step.needs_new_connection);
  answer.expiry = NOON + 6999;
  OK(pf_read_provider_answer(&answer, &step, &error));
  CHECK(step.retry_at == -1);
  answer.status = 410;
  answer.body = text_of("{\"reason\":\"Unregistered\",\"timestamp\":1000}");
  for (int64_t at = 999; at <= 1001; at++) {
    answer.registered_at = at;
    OK(pf_read_provider_answer(&answer, &step, &error));
    CHECK_TEXT(step.action, "gone");
    CHECK(step.timestamp == 1000 && step.forgets_token == (at <= 1000));
  }
  answer.attempt = 0;
  FAILS(
    pf_read_provider_answer(&answer, &step, &error), PF_MISUSE,
    "attempt must be 1 or more, and random a number in 0 ... 1, below 1");
  answer.attempt = 1;
  answer.random = 1;
  CHECK(pf_read_provider_answer(&answer, &step, NULL) == PF_MISUSE);
  answer.random = 0;
  answer.now = -1;
  CHECK(pf_read_provider_answer(&answer, &step, NULL) == PF_MISUSE);
  answer.now = PF_LAST_INSTANT;
  answer.status = 500;
  answer.expiry = 0;
  OK(pf_read_provider_answer(&answer, &step, &error));
  CHECK(step.retry_at == PF_LAST_INSTANT);
  answer.platform = 3;
  FAILS(pf_read_provider_answer(&answer, &step, &error), PF_MISUSE, "platform must be PF_APNS or PF_FCM");
  CHECK(pf_read_provider_answer(NULL, &step, NULL) == PF_MISUSE);
  CHECK(pf_read_provider_answer(&answer, NULL, NULL) == PF_MISUSE);
}

/* An app that is refused, before all others: Swift's runtime lays out a type that it needs then, and
** compares the layout with memory that it did not write. That is seen by valgrind where the memory is not
** of the runtime's first pool, which is zero. */
static void refused_app(void) {
  pf_engine *engine = NULL;
  char *error = NULL;
  const char *app = "{\"kind\":\"app\",\"timeZone\":5}";
  FAILS(
    pf_open_bytes(app, strlen(app), NULL, &engine, &error), PF_INVALID,
    "settings.ndjson:1: \"timeZone\" must be a string");
}

int main(int count, char **arguments) {
  if (count != 2) return 2;
  refused_app();
  names_and_numbers();
  one_message();
  fields_of_a_message();
  fields_of_open_rules();
  heartbeats();
  one_user();
  changes();
  many_messages();
  relations();
  held_pushes();
  large_rooms();
  arrow_in();
  other_schemas();
  extension_types();
  number_ids(arguments[1]);
  files_and_snapshots(arguments[1]);
  unknown_zones(arguments[1]);
  replays(arguments[1]);
  requests_of_messages(arguments[1]);
  answers_of_providers();
  threads();
  if (failures == 0) puts("functions: every function answers");
  return failures > 0;
}
