#include "CPushKernels.h"

#include <string.h>

// map:  for i in 0..<count: output[i] = table[input[i]]
//
// bits: for i in 0..<count: words[i / 64] |= (table[input[i]] & 1) << (i % 64)
//
// Both are a look-up in a table of 256 bytes, and differ in what they store. The variants:
//
// 1. Plain: one load from the table per byte.
// 2. AVX2: 32 bytes at once. `pshufb` looks up 16 bytes, so the table is split into 16 tables of 16
//    (by the upper four bits of the index); the right one of 16 results is selected by comparison.
// 3. AVX-512 VBMI: 64 bytes at once. `vpermi2b` looks up 128 bytes, so two look-ups cover the table,
//    selected by the highest bit of the index.
//
// What remains after the last full vector is done by the plain variant.

static void map_plain(const uint8_t *table, const uint8_t *input, uint8_t *output, size_t count) {
  for (size_t i = 0; i < count; i++) output[i] = table[input[i]];
}

// One word: the bits of up to 64 bytes.
static uint64_t word_plain(const uint8_t *table, const uint8_t *input, size_t count) {
  uint64_t word = 0;
  for (size_t i = 0; i < count; i++) word |= (uint64_t)(table[input[i]] & 1) << i;
  return word;
}

static void bits_plain(const uint8_t *table, const uint8_t *input, uint64_t *words, size_t count) {
  for (size_t i = 0; i < count; i += 64)
    words[i / 64] = word_plain(table, input + i, count - i < 64 ? count - i : 64);
}

#if defined(__x86_64__)
#include <immintrin.h>

// 16 look-ups by the lower four bits of the index; the upper four select the result.
__attribute__((target("avx2"))) static inline __m256i look_up_avx2(const __m256i *tables,
                                                                   __m256i index) {
  const __m256i nibble = _mm256_set1_epi8(0x0F);
  __m256i low = _mm256_and_si256(index, nibble);
  __m256i high = _mm256_and_si256(_mm256_srli_epi16(index, 4), nibble);
  __m256i result = _mm256_setzero_si256();
  for (int k = 0; k < 16; k++) {
    __m256i found = _mm256_shuffle_epi8(tables[k], low);
    __m256i chosen = _mm256_cmpeq_epi8(high, _mm256_set1_epi8((char)k));
    result = _mm256_or_si256(result, _mm256_and_si256(found, chosen));
  }
  return result;
}

__attribute__((target("avx2"))) static void load_avx2(const uint8_t *table, __m256i *tables) {
  for (int k = 0; k < 16; k++)
    tables[k] = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)(table + 16 * k)));
}

__attribute__((target("avx2"))) static void map_avx2(const uint8_t *table, const uint8_t *input,
                                                     uint8_t *output, size_t count) {
  __m256i tables[16];
  load_avx2(table, tables);
  size_t i = 0;
  for (; i + 32 <= count; i += 32) {
    __m256i index = _mm256_loadu_si256((const __m256i *)(input + i));
    _mm256_storeu_si256((__m256i *)(output + i), look_up_avx2(tables, index));
  }
  map_plain(table, input + i, output + i, count - i);
}

__attribute__((target("avx2"))) static void bits_avx2(const uint8_t *table, const uint8_t *input,
                                                      uint64_t *words, size_t count) {
  __m256i tables[16];
  load_avx2(table, tables);
  size_t i = 0;
  for (; i + 64 <= count; i += 64) {
    uint64_t word = 0;
    for (int half = 0; half < 2; half++) {
      __m256i index = _mm256_loadu_si256((const __m256i *)(input + i + 32 * half));
      // Moves the lowest bit of each byte to the highest, which movemask collects.
      __m256i top = _mm256_slli_epi16(look_up_avx2(tables, index), 7);
      word |= (uint64_t)(uint32_t)_mm256_movemask_epi8(top) << (32 * half);
    }
    words[i / 64] = word;
  }
  if (i < count) words[i / 64] = word_plain(table, input + i, count - i);
}

#define VBMI __attribute__((target("avx512f,avx512bw,avx512vbmi")))

VBMI static inline __m512i look_up_vbmi(const __m512i *tables, __m512i index) {
  __m512i low = _mm512_permutex2var_epi8(tables[0], index, tables[1]);
  __m512i high = _mm512_permutex2var_epi8(tables[2], index, tables[3]);
  return _mm512_mask_blend_epi8(_mm512_movepi8_mask(index), low, high);
}

VBMI static void load_vbmi(const uint8_t *table, __m512i *tables) {
  for (int k = 0; k < 4; k++) tables[k] = _mm512_loadu_si512(table + 64 * k);
}

VBMI static void map_vbmi(const uint8_t *table, const uint8_t *input, uint8_t *output,
                          size_t count) {
  __m512i tables[4];
  load_vbmi(table, tables);
  size_t i = 0;
  for (; i + 64 <= count; i += 64)
    _mm512_storeu_si512(output + i, look_up_vbmi(tables, _mm512_loadu_si512(input + i)));
  map_plain(table, input + i, output + i, count - i);
}

VBMI static void bits_vbmi(const uint8_t *table, const uint8_t *input, uint64_t *words,
                           size_t count) {
  __m512i tables[4];
  load_vbmi(table, tables);
  size_t i = 0;
  for (; i + 64 <= count; i += 64) {
    __m512i found = look_up_vbmi(tables, _mm512_loadu_si512(input + i));
    words[i / 64] = _mm512_test_epi8_mask(found, _mm512_set1_epi8(1));
  }
  if (i < count) words[i / 64] = word_plain(table, input + i, count - i);
}

static int best_variant = 0;

__attribute__((constructor)) static void choose(void) {
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx2")) best_variant = 1;
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512vbmi"))
    best_variant = 2;
}
#else
static int best_variant = 0;
#endif

int pk_best_variant(void) { return best_variant; }

void pk_map_by(int variant, const uint8_t *table, const uint8_t *input, uint8_t *output, size_t count) {
#if defined(__x86_64__)
  if (variant == 2) return map_vbmi(table, input, output, count);
  if (variant == 1) return map_avx2(table, input, output, count);
#endif
  (void)variant;
  map_plain(table, input, output, count);
}

void pk_bits_by(int variant, const uint8_t *table, const uint8_t *input, uint64_t *words,
                size_t count) {
#if defined(__x86_64__)
  if (variant == 2) return bits_vbmi(table, input, words, count);
  if (variant == 1) return bits_avx2(table, input, words, count);
#endif
  (void)variant;
  bits_plain(table, input, words, count);
}

void pk_map(const uint8_t *table, const uint8_t *input, uint8_t *output, size_t count) {
  pk_map_by(best_variant, table, input, output, count);
}

void pk_bits(const uint8_t *table, const uint8_t *input, uint64_t *words, size_t count) {
  pk_bits_by(best_variant, table, input, words, count);
}

static inline uint8_t state(const uint32_t *key, const uint8_t *phases, size_t phaseCount,
                            const uint8_t *states) {
  uint32_t bits = __atomic_load_n(key, __ATOMIC_RELAXED);
  uint32_t schedule = bits >> 10;
  uint32_t phase = schedule < phaseCount ? phases[schedule] : 0;
  return states[phase << 10 | (bits & 1023)];
}

// How many keys are prefetched while as many are counted: those of a conversation that has had no
// message for a while come from memory, of which the processor alone asks for too few lines ahead.
enum { BLOCK = 512, LINE = 64 / sizeof(uint32_t) };

static inline void prefetch_block(const uint32_t *keys, size_t count) {
  if (count > BLOCK) count = BLOCK;
  for (size_t i = 0; i < count; i += LINE) __builtin_prefetch(keys + i);
}

// Members mostly are in the same state as their neighbours. Four histograms, so that the increments
// of neighbours do not wait for each other. Inlined twice: with and without storing states.
__attribute__((always_inline)) static inline void
count_states(const uint32_t *const *pages, size_t pageSize, size_t offset, size_t count,
             const uint8_t *phases, size_t phaseCount, const uint8_t *states, uint32_t *histogram,
             size_t stateCount, uint8_t *output, int stores) {
  uint32_t others[3][256];
  int isSplit = count >= 32;
  if (isSplit) {
    prefetch_block(*pages + offset, pageSize - offset < count ? pageSize - offset : count);
    for (int k = 0; k < 3; k++) memset(others[k], 0, stateCount * sizeof **others);
  }
  while (count > 0) {
    const uint32_t *keys = *pages + offset;
    size_t left = pageSize - offset < count ? pageSize - offset : count;
    size_t run = left < BLOCK ? left : BLOCK;
    size_t i = 0;
    count -= run;
    offset += run;
    if (offset == pageSize) {
      pages++;
      offset = 0;
    }
    if (count > 0)
      prefetch_block(*pages + offset, pageSize - offset < count ? pageSize - offset : count);
    if (isSplit) {
      for (; i + 4 <= run; i += 4) {
        uint8_t first = state(keys + i, phases, phaseCount, states);
        histogram[first]++;
        if (stores) output[i] = first;
        for (int k = 0; k < 3; k++) {
          uint8_t next = state(keys + i + k + 1, phases, phaseCount, states);
          others[k][next]++;
          if (stores) output[i + k + 1] = next;
        }
      }
    }
    for (; i < run; i++) {
      uint8_t last = state(keys + i, phases, phaseCount, states);
      histogram[last]++;
      if (stores) output[i] = last;
    }
    if (stores) output += run;
  }
  if (isSplit)
    for (size_t k = 0; k < stateCount; k++)
      histogram[k] += others[0][k] + others[1][k] + others[2][k];
}

void pk_count(const uint32_t *keys, size_t count, const uint8_t *phases, size_t phaseCount,
              const uint8_t *states, uint32_t *histogram, size_t stateCount, uint8_t *output) {
  memset(histogram, 0, stateCount * sizeof *histogram);
  pk_count_pages(&keys, SIZE_MAX, 0, count, phases, phaseCount, states, histogram, stateCount, output);
}

void pk_count_pages(const uint32_t *const *pages, size_t pageSize, size_t offset, size_t count,
                    const uint8_t *phases, size_t phaseCount, const uint8_t *states,
                    uint32_t *histogram, size_t stateCount, uint8_t *output) {
  if (output)
    count_states(pages, pageSize, offset, count, phases, phaseCount, states, histogram, stateCount,
                 output, 1);
  else
    count_states(pages, pageSize, offset, count, phases, phaseCount, states, histogram, stateCount,
                 NULL, 0);
}

uint32_t pk_sum_odd(const uint32_t *histogram, const uint8_t *codes, size_t from, size_t stateCount) {
  uint32_t sum = 0;
  for (size_t i = from; i < stateCount; i++) sum += histogram[i] & -(uint32_t)(codes[i] & 1);
  return sum;
}

size_t pk_find_unresolved(const uint32_t *keys, size_t from, size_t count) {
  size_t i = from;
  for (; i + 32 <= count; i += 32) {
    uint32_t any = 0;
    for (size_t k = 0; k < 32; k++) any |= (keys[i + k] & 1023) == 0;
    if (any) break;
  }
  while (i < count && (keys[i] & 1023) != 0) i++;
  return i;
}
