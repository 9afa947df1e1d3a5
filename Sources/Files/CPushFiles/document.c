#include "CPushFiles.h"

enum {
  BEFORE_DOCUMENT,
  FIRST_NAME,
  NEXT_NAME,
  IN_NAME,
  BEFORE_COLON,
  BEFORE_VALUE,
  IN_VALUE,
  BEHIND_VALUE,
  FIRST_ITEM,
  NEXT_ITEM,
  IN_ITEM,
  BEHIND_ITEM,
  BEHIND_DOCUMENT,
};

static bool is_blank(uint8_t byte) {
  return byte == ' ' || byte == '\t' || byte == '\r' || byte == '\n';
}

// Goes on in an item, a value or a name, from the document's position; whether it ends in the text.
static bool pass_over(pf_json_document *d, const uint8_t *text, size_t length) {
  while (d->position < length) {
    uint8_t byte = text[d->position];
    if (d->in_string) {
      d->line += byte == '\n';
      d->position++;
      if (d->is_escaped) {
        d->is_escaped = false;
      } else if (byte == '\\') {
        d->is_escaped = true;
      } else if (byte == '"') {
        d->in_string = false;
        if (d->depth == 0) return true;
      }
      continue;
    }
    switch (byte) {
      case '\n':
      case '\r':
      case ' ':
      case '\t':
      case ',':
        if (d->depth == 0) return true;
        d->line += byte == '\n';
        break;
      case '"': d->in_string = true; break;
      case '{':
      case '[': d->depth++; break;
      case '}':
      case ']':
        // Of what is around a number or a word.
        if (d->depth == 0) return true;
        d->position++;
        if (--d->depth == 0) return true;
        continue;
      default: break;
    }
    d->position++;
  }
  return false;
}

pf_json_event pf_json_walk(pf_json_document *d, const uint8_t *text, size_t length) {
  while (true) {
    if (d->state == IN_NAME || d->state == IN_VALUE || d->state == IN_ITEM) {
      if (!pass_over(d, text, length)) return PF_EVENT_MORE;
      d->end = d->position;
      switch (d->state) {
        case IN_NAME: d->state = BEFORE_COLON; return PF_EVENT_NAME;
        case IN_VALUE: d->state = BEHIND_VALUE; return PF_EVENT_VALUE;
        default: d->state = BEHIND_ITEM; return PF_EVENT_ITEM;
      }
    }
    if (d->position == length) return PF_EVENT_MORE;
    uint8_t byte = text[d->position];
    if (is_blank(byte)) {
      d->line += byte == '\n';
      d->position++;
      continue;
    }
    uint8_t next;
    switch (d->state) {
      case BEFORE_DOCUMENT:
        // A byte order mark is passed over.
        if (byte == 0xEF || byte == 0xBB || byte == 0xBF) next = BEFORE_DOCUMENT;
        else if (byte == '{') next = FIRST_NAME;
        else return PF_EVENT_INVALID;
        break;
      case FIRST_NAME:
      case NEXT_NAME:
        if (byte == '"') next = IN_NAME;
        else if (byte == '}' && d->state == FIRST_NAME) next = BEHIND_DOCUMENT;
        else return PF_EVENT_INVALID;
        break;
      case BEFORE_COLON:
        if (byte != ':') return PF_EVENT_INVALID;
        next = BEFORE_VALUE;
        break;
      case BEFORE_VALUE: next = byte == '[' ? FIRST_ITEM : IN_VALUE; break;
      case BEHIND_VALUE:
        if (byte == ',') next = NEXT_NAME;
        else if (byte == '}') next = BEHIND_DOCUMENT;
        else return PF_EVENT_INVALID;
        break;
      case FIRST_ITEM:
      case NEXT_ITEM: next = byte == ']' && d->state == FIRST_ITEM ? BEHIND_VALUE : IN_ITEM; break;
      case BEHIND_ITEM:
        if (byte == ',') next = NEXT_ITEM;
        else if (byte == ']') next = BEHIND_VALUE;
        else return PF_EVENT_INVALID;
        break;
      default: return PF_EVENT_INVALID;
    }
    d->state = next;
    if (next == IN_NAME || next == IN_VALUE || next == IN_ITEM) {
      // What cannot begin a value is an item without bytes, which is no JSON.
      if (byte == ',' || byte == ']' || byte == '}' || byte == ':') return PF_EVENT_INVALID;
      d->start = d->position;
      d->start_line = d->line;
    } else {
      d->position++;
    }
  }
}

bool pf_json_is_complete(const pf_json_document *document) {
  return document->state == BEHIND_DOCUMENT;
}

size_t pf_line_feeds(const uint8_t *text, size_t length) {
  size_t count = 0;
  // Counted in bytes, which is done for many at once.
  for (size_t index = 0; index < length;) {
    size_t end = length - index < 255 ? length : index + 255;
    uint8_t some = 0;
    for (; index < end; index++) some += text[index] == '\n';
    count += some;
  }
  return count;
}

size_t pf_json_token_start(const uint8_t *text, size_t length, size_t token) {
  bool in_string = false;
  size_t count = 0, index = 0;
  while (index < length) {
    uint8_t byte = text[index];
    if (is_blank(byte) || byte == ',' || byte == ':' || byte == ']' || byte == '}') {
      index++;
      continue;
    }
    if (count++ == token) return index;
    if (byte == '{' || byte == '[') {
      index++;
    } else if (byte == '"') {
      in_string = true;
      for (index++; index < length && in_string; index++) {
        if (text[index] == '\\') index++;
        else if (text[index] == '"') in_string = false;
      }
    } else {
      while (index < length && !is_blank(text[index]) && text[index] != ',' && text[index] != ']' &&
             text[index] != '}')
        index++;
    }
  }
  return length;
}
