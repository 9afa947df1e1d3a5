/*
** The binding of push_fanout.h. Each method is a function of C by the same name: it takes texts as
** bytes, raises what C refuses, and lets other threads of Python run while C works.
**
** Only the limited API of Python 3.10: one library for every later CPython.
*/
#ifndef PUSH_FANOUT_NATIVE_H
#define PUSH_FANOUT_NATIVE_H

#define Py_LIMITED_API 0x030A0000
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "push_fanout.h"

/* Answers of decisions that are gone, for the next ones. Few: each keeps the version of the settings
** that it is of. */
#define IDLE_LIMIT 2

typedef struct {
  PyObject_HEAD
  pf_engine *engine;
  PyTypeObject *decision; /* a subtype of Answer, which decide() makes */
  pf_answer *idle[IDLE_LIMIT];
  int idle_count;
} Engine;

typedef struct {
  PyObject_HEAD
  pf_answer *answer; /* NULL: not made by Engine */
  Engine *engine;
} Answer;

/* Messages, a relation, a result, requests or a batch. */
typedef struct {
  PyObject_HEAD
  void *owned;
  PyObject *engine; /* lives as long; NULL for a batch */
} Part;

extern PyTypeObject *engine_type, *messages_type, *relation_type, *result_type, *requests_type,
  *batch_type;
extern PyType_Spec answer_spec, engine_spec, messages_spec, relation_spec, result_spec, requests_spec,
  batch_spec;

/* Calls a function that can fail, and returns NULL when it does. */
#define CALL(function, ...)                      \
  do {                                           \
    char *error = NULL;                          \
    int status;                                  \
    Py_BEGIN_ALLOW_THREADS                       \
    status = function(__VA_ARGS__, &error);      \
    Py_END_ALLOW_THREADS                         \
    if (status != PF_OK) return raise_error(status, error); \
  } while (0)

/* Raises push_fanout.Error, and frees its text; NULL. */
PyObject *raise_error(int status, char *error);
/* An attribute of a module. */
PyObject *imported(const char *module, const char *name);
/* Allocates an object of a type. */
PyObject *allocate(PyTypeObject *type);
void deallocate(PyObject *object);

/* Epoch, sequence and membership. */
PyObject *stamp_of(const pf_stamp *stamp);
/* A list of texts, which are freed. */
PyObject *take_ids(pf_ids *ids);
/* A text that C gave, which is freed, and the stamp of it. */
PyObject *take_text(char *text, size_t size, const pf_stamp *stamp);
PyObject *part_of(PyTypeObject *type, void *owned, PyObject *engine);
/* The stream of a capsule; NULL for None. Returns whether it is one of them. */
int read_stream(PyObject *capsule, void *stream);

/* The memory of answers of an engine. */
PyObject *decide_plain(Engine *engine, PyObject *dictionary);
pf_answer *take_answer(Engine *engine);
PyObject *wrap_answer(Engine *engine, pf_answer *answer);

/* The functions that open engines. */
PyObject *open_bytes(PyObject *module, PyObject *arguments);
PyObject *open_files(PyObject *module, PyObject *arguments);
PyObject *open_snapshot(PyObject *module, PyObject *arguments);
PyObject *open_arrow(PyObject *module, PyObject *arguments);
PyObject *open_store(PyObject *module, PyObject *arguments);

#endif
