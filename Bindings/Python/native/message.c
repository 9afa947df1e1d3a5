/* Decisions for dictionaries, without a line of JSON between. */
#include "native.h"

#define TEXTS 5
#define NAMES_ON_STACK 16

/* Ids or roles. */
typedef struct {
  PyObject *tuple;
  pf_text few[NAMES_ON_STACK];
  pf_text *many;
} Names;

/* A message, and the references that its texts need. */
typedef struct {
  pf_message message;
  PyObject *texts[TEXTS];
  int text_count;
  Names mentions, roles;
} Plain;

static void names_clear(Names *names) {
  Py_XDECREF(names->tuple);
  free(names->many);
}

static void plain_clear(Plain *plain) {
  while (plain->text_count > 0) Py_DECREF(plain->texts[--plain->text_count]);
  names_clear(&plain->mentions);
  names_clear(&plain->roles);
}

/* The bytes of a text; 0 for other objects. */
static int read_text(PyObject *value, pf_text *text) {
  if (!PyUnicode_Check(value)) return 0;
  Py_ssize_t size;
  text->bytes = PyUnicode_AsUTF8AndSize(value, &size);
  if (!text->bytes) PyErr_Clear();
  text->size = (size_t)size;
  return text->bytes != NULL;
}

/* A text that is not empty. */
static int read_name(PyObject *value, pf_text *text) {
  return read_text(value, text) && text->size > 0;
}

/* Keeps a text while the message is decided; 0 if it cannot. */
static int keep(Plain *plain, PyObject *text) {
  if (plain->text_count == TEXTS) return 0;
  plain->texts[plain->text_count++] = text;
  return 1;
}

/* An id: a text, or an integer, which is the text of its digits. */
static int read_id(Plain *plain, PyObject *value, pf_text *text) {
  PyObject *own = value;
  if (PyLong_Check(value) && !PyBool_Check(value)) {
    own = PyNumber_ToBase(value, 10);
    if (!own) PyErr_Clear();
  } else {
    Py_INCREF(own);
  }
  if (!own || !read_name(own, text) || !keep(plain, own)) {
    Py_XDECREF(own);
    return 0;
  }
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

static int read_names(Names *names, PyObject *value, const pf_text **list, size_t *size) {
  /* A dictionary of keys of a class of its own may have a field twice. */
  if (names->tuple) return 0;
  if (PyList_Check(value)) {
    /* Making a tuple may collect garbage, which may run code that changes the message. */
    Py_INCREF(value);
    names->tuple = PyList_AsTuple(value);
    Py_DECREF(value);
    if (!names->tuple) PyErr_Clear();
  } else if (PyTuple_Check(value)) {
    Py_INCREF(value);
    names->tuple = value;
  }
  if (!names->tuple) return 0;
  Py_ssize_t count = PyTuple_Size(names->tuple);
  pf_text *texts = names->few;
  if (count > NAMES_ON_STACK) {
    texts = names->many = malloc((size_t)count * sizeof *texts);
    if (!texts) return 0;
  }
  for (Py_ssize_t index = 0; index < count; index++) {
    if (!read_name(PyTuple_GetItem(names->tuple, index), &texts[index])) return 0;
  }
  *list = texts;
  *size = (size_t)count;
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
    return IS("sender") || IS("mentions") || IS("mentionsAll") || IS("silent") || IS("text")
      || IS("mentionsRoles") || IS("replyToUser");
  }
  if (IS("sender")) return read_id(plain, value, &message->sender);
  if (IS("text")) {
    if (!read_text(value, &message->text) || !keep(plain, value)) return 0;
    Py_INCREF(value);
    return 1;
  }
  if (IS("mentions")) {
    return read_names(
      &plain->mentions, value, &message->mentions, &message->mention_count);
  }
  if (IS("mentionsRoles")) {
    return read_names(
      &plain->roles, value, &message->mentions_roles, &message->mentions_role_count);
  }
  if (IS("replyToUser")) return read_id(plain, value, &message->reply_to_user);
  if (IS("mentionsAll")) return read_flag(value, &message->mentions_all);
  if (IS("silent")) return read_flag(value, &message->silent);
  return 0;
#undef IS
}

/* Reads a dictionary of the fields above, which is valid; 0 for any other. */
static int read_plain(PyObject *dictionary, Plain *plain) {
  PyObject *key, *value;
  Py_ssize_t position = 0;
  plain->message.at = -1;
  while (PyDict_Next(dictionary, &position, &key, &value)) {
    if (!read_field(plain, key, value)) return 0;
  }
  return plain->message.id.bytes && plain->message.conversation.bytes && plain->message.at >= 0;
}

/* Decides a plain message. None for one that has to be read as NDJSON, also to say what is wrong. */
PyObject *decide_plain(Engine *self, PyObject *dictionary) {
  if (!PyDict_Check(dictionary)) Py_RETURN_NONE;
  Plain plain;
  memset(&plain.message, 0, sizeof plain.message);
  plain.message.struct_size = sizeof plain.message;
  plain.text_count = 0;
  plain.mentions.tuple = plain.roles.tuple = NULL;
  plain.mentions.many = plain.roles.many = NULL;
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
