/* The decision for one message. */
#include "native.h"

pf_answer *take_answer(Engine *engine) {
  if (engine->idle_count > 0) return engine->idle[--engine->idle_count];
  pf_answer *answer = NULL;
  return pf_answer_new(engine->engine, &answer, NULL) == PF_OK ? answer : NULL;
}

/* An object of the engine's type of decisions, which owns the answer. */
PyObject *wrap_answer(Engine *engine, pf_answer *answer) {
  PyObject *object = allocate(engine->decision);
  if (!object) {
    pf_answer_free(answer);
    return NULL;
  }
  Py_INCREF((PyObject *)engine);
  ((Answer *)object)->engine = engine;
  ((Answer *)object)->answer = answer;
  return object;
}

static void answer_dealloc(PyObject *object) {
  Answer *self = (Answer *)object;
  if (self->answer) {
    if (self->engine->idle_count < IDLE_LIMIT) {
      self->engine->idle[self->engine->idle_count++] = self->answer;
    } else {
      pf_answer_free(self->answer);
    }
    Py_DECREF((PyObject *)self->engine);
  }
  deallocate(object);
}

#define ANSWER (((Answer *)object)->answer)

/* Epoch, sequence, membership, members, recipients and pushes. */
static PyObject *answer_summary(PyObject *object, PyObject *unused) {
  (void)unused;
  pf_summary found;
  char *error = NULL;
  int status = pf_answer_summary(ANSWER, &found, &error);
  if (status != PF_OK) return raise_error(status, error);
  return Py_BuildValue(
    "(KKKKKK)", (unsigned long long)found.stamp.epoch, (unsigned long long)found.stamp.sequence,
    (unsigned long long)found.stamp.membership, (unsigned long long)found.members,
    (unsigned long long)found.recipients, (unsigned long long)found.pushes);
}

static PyObject *answer_counts(PyObject *object, PyObject *unused) {
  (void)unused;
  uint32_t counts[PF_CODE_COUNT];
  CALL(pf_answer_counts, ANSWER, counts);
  PyObject *found = PyDict_New();
  for (int code = 0; found && code < PF_CODE_COUNT; code++) {
    if (counts[code] == 0) continue;
    PyObject *key = PyLong_FromLong(code), *value = PyLong_FromUnsignedLong(counts[code]);
    if (!key || !value || PyDict_SetItem(found, key, value) != 0) Py_CLEAR(found);
    Py_XDECREF(key);
    Py_XDECREF(value);
  }
  return found;
}

#define IDS(name)                                                      \
  static PyObject *answer_##name(PyObject *object, PyObject *unused) { \
    (void)unused;                                                      \
    pf_ids ids;                                                        \
    CALL(pf_answer_##name, ANSWER, &ids);                              \
    return take_ids(&ids);                                             \
  }
IDS(push_ids)
IDS(members)
IDS(refused)

/* They fill memory of the caller's, at an address, of so many elements. */
#define FILL(name, type)                                                                      \
  static PyObject *answer_##name(PyObject *object, PyObject *arguments) {                     \
    unsigned long long address;                                                               \
    Py_ssize_t count;                                                                         \
    if (!PyArg_ParseTuple(arguments, "Kn", &address, &count)) return NULL;                    \
    CALL(pf_answer_##name, ANSWER, (type *)(uintptr_t)address, (size_t)count, NULL);          \
    Py_RETURN_NONE;                                                                           \
  }
FILL(codes, uint8_t)
FILL(push_bitmap, uint8_t)
FILL(push_ranks, uint32_t)
FILL(users, uint32_t)

static PyObject *answer_code(PyObject *object, PyObject *arguments) {
  const char *user;
  Py_ssize_t size;
  uint8_t code;
  if (!PyArg_ParseTuple(arguments, "y#", &user, &size)) return NULL;
  CALL(pf_answer_code, ANSWER, user, (size_t)size, &code);
  return PyLong_FromLong(code);
}

/* Users, and for each the tuple of the devices. */
static PyObject *answer_targets(PyObject *object, PyObject *unused) {
  (void)unused;
  pf_targets targets;
  CALL(pf_answer_push_targets, ANSWER, &targets);
  size_t count = targets.users.count;
  PyObject *users = take_ids(&targets.users), *devices = take_ids(&targets.devices);
  PyObject *found = users && devices ? PyList_New((Py_ssize_t)count) : NULL;
  for (size_t index = 0; found && index < count; index++) {
    const uint64_t *starts = targets.device_starts + index;
    PyObject *own = PyList_GetSlice(devices, (Py_ssize_t)starts[0], (Py_ssize_t)starts[1]);
    PyObject *tuple = own ? PyList_AsTuple(own) : NULL;
    PyObject *pair = tuple ? PyTuple_Pack(2, PyList_GetItem(users, (Py_ssize_t)index), tuple) : NULL;
    Py_XDECREF(own);
    Py_XDECREF(tuple);
    if (!pair) Py_CLEAR(found);
    else PyList_SetItem(found, (Py_ssize_t)index, pair);
  }
  Py_XDECREF(users);
  Py_XDECREF(devices);
  pf_targets_free(&targets);
  return found;
}

static PyMethodDef methods[] = {
  {"_summary", answer_summary, METH_NOARGS, NULL},
  {"_counts", answer_counts, METH_NOARGS, NULL},
  {"_push_ids", answer_push_ids, METH_NOARGS, NULL},
  {"_members", answer_members, METH_NOARGS, NULL},
  {"_refused", answer_refused, METH_NOARGS, NULL},
  {"_codes", answer_codes, METH_VARARGS, NULL},
  {"_push_bitmap", answer_push_bitmap, METH_VARARGS, NULL},
  {"_push_ranks", answer_push_ranks, METH_VARARGS, NULL},
  {"_users", answer_users, METH_VARARGS, NULL},
  {"_code", answer_code, METH_VARARGS, NULL},
  {"_targets", answer_targets, METH_NOARGS, NULL},
  {NULL, NULL, 0, NULL}};

static PyType_Slot slots[] = {{Py_tp_dealloc, answer_dealloc}, {Py_tp_methods, methods}, {0, NULL}};

PyType_Spec answer_spec = {
  "push_fanout._native.Answer", sizeof(Answer), 0,
  Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};
