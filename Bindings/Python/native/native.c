/* The module: errors, values, streams, and what belongs to an engine. */
#include "native.h"

#include <errno.h>

PyTypeObject *engine_type, *messages_type, *relation_type, *result_type, *requests_type, *batch_type;

/* ----------------------------------------------------------------------------------------- Values */

PyObject *imported(const char *module, const char *name) {
  PyObject *found = PyImport_ImportModule(module);
  PyObject *value = found ? PyObject_GetAttrString(found, name) : NULL;
  Py_XDECREF(found);
  return value;
}

PyObject *raise_error(int status, char *error) {
  const char *words = error ? error : "";
  if (status == PF_MEMORY || status == PF_CANCELLED) {
    /* A watch has raised what ended the call. */
    if (!PyErr_Occurred()) PyErr_SetString(PyExc_MemoryError, words);
    pf_free(error);
    return NULL;
  }
  /* In the words of the package. */
  if (status == PF_FORKED && strstr(words, "pf_reopen()")) {
    words = "the engine was opened before a fork; open it again with reopen()";
  }
  PyObject *text = PyUnicode_DecodeUTF8(words, (Py_ssize_t)strlen(words), "replace");
  PyObject *type = imported("push_fanout.errors", "Error");
  PyObject *value =
    text && type ? PyObject_CallFunction(type, "Os", text, pf_status_name(status)) : NULL;
  if (value) PyErr_SetObject(type, value);
  Py_XDECREF(value);
  Py_XDECREF(type);
  Py_XDECREF(text);
  pf_free(error);
  return NULL;
}

PyObject *allocate(PyTypeObject *type) {
  return ((allocfunc)PyType_GetSlot(type, Py_tp_alloc))(type, 0);
}

void deallocate(PyObject *object) {
  PyTypeObject *type = Py_TYPE(object);
  ((freefunc)PyType_GetSlot(type, Py_tp_free))(object);
  Py_DECREF((PyObject *)type);
}

PyObject *stamp_of(const pf_stamp *stamp) {
  return Py_BuildValue(
    "(KKK)", (unsigned long long)stamp->epoch, (unsigned long long)stamp->sequence,
    (unsigned long long)stamp->membership);
}

PyObject *take_ids(pf_ids *ids) {
  PyObject *texts = PyList_New((Py_ssize_t)ids->count);
  for (size_t index = 0; texts && index < ids->count; index++) {
    uint64_t start = ids->offsets[index];
    PyObject *text = PyUnicode_DecodeUTF8(
      ids->bytes + start, (Py_ssize_t)(ids->offsets[index + 1] - start), NULL);
    if (!text) Py_CLEAR(texts);
    else PyList_SetItem(texts, (Py_ssize_t)index, text);
  }
  pf_ids_free(ids);
  return texts;
}

PyObject *take_text(char *text, size_t size, const pf_stamp *stamp) {
  PyObject *bytes = PyBytes_FromStringAndSize(text, (Py_ssize_t)size);
  pf_free(text);
  return Py_BuildValue("(NN)", bytes, stamp_of(stamp));
}

/* ---------------------------------------------------------------------------------------- Streams */

#define STREAM "arrow_array_stream"

/* May run while Python handles an exception. */
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

int read_stream(PyObject *capsule, void *stream) {
  void *found = capsule == Py_None ? NULL : PyCapsule_GetPointer(capsule, STREAM);
  *(void **)stream = found;
  return found || capsule == Py_None;
}

/* The address of a capsule's stream. */
static PyObject *stream_address(PyObject *module, PyObject *capsule) {
  (void)module;
  void *stream = PyCapsule_GetPointer(capsule, STREAM);
  return stream ? PyLong_FromVoidPtr(stream) : NULL;
}

static PyObject *capsule_of(struct ArrowArrayStream *found) {
  struct ArrowArrayStream *stream = malloc(sizeof *stream);
  PyObject *capsule = stream ? PyCapsule_New(stream, STREAM, capsule_destructor) : PyErr_NoMemory();
  if (capsule) {
    *stream = *found;
  } else {
    found->release(found);
    free(stream);
  }
  return capsule;
}

/* --------------------------------------------------------------------------------- Chained streams */

/* The streams that a callable gives until it gives None, as one whose schema changes. Each is asked
** for when the one before has been read and released: two results of one connection cannot be open at
** once. What the callable raises it has to keep. */
typedef struct {
  PyObject *next;
  PyObject *capsule;
  struct ArrowArrayStream *inner; /* NULL before the first, and at the end */
} Chain;

static void chain_close(Chain *self) {
  if (self->inner && self->inner->release) self->inner->release(self->inner);
  self->inner = NULL;
  Py_CLEAR(self->capsule);
}

static int chain_open(Chain *self) {
  PyGILState_STATE state = PyGILState_Ensure();
  chain_close(self);
  int status = 0;
  self->capsule = self->next ? PyObject_CallNoArgs(self->next) : NULL;
  if (self->capsule && self->capsule != Py_None) {
    self->inner = PyCapsule_GetPointer(self->capsule, STREAM);
  }
  if (PyErr_Occurred()) status = EIO;
  if (!self->inner) Py_CLEAR(self->next);
  PyErr_Clear();
  PyGILState_Release(state);
  return status;
}

static int chain_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out) {
  Chain *self = stream->private_data;
  int status = self->inner ? 0 : chain_open(self);
  if (status || !self->inner) return status ? status : EIO;
  return self->inner->get_schema(self->inner, out);
}

static int chain_next(struct ArrowArrayStream *stream, struct ArrowArray *out) {
  Chain *self = stream->private_data;
  memset(out, 0, sizeof *out);
  int status = self->inner || !self->next ? 0 : chain_open(self);
  if (status || !self->inner) return status;
  status = self->inner->get_next(self->inner, out);
  if (status || out->release) return status;
  status = chain_open(self);
  return status || !self->inner ? status : PF_ARROW_NEW_SCHEMA;
}

static const char *chain_error(struct ArrowArrayStream *stream) {
  Chain *self = stream->private_data;
  return self->inner ? self->inner->get_last_error(self->inner) : NULL;
}

static void chain_release(struct ArrowArrayStream *stream) {
  Chain *self = stream->private_data;
  PyGILState_STATE state = PyGILState_Ensure();
  chain_close(self);
  Py_CLEAR(self->next);
  PyGILState_Release(state);
  free(self);
  stream->release = NULL;
}

static PyObject *chained_stream(PyObject *module, PyObject *next) {
  (void)module;
  Chain *self = calloc(1, sizeof *self);
  if (!self) return PyErr_NoMemory();
  Py_INCREF(next);
  self->next = next;
  struct ArrowArrayStream stream = {chain_schema, chain_next, chain_error, chain_release, self};
  return capsule_of(&stream);
}

/* The name of an extension type, or None: metadata are pairs of a key and a value behind their
** number, each behind its length. */
static PyObject *extension_of(const char *metadata) {
  static const char key[] = "ARROW:extension:name";
  int32_t count = 0, size;
  if (metadata) memcpy(&count, metadata, sizeof count);
  const char *place = metadata + sizeof count;
  for (int is_found = 0, part = 0; part / 2 < count; part++, place += size) {
    memcpy(&size, place, sizeof size);
    place += sizeof size;
    if (part % 2) {
      if (is_found) return PyUnicode_DecodeUTF8(place, size, "replace");
    } else {
      is_found = size == sizeof key - 1 && memcmp(place, key, sizeof key - 1) == 0;
    }
  }
  Py_RETURN_NONE;
}

/* A type: its name, its format, the types of its children, that of its dictionary or None, and the
** name of the extension type or None. */
static PyObject *type_of(const struct ArrowSchema *schema) {
  PyObject *children = PyTuple_New((Py_ssize_t)schema->n_children);
  for (int64_t index = 0; children && index < schema->n_children; index++) {
    PyObject *child = type_of(schema->children[index]);
    if (!child) Py_CLEAR(children);
    else PyTuple_SetItem(children, (Py_ssize_t)index, child);
  }
  if (!children) return NULL;
  PyObject *dictionary = Py_None;
  if (schema->dictionary) dictionary = type_of(schema->dictionary);
  else Py_INCREF(Py_None);
  return dictionary
    ? Py_BuildValue(
        "(zsNNN)", schema->name, schema->format, children, dictionary,
        extension_of(schema->metadata))
    : NULL;
}

/* The type of a stream's rows. */
static PyObject *stream_type(PyObject *module, PyObject *capsule) {
  (void)module;
  struct ArrowArrayStream *stream = PyCapsule_GetPointer(capsule, STREAM);
  if (!stream) return NULL;
  if (!stream->release) {
    PyErr_SetString(PyExc_ValueError, "the stream was read before");
    return NULL;
  }
  struct ArrowSchema schema;
  int status;
  Py_BEGIN_ALLOW_THREADS
  status = stream->get_schema(stream, &schema);
  Py_END_ALLOW_THREADS
  if (status) {
    const char *words = stream->get_last_error(stream);
    PyErr_SetString(PyExc_ValueError, words ? words : "the stream cannot be read");
    return NULL;
  }
  PyObject *found = type_of(&schema);
  schema.release(&schema);
  return found;
}

/* A capsule with a stream that a function of C makes. */
#define EXPORT(part, name)                                                \
  static PyObject *part##_##name(PyObject *object, PyObject *unused) {    \
    (void)unused;                                                         \
    struct ArrowArrayStream found;                                        \
    CALL(pf_##part##_##name, ((Part *)object)->owned, &found);            \
    return capsule_of(&found);                                            \
  }

/* ------------------------------------------------------------------------------- Parts of engines */

PyObject *part_of(PyTypeObject *type, void *owned, PyObject *engine) {
  Part *self = (Part *)allocate(type);
  if (!self) {
    if (type == messages_type) pf_messages_free(owned);
    if (type == relation_type) pf_relation_free(owned);
    if (type == result_type) pf_result_free(owned);
    if (type == requests_type) pf_requests_free(owned);
    if (type == batch_type) pf_batch_free(owned);
    return NULL;
  }
  self->owned = owned;
  Py_XINCREF(engine);
  self->engine = engine;
  return (PyObject *)self;
}

#define PART(name, slot, members)                                                                 \
  static void name##_dealloc(PyObject *object) {                                                  \
    void *owned = ((Part *)object)->owned;                                                        \
    Py_BEGIN_ALLOW_THREADS                                                                        \
    pf_##name##_free(owned);                                                                      \
    Py_END_ALLOW_THREADS                                                                          \
    Py_XDECREF(((Part *)object)->engine);                                                         \
    deallocate(object);                                                                           \
  }                                                                                               \
  static PyType_Slot name##_slots[] = {                                                           \
    {Py_tp_dealloc, name##_dealloc}, {slot, members}, {0, NULL}};                                 \
  PyType_Spec name##_spec = {                                                                     \
    "push_fanout._native." #name, sizeof(Part), 0,                                                \
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, name##_slots};

static PyObject *messages_count(PyObject *object, PyObject *unused) {
  (void)unused;
  return PyLong_FromSize_t(pf_messages_count(((Part *)object)->owned));
}

static PyObject *messages_get(PyObject *object, PyObject *arguments) {
  Py_ssize_t index;
  char *id, *conversation;
  int64_t at;
  if (!PyArg_ParseTuple(arguments, "n", &index)) return NULL;
  CALL(pf_messages_get, ((Part *)object)->owned, (size_t)index, &id, &conversation, &at);
  PyObject *found = Py_BuildValue("(ssL)", id, conversation, (long long)at);
  pf_free(id);
  pf_free(conversation);
  return found;
}

EXPORT(messages, stream)
static PyMethodDef messages_methods[] = {
  {"count", messages_count, METH_NOARGS, NULL},
  {"get", messages_get, METH_VARARGS, NULL},
  {"stream", messages_stream, METH_NOARGS, NULL},
  {NULL, NULL, 0, NULL}};
PART(messages, Py_tp_methods, messages_methods)

EXPORT(relation, stream)
EXPORT(relation, users)
EXPORT(relation, held)
static PyMethodDef relation_methods[] = {
  {"stream", relation_stream, METH_NOARGS, NULL},
  {"users", relation_users, METH_NOARGS, NULL},
  {"held", relation_held, METH_NOARGS, NULL},
  {NULL, NULL, 0, NULL}};
PART(relation, Py_tp_methods, relation_methods)

/* Bytes that C gave, which are freed. */
static PyObject *take_bytes(char *text, size_t size) {
  PyObject *found = PyBytes_FromStringAndSize(text, (Py_ssize_t)size);
  pf_free(text);
  return found;
}

static PyObject *result_json(PyObject *object, PyObject *unused) {
  (void)unused;
  char *json;
  size_t size;
  CALL(pf_result_json, ((Part *)object)->owned, &json, &size);
  return take_bytes(json, size);
}

static PyObject *result_html(PyObject *object, PyObject *arguments) {
  const char *options;
  Py_ssize_t options_size;
  char *html;
  size_t size;
  if (!PyArg_ParseTuple(arguments, "y#", &options, &options_size)) return NULL;
  CALL(pf_result_html, ((Part *)object)->owned, options, (size_t)options_size, &html, &size);
  return take_bytes(html, size);
}

static PyMethodDef result_methods[] = {
  {"json", result_json, METH_NOARGS, NULL},
  {"html", result_html, METH_VARARGS, NULL},
  {NULL, NULL, 0, NULL}};
PART(result, Py_tp_methods, result_methods)

/* The next lines; empty at the end. */
static PyObject *requests_next(PyObject *object, PyObject *unused) {
  (void)unused;
  char *lines;
  size_t size;
  CALL(pf_requests_next, ((Part *)object)->owned, &lines, &size);
  return take_bytes(lines, size);
}

static PyMethodDef requests_methods[] = {
  {"next", requests_next, METH_NOARGS, NULL}, {NULL, NULL, 0, NULL}};
PART(requests, Py_tp_methods, requests_methods)

static PyObject *batch_count(PyObject *object, void *unused) {
  (void)unused;
  return PyLong_FromSize_t(((pf_batch *)((Part *)object)->owned)->count);
}

/* The address of an array; None for one that was not asked for. */
static PyObject *batch_address(PyObject *object, void *offset) {
  void *address = *(void **)((char *)((Part *)object)->owned + (uintptr_t)offset);
  if (!address) Py_RETURN_NONE;
  return PyLong_FromVoidPtr(address);
}

#define ARRAY(name) {#name, batch_address, NULL, NULL, (void *)offsetof(pf_batch, name)}
static PyGetSetDef batch_fields[] = {
  {"count", batch_count, NULL, NULL, NULL}, ARRAY(summaries), ARRAY(counts), ARRAY(code_starts),
  ARRAY(codes), ARRAY(bitmap_starts), ARRAY(bitmaps), {NULL, NULL, NULL, NULL, NULL}};
PART(batch, Py_tp_getset, batch_fields)

/* ----------------------------------------------------------------------------------------- Module */

/* The words of each code. */
static PyObject *outcomes(PyObject *module, PyObject *unused) {
  (void)module;
  (void)unused;
  PyObject *found = PyDict_New();
  for (int code = 1; found && code < PF_CODE_COUNT; code++) {
    const char *action, *reason, *scope;
    if (pf_outcome((uint8_t)code, &action, &reason, &scope) != PF_OK) continue;
    PyObject *key = PyLong_FromLong(code), *words = Py_BuildValue("(ssz)", action, reason, scope);
    if (!key || !words || PyDict_SetItem(found, key, words) != 0) Py_CLEAR(found);
    Py_XDECREF(key);
    Py_XDECREF(words);
  }
  return found;
}

/* What a sender does after an answer of a provider. */
static PyObject *read_provider_answer(PyObject *module, PyObject *arguments) {
  (void)module;
  pf_provider_answer answer = {.struct_size = sizeof answer};
  unsigned platform;
  int status, attempt, surely_not_taken;
  Py_ssize_t size;
  long long retry_after, registered_at, now, expiry;
  if (!PyArg_ParseTuple(
        arguments, "Iiy#LLLLipd", &platform, &status, &answer.body.bytes, &size, &retry_after,
        &registered_at, &now, &expiry, &attempt, &surely_not_taken, &answer.random)) {
    return NULL;
  }
  answer.platform = platform;
  answer.status = status;
  answer.body.size = (size_t)size;
  answer.retry_after = retry_after;
  answer.registered_at = registered_at;
  answer.now = now;
  answer.expiry = expiry;
  answer.attempt = attempt;
  answer.surely_not_taken = surely_not_taken;
  pf_step step;
  CALL(pf_read_provider_answer, &answer, &step);
  return Py_BuildValue(
    "(sLLNN)", step.action, (long long)step.retry_at, (long long)step.timestamp,
    PyBool_FromLong(step.forgets_token), PyBool_FromLong(step.needs_new_connection));
}

#define ENTRY(name, kind) {#name, name, kind, NULL}
static PyMethodDef functions[] = {
  ENTRY(open_bytes, METH_VARARGS), ENTRY(open_files, METH_VARARGS),
  ENTRY(open_snapshot, METH_VARARGS), ENTRY(open_arrow, METH_VARARGS),
  ENTRY(open_store, METH_VARARGS), ENTRY(outcomes, METH_NOARGS), ENTRY(stream_address, METH_O),
  ENTRY(chained_stream, METH_O), ENTRY(stream_type, METH_O),
  ENTRY(read_provider_answer, METH_VARARGS),
  {NULL, NULL, 0, NULL}};

static struct PyModuleDef definition = {
  PyModuleDef_HEAD_INIT, "push_fanout._native", NULL, -1, functions, NULL, NULL, NULL, NULL};

static int add_type(PyObject *module, const char *name, PyType_Spec *spec, PyTypeObject **type) {
  *type = (PyTypeObject *)PyType_FromSpec(spec);
  return *type ? PyModule_AddObjectRef(module, name, (PyObject *)*type) : -1;
}

static int add_all(PyObject *module) {
  static PyTypeObject *answer_type;
  if (pf_abi_version() != PF_ABI_VERSION) {
    PyErr_Format(
      PyExc_ImportError, "libpushfanout.so.1 has the interface version %d instead of %d",
      (int)pf_abi_version(), PF_ABI_VERSION);
    return -1;
  }
  const struct {
    const char *name;
    long value;
  } numbers[] = {
    {"CODE_COUNT", PF_CODE_COUNT}, {"COUNTS", PF_COUNTS}, {"CODES", PF_CODES},
    {"PUSH_BITMAPS", PF_PUSH_BITMAPS}, {"ARROW_IDS", PF_ARROW_IDS},
    {"ARROW_ID_VIEWS", PF_ARROW_ID_VIEWS}, {"ZONES_REFUSE", PF_ZONES_REFUSE},
    {"ZONES_IGNORE", PF_ZONES_IGNORE}, {"STORE_READ", PF_STORE_READ},
    {"STORE_WRITE", PF_STORE_WRITE}, {"STORE_CREATE", PF_STORE_CREATE}, {"APNS", PF_APNS},
    {"FCM", PF_FCM},
    {"REGISTRY_VERSION", (long)pf_outcome_registry_version()}};
  for (size_t index = 0; index < sizeof numbers / sizeof *numbers; index++) {
    if (PyModule_AddIntConstant(module, numbers[index].name, numbers[index].value) != 0) return -1;
  }
  return add_type(module, "Answer", &answer_spec, &answer_type) ||
    add_type(module, "Engine", &engine_spec, &engine_type) ||
    add_type(module, "Messages", &messages_spec, &messages_type) ||
    add_type(module, "Relation", &relation_spec, &relation_type) ||
    add_type(module, "Result", &result_spec, &result_type) ||
    add_type(module, "Requests", &requests_spec, &requests_type) ||
    add_type(module, "Batch", &batch_spec, &batch_type);
}

PyMODINIT_FUNC PyInit__native(void) {
  PyObject *module = PyModule_Create(&definition);
  if (module && add_all(module) != 0) Py_CLEAR(module);
  return module;
}
