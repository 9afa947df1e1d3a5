/*
** What cannot be fast or safe through ctypes: a decision for a dictionary, the memory of answers, and
** capsules of Arrow streams, whose destructor runs while Python may be handling an exception.
**
** Only the limited API of Python 3.10: one library for every later CPython.
*/
#define Py_LIMITED_API 0x030A0000
#define PY_SSIZE_T_CLEAN
#include <Python.h>

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

static PyTypeObject *answer_type;

/* ---------------------------------------------------------------------------------------- Answers */

static void answer_dealloc(PyObject *object) {
  Answer *self = (Answer *)object;
  PyTypeObject *type = Py_TYPE(object);
  if (self->answer) {
    if (self->engine->idle_count < IDLE_LIMIT) {
      self->engine->idle[self->engine->idle_count++] = self->answer;
    } else {
      pf_answer_free(self->answer);
    }
    Py_DECREF((PyObject *)self->engine);
  }
  freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
  release(object);
  Py_DECREF((PyObject *)type);
}

static PyObject *answer_handle(PyObject *object, void *unused) {
  (void)unused;
  return PyLong_FromVoidPtr(((Answer *)object)->answer);
}

static PyObject *answer_engine(PyObject *object, void *unused) {
  (void)unused;
  PyObject *engine = (PyObject *)((Answer *)object)->engine;
  if (!engine) Py_RETURN_NONE;
  Py_INCREF(engine);
  return engine;
}

/* Epoch, sequence, membership, members, recipients and pushes; None when they cannot be had. */
static PyObject *answer_summary(PyObject *object, void *unused) {
  (void)unused;
  pf_summary found;
  if (pf_answer_summary(((Answer *)object)->answer, &found, NULL) != PF_OK) Py_RETURN_NONE;
  return Py_BuildValue(
    "(KKKKKK)", (unsigned long long)found.stamp.epoch, (unsigned long long)found.stamp.sequence,
    (unsigned long long)found.stamp.membership, (unsigned long long)found.members,
    (unsigned long long)found.recipients, (unsigned long long)found.pushes);
}

static PyGetSetDef answer_fields[] = {
  {"_summary", answer_summary, NULL, "What it comes to; None when that cannot be had.", NULL},
  {"_handle", answer_handle, NULL, "The address of the pf_answer.", NULL},
  {"_engine", answer_engine, NULL, "The engine that decided.", NULL},
  {NULL, NULL, NULL, NULL, NULL}};

static PyType_Slot answer_slots[] = {
  {Py_tp_dealloc, answer_dealloc}, {Py_tp_getset, answer_fields}, {0, NULL}};

static PyType_Spec answer_spec = {
  "push_fanout._native.Answer", sizeof(Answer), 0,
  Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_DISALLOW_INSTANTIATION, answer_slots};

/* An answer of the engine, empty or of an earlier message; NULL when there is none to be had. */
static pf_answer *take_answer(Engine *engine) {
  if (engine->idle_count > 0) return engine->idle[--engine->idle_count];
  pf_answer *answer = NULL;
  return pf_answer_new(engine->engine, &answer, NULL) == PF_OK ? answer : NULL;
}

/* An object of the engine's type of decisions, which owns the answer. */
static PyObject *wrap_answer(Engine *engine, pf_answer *answer) {
  allocfunc allocate = (allocfunc)PyType_GetSlot(engine->decision, Py_tp_alloc);
  PyObject *object = allocate(engine->decision, 0);
  if (!object) {
    pf_answer_free(answer);
    return NULL;
  }
  Py_INCREF((PyObject *)engine);
  ((Answer *)object)->engine = engine;
  ((Answer *)object)->answer = answer;
  return object;
}

/* --------------------------------------------------------------------------------------- Messages */

#define MENTIONS_ON_STACK 16

/* A message, and the references that its texts need. */
typedef struct {
  pf_message message;
  PyObject *texts[3];
  int text_count;
  PyObject *mentions;
  pf_text few[MENTIONS_ON_STACK];
  pf_text *many;
} Plain;

static void plain_clear(Plain *plain) {
  while (plain->text_count > 0) Py_DECREF(plain->texts[--plain->text_count]);
  Py_XDECREF(plain->mentions);
  free(plain->many);
}

/* The bytes of a text that is not empty; 0 for other objects. */
static int read_text(PyObject *value, pf_text *text) {
  if (!PyUnicode_Check(value)) return 0;
  Py_ssize_t size;
  text->bytes = PyUnicode_AsUTF8AndSize(value, &size);
  if (!text->bytes) PyErr_Clear();
  text->size = (size_t)size;
  return text->bytes && size > 0;
}

static int read_id(Plain *plain, PyObject *value, pf_text *text) {
  if (!read_text(value, text)) return 0;
  Py_INCREF(value);
  plain->texts[plain->text_count++] = value;
  return 1;
}

static int read_flag(PyObject *value, int8_t *flag) {
  *flag = value == Py_True ? 1 : -1;
  return PyBool_Check(value);
}

static int read_at(PyObject *value, int64_t *at) {
  if (!PyLong_Check(value) || PyBool_Check(value)) return 0;
  int overflow = 0;
  long long number = PyLong_AsLongLongAndOverflow(value, &overflow);
  *at = number;
  return !overflow && number >= 0 && number <= PF_LAST_INSTANT;
}

static int read_mentions(Plain *plain, PyObject *value) {
  if (PyList_Check(value)) {
    /* Making a tuple may collect garbage, which may run code that changes the message. */
    Py_INCREF(value);
    plain->mentions = PyList_AsTuple(value);
    Py_DECREF(value);
    if (!plain->mentions) PyErr_Clear();
  } else if (PyTuple_Check(value)) {
    Py_INCREF(value);
    plain->mentions = value;
  }
  if (!plain->mentions) return 0;
  Py_ssize_t count = PyTuple_Size(plain->mentions);
  pf_text *texts = plain->few;
  if (count > MENTIONS_ON_STACK) {
    texts = plain->many = malloc((size_t)count * sizeof *texts);
    if (!texts) return 0;
  }
  for (Py_ssize_t index = 0; index < count; index++) {
    if (!read_text(PyTuple_GetItem(plain->mentions, index), &texts[index])) return 0;
  }
  plain->message.mentions = texts;
  plain->message.mention_count = (size_t)count;
  return 1;
}

/* Reads one field; 0 for one that only the reader of NDJSON knows, or refuses. */
static int read_field(Plain *plain, PyObject *key, PyObject *value) {
  if (!PyUnicode_Check(key)) return 0;
  Py_ssize_t size;
  const char *name = PyUnicode_AsUTF8AndSize(key, &size);
  if (!name) {
    PyErr_Clear();
    return 0;
  }
#define IS(text) (size == sizeof text - 1 && memcmp(name, text, sizeof text - 1) == 0)
  pf_message *message = &plain->message;
  if (IS("id")) return read_id(plain, value, &message->id);
  if (IS("conversation")) return read_id(plain, value, &message->conversation);
  if (IS("at")) return read_at(value, &message->at);
  if (value == Py_None) {
    return IS("sender") || IS("mentions") || IS("mentionsAll") || IS("silent");
  }
  if (IS("sender")) return read_id(plain, value, &message->sender);
  if (IS("mentions")) return read_mentions(plain, value);
  if (IS("mentionsAll")) return read_flag(value, &message->mentions_all);
  if (IS("silent")) return read_flag(value, &message->silent);
  return 0;
#undef IS
}

/* Reads a dictionary whose fields both vendors have, and which is valid; 0 for any other. */
static int read_plain(PyObject *dictionary, Plain *plain) {
  PyObject *key, *value;
  Py_ssize_t position = 0;
  plain->message.at = -1;
  while (PyDict_Next(dictionary, &position, &key, &value)) {
    if (!read_field(plain, key, value)) return 0;
  }
  return plain->message.id.bytes && plain->message.conversation.bytes && plain->message.at >= 0;
}

/* --------------------------------------------------------------------------------------- Engines */

static PyObject *engine_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords) {
  PyObject *address, *decision;
  if (keywords && PyDict_Size(keywords) > 0) {
    PyErr_SetString(PyExc_TypeError, "Engine() takes no keyword arguments");
    return NULL;
  }
  if (!PyArg_ParseTuple(arguments, "OO", &address, &decision)) return NULL;
  if (!PyType_Check(decision) || !PyType_IsSubtype((PyTypeObject *)decision, answer_type)) {
    PyErr_SetString(PyExc_TypeError, "the type of decisions must be a subtype of Answer");
    return NULL;
  }
  pf_engine *engine = PyLong_AsVoidPtr(address);
  if (!engine) {
    if (!PyErr_Occurred()) PyErr_SetString(PyExc_ValueError, "the engine is NULL");
    return NULL;
  }
  allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
  Engine *self = (Engine *)allocate(type, 0);
  if (!self) return NULL;
  self->engine = engine;
  Py_INCREF(decision);
  self->decision = (PyTypeObject *)decision;
  return (PyObject *)self;
}

static void engine_dealloc(PyObject *object) {
  Engine *self = (Engine *)object;
  PyTypeObject *type = Py_TYPE(object);
  while (self->idle_count > 0) pf_answer_free(self->idle[--self->idle_count]);
  pf_engine *engine = self->engine;
  /* Large tables take a while. */
  Py_BEGIN_ALLOW_THREADS
  pf_close(engine);
  Py_END_ALLOW_THREADS
  Py_DECREF((PyObject *)self->decision);
  freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
  release(object);
  Py_DECREF((PyObject *)type);
}

/* Decides a plain message. None for one that has to be read as NDJSON, also to say what is wrong. */
static PyObject *engine_decide(PyObject *object, PyObject *dictionary) {
  Engine *self = (Engine *)object;
  if (!PyDict_Check(dictionary)) Py_RETURN_NONE;
  Plain plain;
  memset(&plain.message, 0, sizeof plain.message);
  plain.message.struct_size = sizeof plain.message;
  plain.text_count = 0;
  plain.mentions = NULL;
  plain.many = NULL;
  pf_answer *answer = NULL;
  int status = PF_INVALID;
  if (read_plain(dictionary, &plain) && (answer = take_answer(self))) {
    Py_BEGIN_ALLOW_THREADS
    status = pf_decide(self->engine, &plain.message, answer, NULL);
    Py_END_ALLOW_THREADS
  }
  plain_clear(&plain);
  if (status == PF_OK) return wrap_answer(self, answer);
  if (answer) pf_answer_free(answer);
  Py_RETURN_NONE;
}

/* Makes an answer, for pf_decide_at(). None when there is none to be had. */
static PyObject *engine_answer(PyObject *object, PyObject *unused) {
  (void)unused;
  pf_answer *answer = take_answer((Engine *)object);
  if (!answer) Py_RETURN_NONE;
  return wrap_answer((Engine *)object, answer);
}

static PyObject *engine_handle(PyObject *object, void *unused) {
  (void)unused;
  return PyLong_FromVoidPtr(((Engine *)object)->engine);
}

static PyMethodDef engine_methods[] = {
  {"decide", engine_decide, METH_O, "Decides a plain message; None for any other."},
  {"answer", engine_answer, METH_NOARGS, "Makes an answer."},
  {NULL, NULL, 0, NULL}};

static PyGetSetDef engine_fields[] = {
  {"handle", engine_handle, NULL, "The address of the pf_engine.", NULL},
  {NULL, NULL, NULL, NULL, NULL}};

static PyType_Slot engine_slots[] = {
  {Py_tp_new, engine_new}, {Py_tp_dealloc, engine_dealloc}, {Py_tp_methods, engine_methods},
  {Py_tp_getset, engine_fields}, {0, NULL}};

static PyType_Spec engine_spec = {
  "push_fanout._native.Engine", sizeof(Engine), 0, Py_TPFLAGS_DEFAULT, engine_slots};

/* ---------------------------------------------------------------------------------------- Streams */

#define STREAM "arrow_array_stream"

static void capsule_destructor(PyObject *capsule) {
  struct ArrowArrayStream *stream = PyCapsule_GetPointer(capsule, STREAM);
  if (!stream) {
    PyErr_Clear();
    return;
  }
  /* A consumer has moved it, or it was never read. */
  if (stream->release) stream->release(stream);
  free(stream);
}

/* A capsule for the stream at an address, whose content it takes over. */
static PyObject *make_capsule(PyObject *module, PyObject *address) {
  (void)module;
  struct ArrowArrayStream *from = PyLong_AsVoidPtr(address);
  if (!from) {
    if (!PyErr_Occurred()) PyErr_SetString(PyExc_ValueError, "the stream is NULL");
    return NULL;
  }
  struct ArrowArrayStream *stream = malloc(sizeof *stream);
  if (!stream) return PyErr_NoMemory();
  *stream = *from;
  from->release = NULL;
  PyObject *capsule = PyCapsule_New(stream, STREAM, capsule_destructor);
  if (!capsule) {
    stream->release(stream);
    free(stream);
  }
  return capsule;
}

/* The address of a capsule's stream. */
static PyObject *stream_address(PyObject *module, PyObject *capsule) {
  (void)module;
  void *stream = PyCapsule_GetPointer(capsule, STREAM);
  return stream ? PyLong_FromVoidPtr(stream) : NULL;
}

/* ----------------------------------------------------------------------------------------- Module */

static PyMethodDef functions[] = {
  {"make_capsule", make_capsule, METH_O, "A capsule that takes over the stream at an address."},
  {"stream_address", stream_address, METH_O, "The address of a capsule's stream."},
  {NULL, NULL, 0, NULL}};

static struct PyModuleDef definition = {
  PyModuleDef_HEAD_INIT, "push_fanout._native", NULL, -1, functions, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__native(void) {
  PyObject *module = PyModule_Create(&definition);
  if (!module) return NULL;
  PyObject *answer = PyType_FromSpec(&answer_spec);
  PyObject *engine = PyType_FromSpec(&engine_spec);
  answer_type = (PyTypeObject *)answer;
  if (!answer || !engine || PyModule_AddObjectRef(module, "Answer", answer) != 0 ||
      PyModule_AddObjectRef(module, "Engine", engine) != 0) {
    Py_XDECREF(answer);
    Py_XDECREF(engine);
    Py_DECREF(module);
    return NULL;
  }
  Py_DECREF(engine);
  return module;
}
