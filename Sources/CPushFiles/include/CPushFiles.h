// The two parsers and gzip behind one small C interface, so that Swift sees plain structs and
// pointers and no C++; and the structures of Arrow (arrow.h).
#ifndef CPUSHFILES_H
#define CPUSHFILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arrow.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Bytes that must be readable after the last byte of a text handed to pf_json_parse or
/// pf_csv_split.
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

bool pf_is_utf8(const uint8_t *text, size_t length);
bool pf_is_ascii(const uint8_t *text, size_t length);

// MARK: CSV

typedef struct {
  const uint8_t *bytes;
  size_t length;
} pf_csv_cell;

typedef struct {
  /// The row's cells are cells[first_cell] up to cells[first_cell + cell_count - 1].
  size_t first_cell;
  size_t cell_count;
  /// The 1-based line at which the row begins.
  uint64_t line;
  /// Whether a carriage return that no line feed follows ended the row before, on the same line.
  bool after_lone_return;
} pf_csv_row;

typedef enum : uint8_t {
  PF_CSV_OK,
  /// A quote inside an unquoted cell, or something after a closing quote.
  PF_CSV_STRAY_QUOTE,
  /// The text ends inside a quoted cell.
  PF_CSV_OPEN_QUOTE,
  PF_CSV_NO_MEMORY,
} pf_csv_status;

typedef struct pf_csv_parser pf_csv_parser;

pf_csv_parser *pf_csv_create(void);
void pf_csv_destroy(pf_csv_parser *parser);

/// Parses a piece of the text. The rows that end in it are there until the next call. After a
/// status other than PF_CSV_OK, pf_csv_error_line says at which line the broken row begins; it comes
/// after the rows that are there. The next call, with what was not consumed, goes on with the next
/// line.
pf_csv_status pf_csv_parse(
  pf_csv_parser *parser, const uint8_t *text, size_t length, size_t *consumed);
/// Ends the text: the row at its end, if it had no line feed.
pf_csv_status pf_csv_finish(pf_csv_parser *parser);
const pf_csv_row *pf_csv_rows(const pf_csv_parser *parser, size_t *count);
const pf_csv_cell *pf_csv_cells(const pf_csv_parser *parser);
uint64_t pf_csv_error_line(const pf_csv_parser *parser);
/// Gives up the row that has begun; what comes next is read from the next line on.
void pf_csv_abandon_row(pf_csv_parser *parser);
/// Whether a row may begin here: none has begun, and no line is being passed over.
bool pf_csv_is_between_rows(const pf_csv_parser *parser);
/// How many bytes the row has that has begun and not ended, and the line it began at.
size_t pf_csv_open_row_bytes(const pf_csv_parser *parser, uint64_t *line);

/// Whether the lines of a text can be split by pf_csv_split: there are no quotes, and no carriage
/// return but those before line feeds.
bool pf_csv_is_plain(const uint8_t *text, size_t length);
/// Splits the first line of a plain text, which begins where a row may, at its commas, as
/// pf_csv_parse would. PF_JSON_PADDING bytes behind the text must be readable.
///
/// Returns the length of the line with its line feed. `count` is the number of cells, 0 for a blank
/// line; the first `capacity` of them are stored, and point into the text.
size_t pf_csv_split(
  const uint8_t *text, size_t length, pf_csv_cell *cells, size_t capacity, size_t *count);

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

/// Unpacks from `input` to `output`; several members in a row are one text. Says how much of each
/// was used.
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
