#include <simdjson.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "CPushFiles.h"

// simdjson's DOM parser reads the whole text and validates all of it, also fields that are not read; its
// on-demand parser, faster still, would let a mistake pass inside a value that is skipped.

struct pf_json_parser {
  simdjson::dom::parser parser;
  std::vector<pf_json_token> tokens;
  std::string repeated_key;
  std::string rewritten;
  // The keys of the objects that are being read, the inner ones' behind the outer ones'.
  std::vector<std::string_view> keys;
};

namespace {

using simdjson::dom::element;
using simdjson::dom::element_type;

pf_json_token string_token(std::string_view text) {
  pf_json_token token{PF_JSON_STRING, static_cast<uint32_t>(text.size()), {}};
  token.string = reinterpret_cast<const uint8_t *>(text.data());
  return token;
}

// The keys of one object, each of which may occur once.
//
// Keys of small objects are compared pairwise, and only those that a filter of 64 bits does not tell
// apart; those of large ones are sorted at the end, so that an object of a hundred thousand keys
// takes no quadratic time.
class key_set {
 public:
  explicit key_set(pf_json_parser &state) : state(state), start(state.keys.size()) {}
  ~key_set() { state.keys.resize(start); }

  // False when the key was there.
  bool add(std::string_view key) {
    size_t first = key.empty() ? 0 : static_cast<uint8_t>(key.front());
    size_t last = key.empty() ? 0 : static_cast<uint8_t>(key.back());
    uint64_t bit = uint64_t(1) << ((key.size() * 31 + first * 7 + last * 13) & 63);
    auto &keys = state.keys;
    if ((seen & bit) && keys.size() - start < small)
      if (std::find(keys.begin() + static_cast<long>(start), keys.end(), key) != keys.end())
        return fail(key);
    seen |= bit;
    keys.push_back(key);
    return true;
  }

  // False when a key of a large object was there twice.
  bool finish() {
    auto &keys = state.keys;
    if (keys.size() - start <= small) return true;
    std::sort(keys.begin() + static_cast<long>(start), keys.end());
    auto found = std::adjacent_find(keys.begin() + static_cast<long>(start), keys.end());
    return found == keys.end() || fail(*found);
  }

 private:
  static constexpr size_t small = 24;

  bool fail(std::string_view key) {
    state.repeated_key = key;
    return false;
  }

  pf_json_parser &state;
  size_t start;
  uint64_t seen = 0;
};

// Appends a value and all inside it; false when an object repeats a key. The parser has limited
// the depth.
bool append(pf_json_parser &state, element value) {
  auto &tokens = state.tokens;
  switch (value.type()) {
    case element_type::NULL_VALUE:
      tokens.push_back({PF_JSON_NULL, 1, {}});
      return true;
    case element_type::BOOL:
      tokens.push_back({bool(value) ? PF_JSON_TRUE : PF_JSON_FALSE, 1, {}});
      return true;
    case element_type::INT64: {
      pf_json_token token{PF_JSON_INTEGER, 1, {}};
      token.integer = int64_t(value);
      tokens.push_back(token);
      return true;
    }
    case element_type::UINT64:
    case element_type::DOUBLE: {
      pf_json_token token{PF_JSON_NUMBER, 1, {}};
      token.number = double(value);
      tokens.push_back(token);
      return true;
    }
    case element_type::STRING:
      tokens.push_back(string_token(std::string_view(value)));
      return true;
    case element_type::ARRAY: {
      size_t start = tokens.size();
      tokens.push_back({PF_JSON_ARRAY, 0, {}});
      for (auto item : simdjson::dom::array(value))
        if (!append(state, item)) return false;
      tokens[start].length = static_cast<uint32_t>(tokens.size() - start);
      return true;
    }
    case element_type::OBJECT: {
      key_set keys(state);
      size_t start = tokens.size();
      tokens.push_back({PF_JSON_OBJECT, 0, {}});
      for (auto field : simdjson::dom::object(value)) {
        if (!keys.add(field.key)) return false;
        tokens.push_back(string_token(field.key));
        if (!append(state, field.value)) return false;
      }
      if (!keys.finish()) return false;
      tokens[start].length = static_cast<uint32_t>(tokens.size() - start);
      return true;
    }
  }
  return true;
}

bool is_digit(char c) { return '0' <= c && c <= '9'; }

// The end of the JSON number at `at`, or `at` when there is none by the grammar of RFC 8259.
size_t number_end(const std::string &text, size_t at) {
  size_t i = at;
  if (i < text.size() && text[i] == '-') i++;
  if (i >= text.size() || !is_digit(text[i])) return at;
  if (text[i] == '0') i++;
  else
    while (i < text.size() && is_digit(text[i])) i++;
  if (i < text.size() && text[i] == '.') {
    if (++i >= text.size() || !is_digit(text[i])) return at;
    while (i < text.size() && is_digit(text[i])) i++;
  }
  if (i < text.size() && (text[i] == 'e' || text[i] == 'E')) {
    i++;
    if (i < text.size() && (text[i] == '+' || text[i] == '-')) i++;
    if (i >= text.size() || !is_digit(text[i])) return at;
    while (i < text.size() && is_digit(text[i])) i++;
  }
  return i;
}

// Whether a machine number holds a JSON number: an integer of 64 bits, or a finite double.
bool fits(std::string_view number) {
  auto end = number.data() + number.size();
  if (number.find_first_of(".eE") != number.npos) {
    double value;
    return std::from_chars(number.data(), end, value).ec == std::errc();
  }
  int64_t with_sign;
  uint64_t without_sign;
  return std::from_chars(number.data(), end, with_sign).ec == std::errc()
    || std::from_chars(number.data(), end, without_sign).ec == std::errc();
}

// simdjson refuses numbers that fit no machine number, like 1e400 or one of thirty digits. They are
// valid JSON and may stand in `ext`, where only whether they are 1 matters. So another
// number replaces each of them: 0.5 and blanks. Returns whether there was one.
bool replace_unfit_numbers(std::string &text) {
  bool in_string = false;
  bool replaced = false;
  for (size_t i = 0; i < text.size(); i++) {
    char c = text[i];
    if (in_string) {
      if (c == '\\') i++;
      else if (c == '"') in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '-' || is_digit(c)) {
      size_t end = number_end(text, i);
      if (end == i) return false;  // not JSON
      // A number that does not fit has at least three characters.
      if (!fits(std::string_view(text).substr(i, end - i))) {
        text.replace(i, end - i, std::string("0.5") + std::string(end - i - 3, ' '));
        replaced = true;
      }
      i = end - 1;
    }
  }
  return replaced;
}

pf_json_status status_of(simdjson::error_code error, const uint8_t *text, size_t length) {
  switch (error) {
    case simdjson::SUCCESS: return PF_JSON_OK;
    case simdjson::UTF8_ERROR: return PF_JSON_INVALID_UTF8;
    case simdjson::DEPTH_ERROR: return PF_JSON_TOO_DEEP;
    case simdjson::MEMALLOC: return PF_JSON_NO_MEMORY;
    case simdjson::UNCLOSED_STRING: return PF_JSON_TRUNCATED;
    default: break;
  }
  // Whatever the parser stumbled over: a text that begins as an object and does not close its
  // brackets was cut off.
  size_t first = 0;
  while (first < length && std::strchr(" \t\r\n", text[first])) first++;
  if (first == length || text[first] != '{') return PF_JSON_INVALID;
  long depth = 0;
  bool in_string = false;
  for (size_t i = 0; i < length; i++) {
    char c = static_cast<char>(text[i]);
    if (in_string) {
      if (c == '\\') i++;
      else if (c == '"') in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      depth++;
    } else if (c == '}' || c == ']') {
      depth--;
    }
  }
  return depth > 0 ? PF_JSON_TRUNCATED : PF_JSON_INVALID;
}

}  // namespace

extern "C" {

pf_json_parser *pf_json_create(void) { return new (std::nothrow) pf_json_parser(); }
void pf_json_destroy(pf_json_parser *parser) { delete parser; }

pf_json_status pf_json_parse(pf_json_parser *state, const uint8_t *text, size_t length) {
  state->tokens.clear();
  element root;
  auto error = state->parser.parse(text, length, false).get(root);
  if (error && error != simdjson::UTF8_ERROR) {
    state->rewritten.assign(reinterpret_cast<const char *>(text), length);
    state->rewritten.reserve(length + PF_JSON_PADDING);
    if (replace_unfit_numbers(state->rewritten))
      error = state->parser.parse(state->rewritten.data(), length, false).get(root);
  }
  if (error) return status_of(error, text, length);
  return append(*state, root) ? PF_JSON_OK : PF_JSON_REPEATED_KEY;
}

const pf_json_token *pf_json_tokens(const pf_json_parser *parser, size_t *count) {
  *count = parser->tokens.size();
  return parser->tokens.data();
}

const uint8_t *pf_json_repeated_key(const pf_json_parser *parser, size_t *length) {
  *length = parser->repeated_key.size();
  return reinterpret_cast<const uint8_t *>(parser->repeated_key.data());
}

size_t pf_json_items(
  pf_json_arrays *arrays, const uint8_t *input, size_t length, size_t *used, uint8_t *output,
  size_t capacity) {
  pf_json_arrays a = *arrays;
  size_t written = 0, index = 0;
  while (true) {
    for (; a.feeds_due > 0 && written < capacity; a.feeds_due--) output[written++] = '\n';
    if (a.is_at_start && a.state == PF_ARRAY_LINE && written < capacity) {
      output[written++] = ']';
      a.is_at_start = false;
    }
    if (index == length || written == capacity) break;
    uint8_t byte = input[index];
    bool is_blank = byte == ' ' || byte == '\t' || byte == '\r' || byte == '\n';
    bool is_within = a.state == PF_ARRAY_ITEM || a.state == PF_ARRAY_LINE;
    if (!is_within && !is_blank) {
      // A byte order mark is passed over.
      bool is_mark = !a.has_lines && (byte == 0xEF || byte == 0xBB || byte == 0xBF);
      if (a.state == PF_ARRAY_OUTSIDE && (byte == '[' || is_mark)) {
        if (byte == '[') a.state = PF_ARRAY_FIRST;
      } else if (a.state == PF_ARRAY_FIRST && byte == ']') {
        a.state = PF_ARRAY_OUTSIDE;
      } else {
        a.feeds_due = std::max<size_t>(
          a.feeds_read > a.feeds_written ? a.feeds_read - a.feeds_written : 0, a.has_lines);
        a.feeds_written += a.feeds_due;
        a.state = a.state == PF_ARRAY_OUTSIDE || byte == ']' ? PF_ARRAY_LINE : PF_ARRAY_ITEM;
        a.has_lines = a.is_at_start = true;
        a.has_others |= a.state == PF_ARRAY_LINE;
        continue;
      }
    } else if (a.state == PF_ARRAY_LINE && byte == '\n') {
      a.state = PF_ARRAY_OUTSIDE;
    } else if (a.state == PF_ARRAY_ITEM && !a.in_string && a.depth == 0 && !a.is_at_start &&
               (byte == ',' || byte == ']')) {
      a.state = byte == ',' ? PF_ARRAY_NEXT : PF_ARRAY_OUTSIDE;
    } else if (is_within) {
      // A line feed in a string is no JSON, and a tabulator is none either.
      output[written++] = byte != '\n' ? byte : a.in_string ? '\t' : ' ';
      a.is_at_start = false;
      if (a.state == PF_ARRAY_LINE) {
      } else if (a.is_escaped) {
        a.is_escaped = false;
      } else if (byte == '"') {
        a.in_string = !a.in_string;
      } else if (a.in_string) {
        a.is_escaped = byte == '\\';
      } else if (byte == '{' || byte == '[') {
        a.depth++;
      } else if ((byte == '}' || byte == ']') && a.depth > 0) {
        a.depth--;
      }
    }
    a.feeds_read += byte == '\n';
    index++;
  }
  *arrays = a;
  *used = index;
  return written;
}

bool pf_json_is_arrays(const uint8_t *text, size_t length) {
  std::string_view start(reinterpret_cast<const char *>(text), length);
  if (start.substr(0, 3) == "\xEF\xBB\xBF") start.remove_prefix(3);
  size_t first = start.find_first_not_of(" \t\r\n");
  if (first == start.npos || start[first] != '[') return false;
  pf_json_arrays arrays = {};
  uint8_t lines[4096];
  for (size_t index = 0, used = 0; index < length && !arrays.has_others; index += used)
    pf_json_items(&arrays, text + index, length - index, &used, lines, sizeof lines);
  return !arrays.has_others;
}

bool pf_is_utf8(const uint8_t *text, size_t length) {
  return simdjson::validate_utf8(reinterpret_cast<const char *>(text), length);
}

bool pf_is_ascii(const uint8_t *text, size_t length) {
  uint8_t all = 0;
  for (size_t index = 0; index < length; index++) all |= text[index];
  return all < 0x80;
}
}
