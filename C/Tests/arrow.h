/* An Arrow stream of one batch, made by hand for the tests. */
#ifndef ARROW_H
#define ARROW_H

#include "check.h"

typedef struct {
  const char *name;
  const char *format;
  int64_t n_buffers;
  const void *buffers[4];
} test_column;

typedef struct {
  int64_t rows;
  int columns;
  const test_column *column;
  int batches;
  int *released;
} test_table;

static void release_schema(struct ArrowSchema *schema) {
  for (int64_t index = 0; index < schema->n_children; index++) {
    free(schema->children[index]);
  }
  free(schema->children);
  schema->release = NULL;
}

static void keep_schema(struct ArrowSchema *schema) { schema->release = NULL; }

static void release_array(struct ArrowArray *array) {
  for (int64_t index = 0; index < array->n_children; index++) free(array->children[index]);
  free(array->children);
  free(array->buffers);
  array->release = NULL;
}

static void keep_array(struct ArrowArray *array) { array->release = NULL; }

static int table_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out) {
  test_table *table = stream->private_data;
  memset(out, 0, sizeof *out);
  out->format = "+s";
  out->name = "";
  out->n_children = table->columns;
  out->children = calloc((size_t)table->columns + 1, sizeof *out->children);
  out->release = release_schema;
  for (int index = 0; index < table->columns; index++) {
    struct ArrowSchema *child = calloc(1, sizeof *child);
    child->format = table->column[index].format;
    child->name = table->column[index].name;
    child->flags = ARROW_FLAG_NULLABLE;
    child->release = keep_schema;
    out->children[index] = child;
  }
  return 0;
}

static int table_next(struct ArrowArrayStream *stream, struct ArrowArray *out) {
  test_table *table = stream->private_data;
  memset(out, 0, sizeof *out);
  if (table->batches-- <= 0) return 0;
  out->length = table->rows;
  out->n_buffers = 1;
  out->buffers = calloc(1, sizeof *out->buffers);
  out->n_children = table->columns;
  out->children = calloc((size_t)table->columns + 1, sizeof *out->children);
  out->release = release_array;
  for (int index = 0; index < table->columns; index++) {
    struct ArrowArray *child = calloc(1, sizeof *child);
    child->length = table->rows;
    child->null_count = -1;
    child->n_buffers = table->column[index].n_buffers;
    child->buffers = (const void **)table->column[index].buffers;
    child->release = keep_array;
    out->children[index] = child;
  }
  return 0;
}

static const char *table_error(struct ArrowArrayStream *stream) {
  (void)stream;
  return "the test's own error";
}

static int table_failure(struct ArrowArrayStream *stream, struct ArrowArray *out) {
  (void)stream;
  (void)out;
  return 5;
}

static void table_release(struct ArrowArrayStream *stream) {
  test_table *table = stream->private_data;
  (*table->released)++;
  stream->release = NULL;
}

static inline struct ArrowArrayStream stream_of(test_table *table) {
  struct ArrowArrayStream stream = {
    table_schema, table_next, table_error, table_release, table};
  return stream;
}

#endif
