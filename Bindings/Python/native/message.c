/* Decisions for dictionaries, without a line of JSON between. */
#include "native.h"

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

/* An id: a text, or an integer, which is the text of its digits. */
static int read_id(Plain *plain, PyObject *value, pf_text *text) {
  PyObject *own = value;
  if (PyLong_Check(value) && !PyBool_Check(value)) {
    own = PyNumber_ToBase(value, 10);
    if (!own) PyErr_Clear();
  } else {
    Py_INCREF(own);
  }
  if (!own || !read_text(own, text)) {
    Py_XDECREF(own);
    return 0;
  }
  plain->texts[plain->text_count++] = own;
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

/* Decides a plain message. None for one that has to be read as NDJSON, also to say what is wrong. */
PyObject *decide_plain(Engine *self, PyObject *dictionary) {
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
