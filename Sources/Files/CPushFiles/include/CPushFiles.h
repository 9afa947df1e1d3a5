// simdjson and gzip behind one small C interface, so that Swift sees plain structs and pointers and
// no C++; CSV; and the structures of Arrow (arrow.h).
#ifndef CPUSHFILES_H
#define CPUSHFILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arrow.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Bytes that must be readable after the last byte of a text handed to pf_json_parse,
/// pf_csv_whole_rows or pf_csv_split.
enum { PF_JSON_PADDING = 64 };

// MARK: JSON

typedef enum : uint8_t {
  PF_JSON_NULL,
  PF_JSON_FALSE,
  PF_JSON_TRUE,
  /// A number written as an integer that fits 64 bits with sign.
  PF_JSON_INTEGER,
  /// Any other number.
  PF_JSON_NUMBER,
  PF_JSON_STRING,
  PF_JSON_ARRAY,
  PF_JSON_OBJECT,
} pf_json_kind;

/// One value. The members of an object are a string, its value, a string, its value, and so on.
typedef struct {
  pf_json_kind kind;
  /// STRING: its bytes. ARRAY, OBJECT: how many tokens it is, itself and all inside included.
  uint32_t length;
  union {
    /// UTF-8, followed by a zero byte that is not counted.
    const uint8_t *string;
    int64_t integer;
    double number;
  };
} pf_json_token;

typedef enum : uint8_t {
  PF_JSON_OK,
  PF_JSON_INVALID_UTF8,
  /// The text ends inside a value.
  PF_JSON_TRUNCATED,
  PF_JSON_TOO_DEEP,
  PF_JSON_REPEATED_KEY,
  PF_JSON_INVALID,
  PF_JSON_NO_MEMORY,
} pf_json_status;

typedef struct pf_json_parser pf_json_parser;

pf_json_parser *pf_json_create(void);
void pf_json_destroy(pf_json_parser *parser);

/// Parses one JSON text, all of it. The tokens and their strings are valid until the next call.
pf_json_status pf_json_parse(pf_json_parser *parser, const uint8_t *text, size_t length);
const pf_json_token *pf_json_tokens(const pf_json_parser *parser, size_t *count);
/// After PF_JSON_REPEATED_KEY: the key.
const uint8_t *pf_json_repeated_key(const pf_json_parser *parser, size_t *length);

/// The length of the lines that end in a text: where the last line feed is, plus one; 0 for none.
size_t pf_whole_lines(const uint8_t *text, size_t length);
/// How many line feeds a text has.
size_t pf_line_feeds(const uint8_t *text, size_t length);

typedef enum : uint8_t {
  /// Outside of an array: at the beginning, or behind an end.
  PF_ARRAY_OUTSIDE,
  /// In a line behind an array, or in what stands in place of its last item.
  PF_ARRAY_LINE,
  /// Before an item or the end; behind a comma, before an item.
  PF_ARRAY_FIRST,
  PF_ARRAY_NEXT,
  PF_ARRAY_ITEM,
} pf_json_array_state;

/// Where the reading of a text is that is a JSON array, or several behind each other; zero at its
/// beginning.
typedef struct {
  pf_json_array_state state;
  bool in_string, is_escaped, is_at_start, has_lines, has_others;
  /// Brackets of the item that are open.
  size_t depth;
  /// Line feeds that were read; that were written or are due; that are due before the next byte.
  size_t feeds_read, feeds_written, feeds_due;
} pf_json_arrays;

/// Writes the items of JSON arrays as lines: on the lines that they begin on, or on the next one if
/// another item begins there. Only what divides items is checked; what is wrong with it becomes a line
/// that is no JSON, as does what follows an array and is none.
///
/// Returns how many bytes it wrote, and says how many it used: less than all only where the output is full.
size_t pf_json_items(
  pf_json_arrays *arrays, const uint8_t *input, size_t length, size_t *used, uint8_t *output,
  size_t capacity);

/// Whether the beginning of a text is that of JSON arrays: nothing else follows one in it, as in lines of
/// which the first is an array.
bool pf_json_is_arrays(const uint8_t *text, size_t length);

typedef enum : uint8_t {
  /// The text ends; more of it is to be read.
  PF_EVENT_MORE,
  /// The name of a member, with its quotes.
  PF_EVENT_NAME,
  /// An item of the member's array.
  PF_EVENT_ITEM,
  /// The member's value, which is no array.
  PF_EVENT_VALUE,
  /// What stands at the position cannot stand there.
  PF_EVENT_INVALID,
} pf_json_event;

/// Where the reading of a JSON document is that is one object whose members are arrays; zero at its
/// beginning. Who moves the text moves `position`, `start` and `end`.
typedef struct {
  uint8_t state;
  bool in_string, is_escaped;
  /// Brackets of the item that are open.
  size_t depth;
  /// The bytes that were read, and the line feeds among them.
  size_t position, line;
  /// Where the name, item or value is of which the last event was, or that is not complete, and on which
  /// line it begins, from 0.
  size_t start, end, start_line;
} pf_json_document;

/// Reads on to the next event. Only what divides items is checked: an item is to be parsed.
pf_json_event pf_json_walk(pf_json_document *document, const uint8_t *text, size_t length);
/// Whether the object is closed.
bool pf_json_is_complete(const pf_json_document *document);

/// Where a value begins in a text that was parsed, counting values and names from 0.
size_t pf_json_token_start(const uint8_t *text, size_t length, size_t token);

bool pf_is_utf8(const uint8_t *text, size_t length);
bool pf_is_ascii(const uint8_t *text, size_t length);

// MARK: CSV

typedef struct {
  const uint8_t *bytes;
  size_t length;
} pf_csv_cell;

typedef enum : uint8_t {
  PF_CSV_ROW,
  /// A quote inside an unquoted cell, or something after a closing quote.
  PF_CSV_STRAY_QUOTE,
  /// The text ends inside a quoted cell.
  PF_CSV_OPEN_QUOTE,
} pf_csv_status;

typedef struct {
  /// The bytes of the row with its line end, after PF_CSV_STRAY_QUOTE up to the end of the line.
  size_t length;
  /// 0 for a blank line.
  size_t cell_count;
  /// How many of its bytes are line feeds, those inside cells too.
  size_t line_feeds;
  pf_csv_status status;
  /// Whether a carriage return ends it that no line feed follows.
  bool ends_in_lone_return;
  /// Whether all cells are parts of the text: none has doubled quotes.
  bool is_verbatim;
} pf_csv_row;

/// The length of the rows that end in a text, which begins where a row may: up to the last line feed
/// that ends one. A row with a misplaced quote ends with its line, as for pf_csv_split.
///
/// The delimiter between cells is ASCII, and none of `"`, a line feed and a carriage return.
size_t pf_csv_whole_rows(const uint8_t *text, size_t length, uint8_t delimiter);

/// Whether the line ends at the end of a text of whole rows begin with a carriage return that another
/// one follows; `otherwise` if the text is nothing but line ends without one.
bool pf_csv_ends_in_lone_return(const uint8_t *text, size_t length, bool otherwise);

/// Splits the first row of a text, which is not empty and begins where a row may (RFC 4180). A line
/// feed, or a carriage return, ends a row; a quote is allowed only around a cell and, doubled, inside.
///
/// The first `capacity` cells are stored. They point into the text, or into `scratch`, which has room
/// for `length` bytes. PF_CSV_OPEN_QUOTE: the last cell is what there is of it.
void pf_csv_split(
  const uint8_t *text, size_t length, uint8_t delimiter, pf_csv_cell *cells, size_t capacity,
  uint8_t *scratch, pf_csv_row *row);

// MARK: gzip

typedef enum : uint8_t {
  PF_GZIP_MORE,
  /// The last member is complete and nothing is begun after it.
  PF_GZIP_AT_END,
  PF_GZIP_NOT_GZIP,
  /// Something else follows the last member.
  PF_GZIP_TRAILING,
  PF_GZIP_CORRUPT,
  PF_GZIP_NO_MEMORY,
} pf_gzip_status;

typedef struct pf_gzip pf_gzip;

pf_gzip *pf_gzip_create(void);
void pf_gzip_destroy(pf_gzip *gzip);

/// Unpacks from `input` to `output`; several members in a row are one text, and zeros behind the last
/// one are passed over. Says how much of each was used.
pf_gzip_status pf_gzip_inflate(
  pf_gzip *gzip, const uint8_t *input, size_t input_length, size_t *input_used, uint8_t *output,
  size_t output_length, size_t *output_used);

// Has the system begin to write a part of a file to the disk, so that a later fsync waits for less.
// What goes wrong is left to fsync to report.
void pf_start_writeback(int descriptor, size_t from, size_t count);

#ifdef __cplusplus
}
#endif

#endif
