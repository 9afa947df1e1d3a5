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

size_t pf_compact(uint8_t *codes, uint32_t *users, size_t count) {
  size_t kept = 0;
  for (size_t index = 0; index < count; index++) {
    codes[kept] = codes[index];
    users[kept] = users[index];
    kept += codes[index] != 0;
  }
  return kept;
}

void pf_fill(uint32_t *numbers, size_t count, uint32_t number) {
  for (size_t index = 0; index < count; index++) numbers[index] = number;
}
