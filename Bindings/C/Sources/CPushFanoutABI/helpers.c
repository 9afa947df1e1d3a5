#include <string.h>

#include "push_fanout_functions.h"

void pf_pack_pushes(const uint8_t *codes, size_t count, uint8_t *bitmap) {
  size_t index = 0;
  for (; index + 8 <= count; index += 8) {
    uint64_t word;
    memcpy(&word, codes + index, 8);
    /* Moves the lowest bit of each byte to the highest byte, the first lowest. */
    bitmap[index / 8] =
      (uint8_t)(((word & UINT64_C(0x0101010101010101)) * UINT64_C(0x0102040810204080)) >> 56);
  }
  if (index < count) {
    uint8_t last = 0;
    for (size_t bit = 0; index + bit < count; bit++) last |= (uint8_t)((codes[index + bit] & 1) << bit);
    bitmap[index / 8] = last;
  }
}

/* Whether a byte is zero. */
static int has_zero(uint64_t word) {
  return ((word - UINT64_C(0x0101010101010101)) & ~word & UINT64_C(0x8080808080808080)) != 0;
}

/* Moves the codes that are not 0 and their elements, which have `size` bytes, to the beginning. Where
** there are two places for elements, `to` has room for all. */
static inline size_t keep(uint8_t *codes, char *to, const char *from, size_t size, size_t count) {
  size_t kept = 0, index = 0;
  while (index < count) {
    uint64_t word = 0;
    if (index + 8 <= count) memcpy(&word, codes + index, 8);
    if (!has_zero(word)) {
      memcpy(codes + kept, &word, 8);
      memmove(to + kept * size, from + index * size, 8 * size);
      kept += 8;
      index += 8;
      continue;
    }
    for (size_t end = index + 8 < count ? index + 8 : count; index < end; index++) {
      uint8_t code = codes[index];
      codes[kept] = code;
      memmove(to + kept * size, from + index * size, size);
      kept += code != 0;
    }
  }
  return kept;
}

size_t pf_keep_numbers(uint8_t *codes, uint32_t *numbers, size_t count) {
  return keep(codes, (char *)numbers, (const char *)numbers, sizeof *numbers, count);
}

size_t pf_keep_views(uint8_t *codes, const void *views, void *kept, size_t count) {
  return keep(codes, kept, views, 16, count);
}

void pf_fill(uint32_t *numbers, size_t count, uint32_t number) {
  for (size_t index = 0; index < count; index++) numbers[index] = number;
}
