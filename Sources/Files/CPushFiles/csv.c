#define _GNU_SOURCE  // memrchr

#include <string.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "CPushFiles.h"

// A function with the delimiter as a parameter is compiled once for the comma, and once for others.
#define PF_INLINE static inline __attribute__((always_inline))

size_t pf_whole_lines(const uint8_t *text, size_t length) {
  const uint8_t *found = memrchr(text, '\n', length);
  return found ? (size_t)(found - text) + 1 : 0;
}

// MARK: Where rows end

// A bit for each of 64 bytes.
typedef struct {
  uint64_t quotes;
  uint64_t feeds;
  // What may be in front of an opening quote and behind a closing one. A doubled quote closes a cell
  // and opens it again.
  uint64_t edges;
} pf_masks;

PF_INLINE bool is_edge(uint8_t byte, uint8_t delimiter) {
  return byte == '"' || byte == '\n' || byte == delimiter || byte == '\r';
}

PF_INLINE pf_masks find_masks(const uint8_t *text, uint8_t delimiter) {
  pf_masks masks = {0, 0, 0};
#if defined(__SSE2__)
  for (int part = 0; part < 64; part += 16) {
    __m128i bytes = _mm_loadu_si128((const __m128i *)(text + part));
    __m128i quotes = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('"'));
    __m128i feeds = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\n'));
    __m128i others = _mm_or_si128(
      _mm_cmpeq_epi8(bytes, _mm_set1_epi8((char)delimiter)),
      _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\r')));
    __m128i edges = _mm_or_si128(_mm_or_si128(quotes, feeds), others);
    masks.quotes |= (uint64_t)(unsigned)_mm_movemask_epi8(quotes) << part;
    masks.feeds |= (uint64_t)(unsigned)_mm_movemask_epi8(feeds) << part;
    masks.edges |= (uint64_t)(unsigned)_mm_movemask_epi8(edges) << part;
  }
#else
  for (int at = 0; at < 64; at++) {
    uint8_t byte = text[at];
    masks.quotes |= (uint64_t)(byte == '"') << at;
    masks.feeds |= (uint64_t)(byte == '\n') << at;
    masks.edges |= (uint64_t)is_edge(byte, delimiter) << at;
  }
#endif
  return masks;
}

// The parity of the bits up to each one.
static uint64_t prefix_parity(uint64_t bits) {
  for (int shift = 1; shift < 64; shift *= 2) bits ^= bits << shift;
  return bits;
}

static size_t behind_last(size_t block, uint64_t feeds, size_t otherwise) {
  return feeds ? block + 64 - (size_t)__builtin_clzll(feeds) : otherwise;
}

PF_INLINE size_t whole_rows(const uint8_t *text, size_t length, uint8_t delimiter) {
  size_t whole = 0;
  uint64_t inside = 0;  // all ones if the block begins inside quotes
  uint64_t before = 1;  // whether the byte in front of the block is an edge
  for (size_t block = 0; block < length; block += 64) {
    pf_masks masks = find_masks(text + block, delimiter);
    if (length - block < 64) {
      uint64_t behind = ~0ULL << (length - block);
      masks.quotes &= ~behind;
      masks.feeds &= ~behind;
      masks.edges |= behind;
    }
    uint64_t quoted = prefix_parity(masks.quotes) ^ inside;
    uint64_t next = block + 64 >= length || is_edge(text[block + 64], delimiter);
    uint64_t opening = masks.quotes & quoted;
    uint64_t closing = masks.quotes & ~quoted;
    uint64_t feeds = masks.feeds & ~quoted;
    uint64_t stray =
      (opening & ~(masks.edges << 1 | before)) | (closing & ~(masks.edges >> 1 | next << 63));
    if (stray) {
      // As in pf_csv_split, the next row begins on the next line.
      size_t at = block + (size_t)__builtin_ctzll(stray);
      const uint8_t *feed = memchr(text + at, '\n', length - at);
      if (!feed) return behind_last(block, feeds & ((stray & -stray) - 1), whole);
      whole = (size_t)(feed - text) + 1;
      block = whole - 64;
      inside = 0;
      before = 1;
      continue;
    }
    whole = behind_last(block, feeds, whole);
    inside = 0 - (quoted >> 63);
    before = masks.edges >> 63;
  }
  return whole;
}

size_t pf_csv_whole_rows(const uint8_t *text, size_t length, uint8_t delimiter) {
  if (!memchr(text, '"', length)) return pf_whole_lines(text, length);
  if (delimiter == ',') return whole_rows(text, length, ',');
  return whole_rows(text, length, delimiter);
}

bool pf_csv_ends_in_lone_return(const uint8_t *text, size_t length, bool otherwise) {
  for (size_t at = length; at-- > 0;) {
    if (text[at] != '\r' && text[at] != '\n') return false;
    if (text[at] == '\r' && at + 1 < length && text[at + 1] == '\r') return true;
  }
  return otherwise;
}

// MARK: The cells of a row

// A bit for each of 16 bytes that may end a cell; few others are up to a comma.
PF_INLINE unsigned find_ends(const uint8_t *text, uint8_t delimiter) {
  uint8_t last = delimiter > '"' ? delimiter : '"';
#if defined(__SSE2__)
  __m128i bytes = _mm_loadu_si128((const __m128i *)text);
  __m128i low = _mm_cmpeq_epi8(_mm_min_epu8(bytes, _mm_set1_epi8((char)last)), bytes);
  return (unsigned)_mm_movemask_epi8(low);
#else
  unsigned mask = 0;
  for (unsigned at = 0; at < 16; at++) mask |= (unsigned)(text[at] <= last) << at;
  return mask;
#endif
}

// The first quote from `at` on; `length` if there is none.
static size_t find_quote(const uint8_t *text, size_t length, size_t at) {
#if defined(__SSE2__)
  for (; at < length; at += 16) {
    __m128i bytes = _mm_loadu_si128((const __m128i *)(text + at));
    unsigned mask = (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('"')));
    if (mask == 0) continue;
    at += (size_t)__builtin_ctz(mask);
    break;
  }
#else
  while (at < length && text[at] != '"') at++;
#endif
  return at < length ? at : length;
}

// Finds the end of a cell that begins with a quote at `start`. A cell with doubled quotes is copied
// to `*scratch`, which is moved behind it.
//
// Returns where the closing quote is, `length` if there is none.
static size_t find_quoted_cell(
  const uint8_t *text, size_t length, size_t start, uint8_t **scratch, pf_csv_cell *cell) {
  start++;
  size_t end = find_quote(text, length, start);
  *cell = (pf_csv_cell){text + start, end - start};
  if (end + 1 >= length || text[end + 1] != '"') return end;
  uint8_t *copy = *scratch;
  cell->bytes = copy;
  while (true) {
    bool is_doubled = end + 1 < length && text[end + 1] == '"';
    size_t count = end - start + is_doubled;
    memcpy(copy, text + start, count);
    copy += count;
    if (!is_doubled) break;
    start = end + 2;
    end = find_quote(text, length, start);
  }
  cell->length = (size_t)(copy - cell->bytes);
  *scratch = copy;
  return end;
}

static size_t count_line_feeds(const uint8_t *text, size_t length) {
  size_t count = 0;
  for (const uint8_t *end = text + length; text < end && (text = memchr(text, '\n', end - text));
       text++)
    count++;
  return count;
}

PF_INLINE void split(
  const uint8_t *text, size_t length, uint8_t delimiter, pf_csv_cell *cells, size_t capacity,
  uint8_t *scratch, pf_csv_row *row) {
  const uint8_t *const scratch_start = scratch;
  size_t count = 0;
  size_t start = 0;
  size_t at = length;
  size_t used = length;
  bool has_quotes = false;
  row->status = PF_CSV_ROW;
  row->ends_in_lone_return = false;

cell:
  if (start < length && text[start] == '"') {
    has_quotes = true;
    pf_csv_cell cell;
    at = find_quoted_cell(text, length, start, &scratch, &cell);
    if (count < capacity) cells[count] = cell;
    count++;
    if (at == length) {
      row->status = PF_CSV_OPEN_QUOTE;
      goto done;
    }
    at++;
    if (at == length) goto done;
    if (text[at] == delimiter) {
      start = at + 1;
      goto cell;
    }
    if (text[at] == '\n' || text[at] == '\r') goto line_end;
    goto stray_quote;
  }
  for (size_t block = start; block < length; block += 16) {
    for (unsigned mask = find_ends(text + block, delimiter); mask != 0; mask &= mask - 1) {
      at = block + (size_t)__builtin_ctz(mask);
      if (at >= length) goto text_end;
      uint8_t byte = text[at];
      if (byte == delimiter) {
        if (count < capacity) cells[count] = (pf_csv_cell){text + start, at - start};
        count++;
        start = at + 1;
      } else if (byte == '\n' || byte == '\r') {
        if (at > 0) {
          if (count < capacity) cells[count] = (pf_csv_cell){text + start, at - start};
          count++;
        }
        goto line_end;
      } else if (byte == '"') {
        if (at == start) goto cell;
        goto stray_quote;
      }
    }
  }
text_end:
  if (count < capacity) cells[count] = (pf_csv_cell){text + start, length - start};
  count++;
  goto done;

line_end:
  used = at + 1;
  if (text[at] == '\r' && used < length) {
    if (text[used] == '\n')
      used++;
    else
      row->ends_in_lone_return = true;
  }
  goto done;

stray_quote : {
  const uint8_t *feed = memchr(text + at, '\n', length - at);
  if (feed) used = (size_t)(feed - text) + 1;
  row->status = PF_CSV_STRAY_QUOTE;
  row->ends_in_lone_return = pf_csv_ends_in_lone_return(text + at, used - at, false);
}

done:
  row->length = used;
  row->cell_count = count;
  row->line_feeds = has_quotes ? count_line_feeds(text, used) : text[used - 1] == '\n';
  row->is_verbatim = scratch == scratch_start;
}

void pf_csv_split(
  const uint8_t *text, size_t length, uint8_t delimiter, pf_csv_cell *cells, size_t capacity,
  uint8_t *scratch, pf_csv_row *row) {
  if (delimiter == ',')
    split(text, length, ',', cells, capacity, scratch, row);
  else
    split(text, length, delimiter, cells, capacity, scratch, row);
}
