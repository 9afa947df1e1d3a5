#include <string.h>

#include "CPushKernels.h"

// XXH64 with the seed 0. Source: the xxHash specification, version 0.1.1, by Yann Collet. Four
// independent lanes, so that the speed is limited by reading memory, not by the arithmetic.

static const uint64_t P1 = 0x9E3779B185EBCA87u, P2 = 0xC2B2AE3D27D4EB4Fu, P3 = 0x165667B19E3779F9u,
                      P4 = 0x85EBCA77C2B2AE63u, P5 = 0x27D4EB2F165667C5u;

static inline uint64_t rotate(uint64_t value, int bits) {
  return value << bits | value >> (64 - bits);
}

// The specification reads integers little-endian.
static inline uint64_t word(const uint8_t *bytes) {
  uint64_t value;
  memcpy(&value, bytes, 8);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  value = __builtin_bswap64(value);
#endif
  return value;
}

static inline uint32_t half(const uint8_t *bytes) {
  uint32_t value;
  memcpy(&value, bytes, 4);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  value = __builtin_bswap32(value);
#endif
  return value;
}

static inline uint64_t round_of(uint64_t lane, uint64_t input) {
  return rotate(lane + input * P2, 31) * P1;
}

static inline uint64_t merge(uint64_t sum, uint64_t lane) {
  return (sum ^ round_of(0, lane)) * P1 + P4;
}

uint64_t pk_checksum(const uint8_t *bytes, size_t count) {
  const uint8_t *end = bytes + count;
  uint64_t sum = P5;
  if (count >= 32) {
    uint64_t a = P1 + P2, b = P2, c = 0, d = 0 - P1;
    for (; end - bytes >= 32; bytes += 32) {
      a = round_of(a, word(bytes));
      b = round_of(b, word(bytes + 8));
      c = round_of(c, word(bytes + 16));
      d = round_of(d, word(bytes + 24));
    }
    sum = rotate(a, 1) + rotate(b, 7) + rotate(c, 12) + rotate(d, 18);
    sum = merge(merge(merge(merge(sum, a), b), c), d);
  }
  sum += count;
  for (; end - bytes >= 8; bytes += 8)
    sum = rotate(sum ^ round_of(0, word(bytes)), 27) * P1 + P4;
  if (end - bytes >= 4) {
    sum = rotate(sum ^ half(bytes) * P1, 23) * P2 + P3;
    bytes += 4;
  }
  for (; bytes < end; bytes++) sum = rotate(sum ^ *bytes * P5, 11) * P1;
  sum = (sum ^ sum >> 33) * P2;
  sum = (sum ^ sum >> 29) * P3;
  return sum ^ sum >> 32;
}
