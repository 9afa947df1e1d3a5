#include <csv.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <vector>

#include "CPushFiles.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

struct pf_csv_parser {
  csv_parser parser;
  // The cells' bytes, one behind the other: bytes_used of them.
  std::vector<uint8_t> bytes;
  size_t bytes_used = 0;
  std::vector<size_t> cell_ends;
  std::vector<pf_csv_cell> cells;
  std::vector<pf_csv_row> rows;
  // The row that has begun.
  size_t open_cells = 0;
  uint64_t open_line_feeds = 0;
  // Line feeds before the row that is to come.
  uint64_t line_feeds = 0;
  // Whether cells may be quoted, and so hold line feeds.
  bool has_quotes = false;
  bool in_quotes = false;
  bool after_return = false;
  bool lone_return = false;
  // Whether the rest of a broken row's line is being passed over.
  bool skipping = false;
  uint64_t error_line = 0;

  void start() {
    csv_init(&parser, CSV_STRICT | CSV_STRICT_FINI | CSV_REPALL_NL);
    // How much its buffer for one cell grows at a time: by its own 128 bytes, a cell of megabytes
    // would be copied tens of thousands of times.
    csv_set_blk_size(&parser, 256 * 1024);
  }

  // Prepares for a piece of text. Cells are not trimmed, so nothing is a blank; but a call for each
  // character is only made where there are blanks.
  void look_at(const uint8_t *text, size_t length) {
    bool has_blanks = memchr(text, ' ', length) || memchr(text, '\t', length);
    csv_set_space_func(&parser, has_blanks ? [](unsigned char) { return 0; } : nullptr);
    has_quotes = in_quotes || memchr(text, '"', length);
    in_quotes = has_quotes;  // a quoted cell may go on in the next piece
  }
};

namespace {

void on_cell(void *bytes, size_t length, void *context) {
  auto &state = *static_cast<pf_csv_parser *>(context);
  if (state.after_return) {
    state.after_return = false;
    state.lone_return = true;
  }
  auto start = static_cast<const uint8_t *>(bytes);
  if (length > 0) {
    size_t size = state.bytes_used;
    if (size + length > state.bytes.size()) state.bytes.resize((size + length) * 2);
    memcpy(state.bytes.data() + size, start, length);
    state.bytes_used = size + length;
    if (state.has_quotes)
      state.open_line_feeds += static_cast<uint64_t>(std::count(start, start + length, '\n'));
  }
  state.cell_ends.push_back(state.bytes_used);
  state.open_cells++;
}

// Called at the end of a row and, by CSV_REPALL_NL, at every line end that ends none.
void on_line_end(int character, void *context) {
  auto &state = *static_cast<pf_csv_parser *>(context);
  if (state.open_cells > 0) {
    pf_csv_row row;
    row.cell_count = state.open_cells;
    row.first_cell = state.cell_ends.size() - state.open_cells;
    row.line = state.line_feeds + 1;
    row.after_lone_return = state.lone_return;
    state.lone_return = false;
    state.rows.push_back(row);
    state.line_feeds += state.open_line_feeds;
    state.open_cells = 0;
    state.open_line_feeds = 0;
  } else if (state.after_return && character != '\n') {
    state.lone_return = true;
  }
  state.after_return = character == '\r';
  if (character == '\n') state.line_feeds++;
}

void drop_finished(pf_csv_parser &state) {
  size_t kept_cells = state.open_cells;
  size_t dropped_cells = state.cell_ends.size() - kept_cells;
  size_t dropped_bytes = dropped_cells == 0 ? 0 : state.cell_ends[dropped_cells - 1];
  state.bytes_used -= dropped_bytes;
  memmove(state.bytes.data(), state.bytes.data() + dropped_bytes, state.bytes_used);
  state.cell_ends.erase(
    state.cell_ends.begin(), state.cell_ends.begin() + static_cast<long>(dropped_cells));
  for (auto &end : state.cell_ends) end -= dropped_bytes;
  state.rows.clear();
}

// Forgets the row that has begun; the line feeds inside its cells, also inside the one that is not
// finished, stay counted.
void abandon_row(pf_csv_parser &state) {
  state.error_line = state.line_feeds + 1;
  state.line_feeds += state.open_line_feeds;
  auto open = state.parser.entry_buf;
  if (open) {
    auto end = open + state.parser.entry_pos;
    state.line_feeds += static_cast<uint64_t>(std::count(open, end, '\n'));
  }
  state.cell_ends.resize(state.cell_ends.size() - state.open_cells);
  state.bytes_used = state.cell_ends.empty() ? 0 : state.cell_ends.back();
  state.open_cells = 0;
  state.open_line_feeds = 0;
  state.after_return = false;
  csv_free(&state.parser);
  state.start();
}

void publish_cells(pf_csv_parser &state) {
  state.cells.clear();
  state.cells.reserve(state.cell_ends.size());
  size_t start = 0;
  for (size_t end : state.cell_ends) {
    state.cells.push_back({state.bytes.data() + start, end - start});
    start = end;
  }
}

// A bit for each of 16 bytes that is a comma or a line feed.
unsigned delimiters(const uint8_t *text) {
#if defined(__SSE2__)
  __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i *>(text));
  __m128i commas = _mm_cmpeq_epi8(bytes, _mm_set1_epi8(','));
  __m128i feeds = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\n'));
  return static_cast<unsigned>(_mm_movemask_epi8(_mm_or_si128(commas, feeds)));
#else
  unsigned mask = 0;
  for (unsigned i = 0; i < 16; i++) mask |= unsigned(text[i] == ',' || text[i] == '\n') << i;
  return mask;
#endif
}

}  // namespace

extern "C" {

pf_csv_parser *pf_csv_create(void) {
  auto state = new (std::nothrow) pf_csv_parser();
  if (state) state->start();
  return state;
}

void pf_csv_destroy(pf_csv_parser *parser) {
  csv_free(&parser->parser);
  delete parser;
}

pf_csv_status pf_csv_parse(
  pf_csv_parser *state, const uint8_t *text, size_t length, size_t *consumed) {
  drop_finished(*state);
  size_t skipped = 0;
  if (state->skipping) {
    auto next = static_cast<const uint8_t *>(memchr(text, '\n', length));
    skipped = next ? static_cast<size_t>(next - text) : length;
    state->skipping = next == nullptr;
  }
  state->look_at(text + skipped, length - skipped);
  size_t used =
    skipped
    + csv_parse(&state->parser, text + skipped, length - skipped, on_cell, on_line_end, state);
  *consumed = used;
  pf_csv_status status = PF_CSV_OK;
  if (used < length) {
    status = csv_error(&state->parser) == CSV_EPARSE ? PF_CSV_STRAY_QUOTE : PF_CSV_NO_MEMORY;
    pf_csv_abandon_row(state);
  }
  publish_cells(*state);
  return status;
}

pf_csv_status pf_csv_finish(pf_csv_parser *state) {
  drop_finished(*state);
  int result = csv_fini(&state->parser, on_cell, on_line_end, state);
  pf_csv_status status = PF_CSV_OK;
  if (result != 0) {
    status = csv_error(&state->parser) == CSV_EPARSE ? PF_CSV_OPEN_QUOTE : PF_CSV_NO_MEMORY;
    abandon_row(*state);
  }
  publish_cells(*state);
  return status;
}

const pf_csv_row *pf_csv_rows(const pf_csv_parser *parser, size_t *count) {
  *count = parser->rows.size();
  return parser->rows.data();
}

const pf_csv_cell *pf_csv_cells(const pf_csv_parser *parser) { return parser->cells.data(); }

void pf_csv_abandon_row(pf_csv_parser *state) {
  abandon_row(*state);
  state->skipping = true;
}

size_t pf_csv_open_row_bytes(const pf_csv_parser *parser, uint64_t *line) {
  size_t first = parser->cell_ends.size() - parser->open_cells;
  size_t start = first == 0 ? 0 : parser->cell_ends[first - 1];
  *line = parser->line_feeds + 1;
  return parser->bytes_used - start + parser->parser.entry_pos;
}

uint64_t pf_csv_error_line(const pf_csv_parser *parser) { return parser->error_line; }

size_t pf_whole_lines(const uint8_t *text, size_t length) {
  auto found = static_cast<const uint8_t *>(memrchr(text, '\n', length));
  return found ? static_cast<size_t>(found - text) + 1 : 0;
}

bool pf_csv_is_between_rows(const pf_csv_parser *parser) {
  return parser->open_cells == 0 && parser->parser.pstate == 0 && parser->parser.entry_pos == 0
    && !parser->skipping;
}

bool pf_csv_is_plain(const uint8_t *text, size_t length) {
  if (memchr(text, '"', length)) return false;
  auto end = text + length;
  for (auto at = text; at < end; at++) {
    at = static_cast<const uint8_t *>(memchr(at, '\r', static_cast<size_t>(end - at)));
    if (!at) return true;
    if (at + 1 == end || at[1] != '\n') return false;
  }
  return true;
}

size_t pf_csv_split(
  const uint8_t *text, size_t length, pf_csv_cell *cells, size_t capacity, size_t *count) {
  size_t found = 0;
  size_t start = 0;
  size_t end = length;
  size_t used = length;
  auto add = [&](size_t cell_end) {
    if (found < capacity) cells[found] = {text + start, cell_end - start};
    found++;
  };
  for (size_t block = 0; block < length; block += 16) {
    for (unsigned mask = delimiters(text + block); mask != 0; mask &= mask - 1) {
      size_t at = block + static_cast<size_t>(__builtin_ctz(mask));
      if (at >= length) goto line_end;
      if (text[at] == ',') {
        add(at);
        start = at + 1;
      } else {
        end = at > 0 && text[at - 1] == '\r' ? at - 1 : at;
        used = at + 1;
        goto line_end;
      }
    }
  }
line_end:
  if (found > 0 || end > 0) add(end);
  *count = found;
  return used;
}
}
