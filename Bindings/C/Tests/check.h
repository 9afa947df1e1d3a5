/* What the test programs have in common. */
#ifndef CHECK_H
#define CHECK_H

#include <push_fanout.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures;

#define CHECK(condition)                                                        \
  do {                                                                          \
    if (!(condition)) {                                                         \
      fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);   \
      failures++;                                                               \
    }                                                                           \
  } while (0)

#define CHECK_TEXT(found, expected)                                                         \
  do {                                                                                      \
    const char *check_text = (found);                                                           \
    if (!check_text || strcmp(check_text, expected) != 0) {                                     \
      fprintf(                                                                              \
        stderr, "%s:%d: \"%s\" instead of \"%s\"\n", __FILE__, __LINE__, \
        check_text ? check_text : "NULL", \
        expected);                                                                          \
      failures++;                                                                           \
    }                                                                                       \
  } while (0)

/* A call with `&error` that must succeed. */
#define OK(call)                                                                          \
  do {                                                                                    \
    int call_status = (call);                                                                  \
    if (call_status != PF_OK) {                                                           \
      fprintf(                                                                            \
        stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, pf_status_name(call_status),            \
        error ? error : "no text");                                                       \
      failures++;                                                                         \
      pf_free(error);                                                                     \
      error = NULL;                                                                       \
    }                                                                                     \
  } while (0)

/* A call with `&error` that must fail with a status and a text. */
#define FAILS(call, expected, words)                                                      \
  do {                                                                                    \
    int call_status = (call);                                                                  \
    if (call_status != (expected)) {                                                           \
      fprintf(                                                                            \
        stderr, "%s:%d: %s instead of %s: %s\n", __FILE__, __LINE__, pf_status_name(call_status), \
        #expected, error ? error : "");                                                   \
      failures++;                                                                         \
    }                                                                                     \
    CHECK_TEXT(error, words);                                                             \
    pf_free(error);                                                                       \
    error = NULL;                                                                         \
  } while (0)

static inline pf_text text_of(const char *characters) {
  pf_text text = {characters, strlen(characters)};
  return text;
}

/* Whether ids are these, joined by commas. */
static inline int ids_are(const pf_ids *ids, const char *joined) {
  char text[4096];
  size_t size = 0;
  for (size_t index = 0; index < ids->count; index++) {
    if (index > 0) text[size++] = ',';
    size_t length = (size_t)(ids->offsets[index + 1] - ids->offsets[index]);
    memcpy(text + size, ids->bytes + ids->offsets[index], length);
    size += length;
  }
  text[size] = 0;
  if (strcmp(text, joined) == 0) return 1;
  fprintf(stderr, "ids are \"%s\" instead of \"%s\"\n", text, joined);
  return 0;
}

static const char *const WORLD =
  "{\"kind\":\"app\",\"rules\":\"easemob\",\"timeZone\":\"Asia/Shanghai\"}\n"
  "{\"kind\":\"user\",\"id\":\"ann\",\"level\":\"all\",\"devices\":[{\"id\":\"a1\"},{\"id\":\"a2\"}]}\n"
  "{\"kind\":\"user\",\"id\":\"ben\",\"quietHours\":{\"start\":\"22:00\",\"end\":\"08:00\"}}\n"
  "{\"kind\":\"user\",\"id\":\"cid\",\"level\":\"none\"}\n"
  "{\"kind\":\"user\",\"id\":\"dan\"}\n"
  "{\"kind\":\"member\",\"conversation\":\"g\",\"user\":\"ann\"}\n"
  "{\"kind\":\"member\",\"conversation\":\"g\",\"user\":\"ben\"}\n"
  "{\"kind\":\"member\",\"conversation\":\"g\",\"user\":\"cid\"}\n"
  "{\"kind\":\"member\",\"conversation\":\"g\",\"user\":\"dan\"}\n";

/* 2024-06-03T12:00:00+08:00: outside of ben's quiet hours. */
#define NOON INT64_C(1717387200000)
/* 23:00 of that day: inside. */
#define NIGHT INT64_C(1717426800000)

#endif
