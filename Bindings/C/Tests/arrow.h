/* An Arrow stream of one batch, made by hand for the tests. */
#ifndef ARROW_H
#define ARROW_H

#include "check.h"

/* Most columns have no children and no dictionary. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

/* A column. The children and the dictionary of most are absent; a length of 0 is that of the batch. */
typedef struct test_column {
  const char *name;
  const char *format;
  int64_t n_buffers;
  const void *buffers[4];
  int children;
  const struct test_column *child;
  const struct test_column *dictionary;
  int64_t length, offset;
  /* 0: not known, as -1 says in an array. */
  int64_t null_count;
  const char *metadata;
} test_column;

typedef struct test_table {
  int64_t rows;
  int columns;
  const test_column *column;
  int batches;
  int *released;
  /* The bits of rows that are not null as a whole; NULL: all. */
  const void *validity;
  /* What the schema says instead, so that arrays do not fit it; NULL: the columns. */
  const test_column *said;
  /* A table of another schema, which follows. */
  const struct test_table *next;
} test_table;

static void release_schema(struct ArrowSchema *schema) {
  for (int64_t index = 0; index < schema->n_children; index++) {
    struct ArrowSchema *child = schema->children[index];
    if (child->release) child->release(child);
    free(child);
  }
  if (schema->dictionary) {
    schema->dictionary->release(schema->dictionary);
    free(schema->dictionary);
  }
  free(schema->children);
  schema->release = NULL;
}

static void release_array(struct ArrowArray *array) {
  for (int64_t index = 0; index < array->n_children; index++) {
    struct ArrowArray *child = array->children[index];
    if (child->release) child->release(child);
    free(child);
  }
  if (array->dictionary) {
    array->dictionary->release(array->dictionary);
    free(array->dictionary);
  }
  free(array->children);
  free(array->buffers);
  array->release = NULL;
}

static void column_schema(const test_column *column, struct ArrowSchema *out) {
  memset(out, 0, sizeof *out);
  out->format = column->format;
  out->name = column->name;
  out->metadata = column->metadata;
  out->flags = ARROW_FLAG_NULLABLE;
  out->n_children = column->children;
  out->children = calloc((size_t)column->children + 1, sizeof *out->children);
  out->release = release_schema;
  for (int index = 0; index < column->children; index++) {
    out->children[index] = malloc(sizeof *out);
    column_schema(&column->child[index], out->children[index]);
  }
  if (column->dictionary) {
    out->dictionary = malloc(sizeof *out);
    column_schema(column->dictionary, out->dictionary);
  }
}

static void column_array(const test_column *column, int64_t rows, struct ArrowArray *out) {
  memset(out, 0, sizeof *out);
  out->length = column->length ? column->length : rows;
  out->offset = column->offset;
  out->null_count = column->null_count ? column->null_count : -1;
  out->n_buffers = column->n_buffers;
  out->buffers = malloc(sizeof column->buffers);
  memcpy(out->buffers, column->buffers, sizeof column->buffers);
  out->n_children = column->children;
  out->children = calloc((size_t)column->children + 1, sizeof *out->children);
  out->release = release_array;
  for (int index = 0; index < column->children; index++) {
    out->children[index] = malloc(sizeof *out);
    column_array(&column->child[index], out->length, out->children[index]);
  }
  if (column->dictionary) {
    out->dictionary = malloc(sizeof *out);
    column_array(column->dictionary, column->dictionary->length, out->dictionary);
  }
}

/* The table as a struct column. */
static test_column table_column(const test_table *table) {
  return (test_column){
    .name = "", .format = "+s", .n_buffers = 1, .buffers = {table->validity},
    .children = table->columns, .child = table->column};
}

static inline int table_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out) {
  const test_table *table = stream->private_data;
  test_column root = table_column(table);
  if (table->said) root.child = table->said;
  column_schema(&root, out);
  return 0;
}

static inline int table_next(struct ArrowArrayStream *stream, struct ArrowArray *out) {
  test_table *table = stream->private_data;
  memset(out, 0, sizeof *out);
  if (table->batches-- <= 0) {
    if (!table->next) return 0;
    *table = *table->next;
    return PF_ARROW_NEW_SCHEMA;
  }
  const test_column root = table_column(table);
  column_array(&root, table->rows, out);
  return 0;
}

static inline const char *table_error(struct ArrowArrayStream *stream) {
  (void)stream;
  return "the test's own error";
}

static inline int table_failure(struct ArrowArrayStream *stream, struct ArrowArray *out) {
  (void)stream;
  (void)out;
  return 5;
}

static inline void table_release(struct ArrowArrayStream *stream) {
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
