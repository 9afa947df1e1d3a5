/* Engines: what opens them, and their methods. */
#include "native.h"

#include <dlfcn.h>

/* ---------------------------------------------------------------------------------------- Opening */

/* The object of an engine, which owns it; NULL when there is no memory. */
static PyObject *wrap_engine(pf_engine *engine) {
  PyObject *decision = imported("push_fanout.decision", "Decision");
  Engine *self = decision ? (Engine *)allocate(engine_type) : NULL;
  if (!self) {
    Py_XDECREF(decision);
    pf_close(engine);
    return NULL;
  }
  self->engine = engine;
  self->decision = (PyTypeObject *)decision;
  return (PyObject *)self;
}

/* Has Python handle signals during a long call, and calls what wants to know how far it is. */
static int ask(void *progress, uint64_t done, uint64_t all) {
  PyGILState_STATE state = PyGILState_Ensure();
  int ends = PyErr_CheckSignals() != 0;
  if (!ends && progress != Py_None) {
    PyObject *answer = PyObject_CallFunction(
      progress, "KK", (unsigned long long)done, (unsigned long long)all);
    ends = answer == NULL;
    Py_XDECREF(answer);
  }
  PyGILState_Release(state);
  return ends;
}

static pf_options options_of(int threads, int unknown_zones, const pf_watch *watch) {
  return (pf_options){sizeof(pf_options), threads, 0, unknown_zones, watch};
}

PyObject *open_bytes(PyObject *module, PyObject *arguments) {
  (void)module;
  const char *settings;
  Py_ssize_t size;
  int threads, zones;
  PyObject *progress;
  if (!PyArg_ParseTuple(arguments, "y#iiO", &settings, &size, &threads, &zones, &progress)) return NULL;
  const pf_watch watch = {ask, progress};
  pf_options options = options_of(threads, zones, &watch);
  pf_engine *engine;
  CALL(pf_open_bytes, settings, (size_t)size, &options, &engine);
  return wrap_engine(engine);
}

/* The texts of a list of bytes, to be freed. The list is not changed meanwhile. */
static const char **path_list(PyObject *list) {
  Py_ssize_t count = PyList_Size(list);
  const char **paths = malloc(sizeof *paths * (size_t)(count + 1));
  if (!paths) return (const char **)PyErr_NoMemory();
  for (Py_ssize_t index = 0; index < count; index++) {
    if (PyBytes_AsStringAndSize(PyList_GetItem(list, index), (char **)&paths[index], NULL) != 0) {
      free(paths);
      return NULL;
    }
  }
  return paths;
}

PyObject *open_files(PyObject *module, PyObject *arguments) {
  (void)module;
  PyObject *lists[3];
  const char **paths[3] = {NULL, NULL, NULL};
  int threads, zones;
  PyObject *progress;
  PyTypeObject *type = &PyList_Type;
  if (!PyArg_ParseTuple(
        arguments, "(O!O!O!)iiO", type, &lists[0], type, &lists[1], type, &lists[2], &threads, &zones,
        &progress)) {
    return NULL;
  }
  int status = PF_OK;
  char *error = NULL;
  pf_engine *engine = NULL;
  for (int part = 0; part < 3 && !PyErr_Occurred(); part++) paths[part] = path_list(lists[part]);
  if (!PyErr_Occurred()) {
    const pf_watch watch = {ask, progress};
    pf_options options = options_of(threads, zones, &watch);
    size_t counts[3];
    for (int part = 0; part < 3; part++) counts[part] = (size_t)PyList_Size(lists[part]);
    Py_BEGIN_ALLOW_THREADS
    status = pf_open_files(
      paths[0], counts[0], paths[1], counts[1], paths[2], counts[2], &options, &engine, &error);
    Py_END_ALLOW_THREADS
  }
  for (int part = 0; part < 3; part++) free(paths[part]);
  if (status != PF_OK) return raise_error(status, error);
  return engine ? wrap_engine(engine) : NULL;
}

PyObject *open_snapshot(PyObject *module, PyObject *arguments) {
  (void)module;
  const char *path;
  unsigned long long high, low;
  int threads, zones;
  if (!PyArg_ParseTuple(arguments, "yKKii", &path, &high, &low, &threads, &zones)) return NULL;
  pf_options options = options_of(threads, zones, NULL);
  pf_engine *engine;
  CALL(pf_open_snapshot, path, high, low, &options, &engine);
  return wrap_engine(engine);
}

PyObject *open_arrow(PyObject *module, PyObject *arguments) {
  (void)module;
  const char *settings;
  Py_ssize_t size;
  struct ArrowArrayStream *users, *members;
  int threads, zones;
  PyObject *progress;
  if (!PyArg_ParseTuple(
        arguments, "y#O&O&iiO", &settings, &size, read_stream, &users, read_stream, &members,
        &threads, &zones, &progress)) {
    return NULL;
  }
  const pf_watch watch = {ask, progress};
  pf_options options = options_of(threads, zones, &watch);
  pf_engine *engine;
  CALL(pf_open_arrow, settings, (size_t)size, users, members, &options, &engine);
  return wrap_engine(engine);
}

/* A function of the store's library; NULL when it is not there. */
static void *store_function(const char *library, const char *name) {
  void *loaded = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  void *function = loaded ? dlsym(loaded, name) : NULL;
  if (!function) PyErr_SetString(PyExc_ImportError, dlerror());
  return function;
}

PyObject *open_store(PyObject *module, PyObject *arguments) {
  (void)module;
  const char *library, *path;
  int access, threads, zones;
  if (!PyArg_ParseTuple(arguments, "yyiii", &library, &path, &access, &threads, &zones)) return NULL;
  __typeof__(&pf_store_abi_version) version = store_function(library, "pf_store_abi_version");
  __typeof__(&pf_store_open) function = version ? store_function(library, "pf_store_open") : NULL;
  if (!function) return NULL;
  if (version() != PF_ABI_VERSION) {
    return PyErr_Format(
      PyExc_ImportError, "%s has the interface version %d instead of %d", library, (int)version(),
      PF_ABI_VERSION);
  }
  pf_options options = options_of(threads, zones, NULL);
  pf_engine *engine;
  CALL(function, path, access, &options, &engine);
  return wrap_engine(engine);
}

static void engine_dealloc(PyObject *object) {
  Engine *self = (Engine *)object;
  while (self->idle_count > 0) pf_answer_free(self->idle[--self->idle_count]);
  pf_engine *engine = self->engine;
  /* Large tables take a while. */
  Py_BEGIN_ALLOW_THREADS
  pf_close(engine);
  Py_END_ALLOW_THREADS
  Py_DECREF((PyObject *)self->decision);
  deallocate(object);
}

/* ---------------------------------------------------------------------------------------- Methods */

#define ENGINE (((Engine *)object)->engine)
#define METHOD(name) static PyObject *engine_##name(PyObject *object, PyObject *arguments)
#define PARSE(...) \
  if (!PyArg_ParseTuple(arguments, __VA_ARGS__)) return NULL

METHOD(reopen) {
  (void)arguments;
  pf_engine *engine;
  CALL(pf_reopen, ENGINE, &engine);
  return wrap_engine(engine);
}

METHOD(write_snapshot) {
  const char *path;
  unsigned long long high, low, sequence;
  PARSE("yKKK", &path, &high, &low, &sequence);
  CALL(pf_write_snapshot, ENGINE, path, high, low, sequence);
  Py_RETURN_NONE;
}

#define NUMBER(structure, name) #name, (unsigned long long)(structure).name

METHOD(info) {
  (void)arguments;
  pf_info info = {.struct_size = sizeof info};
  CALL(pf_get_info, ENGINE, &info);
  return Py_BuildValue(
    "{sKsKsKsisisK}", NUMBER(info, epoch), NUMBER(info, sequence), NUMBER(info, user_count),
    "threads", (int)info.threads, "rules", (int)info.rules,
    NUMBER(info, snapshot_sequence));
}

METHOD(memory) {
  (void)arguments;
  pf_memory memory = {.struct_size = sizeof memory};
  CALL(pf_get_memory, ENGINE, &memory);
  return Py_BuildValue(
    "{sKsKsKsKsKsKsKsKsKsKsKsK}", NUMBER(memory, users), NUMBER(memory, user_extras),
    NUMBER(memory, conversations), NUMBER(memory, memberships), NUMBER(memory, membership_extras),
    NUMBER(memory, ids), NUMBER(memory, id_characters), NUMBER(memory, states),
    NUMBER(memory, mapped), NUMBER(memory, user_count), NUMBER(memory, conversation_count),
    NUMBER(memory, membership_count));
}

METHOD(unknown_zone_users) {
  (void)arguments;
  pf_ids users, zones;
  CALL(pf_unknown_zone_users, ENGINE, &users, &zones);
  PyObject *names = take_ids(&users), *places = take_ids(&zones);
  return Py_BuildValue("(NN)", names, places);
}

METHOD(members) {
  const char *conversation;
  Py_ssize_t size;
  pf_stamp stamp;
  pf_ids ids;
  PARSE("y#", &conversation, &size);
  CALL(pf_members, ENGINE, conversation, (size_t)size, &stamp, &ids);
  PyObject *texts = take_ids(&ids);
  return Py_BuildValue("(NN)", texts, stamp_of(&stamp));
}

METHOD(update) {
  const char *changes;
  Py_ssize_t size;
  long long now;
  uint64_t records;
  PARSE("y#L", &changes, &size, &now);
  CALL(pf_update, ENGINE, changes, (size_t)size, now, &records);
  return PyLong_FromUnsignedLongLong(records);
}

METHOD(set_presence) {
  const char *heartbeats;
  Py_ssize_t size;
  uint64_t applied;
  PARSE("y#", &heartbeats, &size);
  CALL(pf_set_presence, ENGINE, heartbeats, (size_t)size, &applied);
  return PyLong_FromUnsignedLongLong(applied);
}

METHOD(remove_member) {
  const char *user, *conversation;
  Py_ssize_t user_size, size;
  long long now;
  PARSE("y#y#L", &user, &user_size, &conversation, &size, &now);
  CALL(pf_remove_member, ENGINE, user, (size_t)user_size, conversation, (size_t)size, now);
  Py_RETURN_NONE;
}

METHOD(advance) {
  long long at;
  PARSE("L", &at);
  CALL(pf_advance, ENGINE, at);
  Py_RETURN_NONE;
}

METHOD(warm_up) {
  const char *conversation;
  Py_ssize_t size;
  long long at;
  PARSE("y#L", &conversation, &size, &at);
  CALL(pf_warm_up, ENGINE, conversation, (size_t)size, at);
  Py_RETURN_NONE;
}

METHOD(decide) { return decide_plain((Engine *)object, arguments); }

METHOD(messages_read) {
  const char *bytes, *name = NULL;
  Py_ssize_t size;
  PyObject *given, *progress;
  pf_messages *messages;
  PARSE("y#OO", &bytes, &size, &given, &progress);
  if (given != Py_None && !(name = PyBytes_AsString(given))) return NULL;
  const pf_watch watch = {ask, progress};
  CALL(pf_messages_read_watched, ENGINE, bytes, (size_t)size, name, &watch, &messages);
  return part_of(messages_type, messages, object);
}

METHOD(messages_read_arrow) {
  struct ArrowArrayStream *stream;
  PyObject *progress;
  pf_messages *messages;
  PARSE("O&O", read_stream, &stream, &progress);
  const pf_watch watch = {ask, progress};
  CALL(pf_messages_read_arrow_watched, ENGINE, stream, &watch, &messages);
  return part_of(messages_type, messages, object);
}

#define OWNED(part) (((Part *)(part))->owned)

/* The messages of a tuple. Memory to be freed; NULL when there is an error. */
static const pf_messages **messages_of(PyObject *tuple, size_t *count) {
  *count = (size_t)PyTuple_Size(tuple);
  const pf_messages **parts = malloc(sizeof *parts * (*count + 1));
  if (!parts) return (const pf_messages **)PyErr_NoMemory();
  for (size_t index = 0; index < *count; index++) {
    PyObject *part = PyTuple_GetItem(tuple, (Py_ssize_t)index);
    parts[index] = Py_TYPE(part) == messages_type ? OWNED(part) : NULL;
  }
  return parts;
}

METHOD(messages_join) {
  PyObject *tuple;
  pf_messages *messages;
  size_t count;
  PARSE("O!", &PyTuple_Type, &tuple);
  const pf_messages **parts = messages_of(tuple, &count);
  if (!parts) return NULL;
  char *error = NULL;
  int status = pf_messages_join(ENGINE, parts, count, &messages, &error);
  free(parts);
  return status == PF_OK ? part_of(messages_type, messages, object) : raise_error(status, error);
}

METHOD(decide_at) {
  PyObject *messages;
  Py_ssize_t index;
  PARSE("O!n", messages_type, &messages, &index);
  pf_answer *answer = take_answer((Engine *)object);
  if (!answer) return PyErr_NoMemory();
  char *error = NULL;
  int status;
  Py_BEGIN_ALLOW_THREADS
  status = pf_decide_at(ENGINE, OWNED(messages), (size_t)index, answer, &error);
  Py_END_ALLOW_THREADS
  if (status == PF_OK) return wrap_answer((Engine *)object, answer);
  pf_answer_free(answer);
  return raise_error(status, error);
}

METHOD(batch_size) {
  PyObject *messages;
  unsigned long long first, count;
  unsigned parts;
  uint64_t bytes;
  PARSE("O!KKI", messages_type, &messages, &first, &count, &parts);
  CALL(pf_batch_size, ENGINE, OWNED(messages), (size_t)first, (size_t)count, parts, &bytes);
  return PyLong_FromUnsignedLongLong(bytes);
}

METHOD(decide_batch) {
  PyObject *messages, *progress;
  unsigned long long first, count;
  unsigned parts;
  pf_batch *batch;
  PARSE("O!KKIO", messages_type, &messages, &first, &count, &parts, &progress);
  const pf_watch watch = {ask, progress};
  CALL(
    pf_decide_batch_watched, ENGINE, OWNED(messages), (size_t)first, (size_t)count, parts, &watch,
    &batch);
  return part_of(batch_type, batch, NULL);
}

METHOD(relation_new) {
  PyObject *messages;
  unsigned flags;
  pf_relation *relation;
  PARSE("O!I", messages_type, &messages, &flags);
  CALL(pf_relation_new, ENGINE, OWNED(messages), flags, &relation);
  return part_of(relation_type, relation, object);
}

METHOD(evaluate) {
  const char *messages, *format;
  Py_ssize_t size;
  int devices;
  char *text;
  size_t text_size;
  pf_stamp stamp;
  PyObject *progress;
  PARSE("y#ypO", &messages, &size, &format, &devices, &progress);
  const pf_watch watch = {ask, progress};
  CALL(
    pf_evaluate_watched, ENGINE, messages, (size_t)size, format, devices, &watch, &text, &text_size,
    &stamp);
  return take_text(text, text_size, &stamp);
}

/* Takes files, tuples of a name and of the content as bytes or None, from a tuple of them, which lives
** on. Memory to be freed; NULL when there is an error. */
static pf_file *files_of(PyObject *tuple, size_t *count) {
  *count = (size_t)PyTuple_Size(tuple);
  pf_file *files = calloc(*count + 1, sizeof *files);
  if (!files) return (pf_file *)PyErr_NoMemory();
  for (size_t index = 0; index < *count; index++) {
    pf_file *file = &files[index];
    Py_ssize_t name_size, size = 0;
    if (!PyArg_ParseTuple(
          PyTuple_GetItem(tuple, (Py_ssize_t)index), "y#z#", &file->name.bytes, &name_size,
          &file->content.bytes, &size)) {
      free(files);
      return NULL;
    }
    file->name.size = (size_t)name_size;
    file->content.size = (size_t)size;
  }
  return files;
}

/* pf_replay() or pf_compare(). */
static PyObject *run(PyObject *object, PyObject *arguments, __typeof__(&pf_replay) function) {
  PyObject *parts[4], *progress;
  const char *options;
  Py_ssize_t size;
  PyTypeObject *type = &PyTuple_Type;
  PARSE(
    "(O!O!O!O!)y#O", type, &parts[0], type, &parts[1], type, &parts[2], type, &parts[3], &options, &size,
    &progress);
  pf_traffic traffic = {.struct_size = sizeof traffic};
  pf_result *result = NULL;
  char *error = NULL;
  int status = PF_OK;
  if (
    (traffic.messages = files_of(parts[0], &traffic.message_count))
    && (traffic.presence = files_of(parts[1], &traffic.presence_count))
    && (traffic.changes = files_of(parts[2], &traffic.change_count))
    && (traffic.read = messages_of(parts[3], &traffic.read_count))) {
    const pf_watch watch = {ask, progress};
    Py_BEGIN_ALLOW_THREADS
    status = function(ENGINE, &traffic, options, (size_t)size, &watch, &result, &error);
    Py_END_ALLOW_THREADS
  }
  free((void *)traffic.messages);
  free((void *)traffic.presence);
  free((void *)traffic.changes);
  free((void *)traffic.read);
  if (status != PF_OK) return raise_error(status, error);
  return result ? part_of(result_type, result, object) : NULL;
}

METHOD(replay) { return run(object, arguments, pf_replay); }
METHOD(compare) { return run(object, arguments, pf_compare); }

METHOD(explain) {
  const char *messages, *user;
  Py_ssize_t size, user_size;
  int content;
  char *text;
  size_t text_size;
  pf_stamp stamp;
  PARSE("y#y#p", &messages, &size, &user, &user_size, &content);
  CALL(
    pf_explain, ENGINE, messages, (size_t)size, user, (size_t)user_size, content, &text, &text_size,
    &stamp);
  return take_text(text, text_size, &stamp);
}

METHOD(requests_new) {
  const char *messages;
  Py_ssize_t size, sender_size, template_size;
  pf_sending sending = {.struct_size = sizeof sending};
  int share_bodies;
  unsigned platforms;
  pf_requests *requests;
  PARSE(
    "y#y#z#Ip", &messages, &size, &sending.senders.content.bytes, &sender_size,
    &sending.templates.content.bytes, &template_size, &platforms, &share_bodies);
  sending.senders.content.size = (size_t)sender_size;
  sending.templates.content.size = (size_t)template_size;
  sending.platforms = platforms;
  sending.share_bodies = share_bodies;
  CALL(pf_requests_new, ENGINE, messages, (size_t)size, &sending, &requests);
  return part_of(requests_type, requests, object);
}

METHOD(next_change) {
  const char *user, *conversation, *channel;
  Py_ssize_t user_size, size, channel_size;
  long long after;
  pf_change change;
  pf_stamp stamp;
  PARSE(
    "y#y#z#L", &user, &user_size, &conversation, &size, &channel, &channel_size, &after);
  CALL(
    pf_next_change, ENGINE, user, (size_t)user_size, conversation, (size_t)size, channel,
    (size_t)channel_size, after, &change, &stamp);
  return Py_BuildValue("(LiiN)", (long long)change.at, change.before, change.after, stamp_of(&stamp));
}

#define ENTRY(name, kind) {#name, engine_##name, kind, NULL}

static PyMethodDef methods[] = {
  ENTRY(reopen, METH_NOARGS), ENTRY(write_snapshot, METH_VARARGS), ENTRY(info, METH_NOARGS),
  ENTRY(memory, METH_NOARGS), ENTRY(unknown_zone_users, METH_NOARGS), ENTRY(members, METH_VARARGS),
  ENTRY(update, METH_VARARGS), ENTRY(set_presence, METH_VARARGS),
  ENTRY(remove_member, METH_VARARGS), ENTRY(advance, METH_VARARGS), ENTRY(warm_up, METH_VARARGS),
  ENTRY(decide, METH_O), ENTRY(messages_read, METH_VARARGS),
  ENTRY(messages_read_arrow, METH_VARARGS), ENTRY(messages_join, METH_VARARGS),
  ENTRY(decide_at, METH_VARARGS),
  ENTRY(batch_size, METH_VARARGS), ENTRY(decide_batch, METH_VARARGS), ENTRY(relation_new, METH_VARARGS),
  ENTRY(evaluate, METH_VARARGS), ENTRY(explain, METH_VARARGS), ENTRY(next_change, METH_VARARGS),
  ENTRY(requests_new, METH_VARARGS), ENTRY(replay, METH_VARARGS), ENTRY(compare, METH_VARARGS),
  {NULL, NULL, 0, NULL}};

static PyType_Slot slots[] = {{Py_tp_dealloc, engine_dealloc}, {Py_tp_methods, methods}, {0, NULL}};

PyType_Spec engine_spec = {
  "push_fanout._native.Engine", sizeof(Engine), 0,
  Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};
