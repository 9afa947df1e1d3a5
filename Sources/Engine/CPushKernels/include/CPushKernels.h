// The engine's loops over members, two of them in plain C and in vector instructions, and the
// checksum of snapshots. The variant is selected once, by the features of the processor. Tests
// compare every variant with the same loop in Swift.
#ifndef CPUSHKERNELS_H
#define CPUSHKERNELS_H

#include <stddef.h>
#include <stdint.h>

// for i in 0..<count: output[i] = table[input[i]]. The table has 256 bytes.
void pk_map(const uint8_t *table, const uint8_t *input, uint8_t *output, size_t count);

// for i in 0..<count: bit i of words = the lowest bit of table[input[i]]. Bits beyond count in the
// last word are 0.
void pk_bits(const uint8_t *table, const uint8_t *input, uint64_t *words, size_t count);

// For each of count keys, which other threads may change: its state is
// states[phase << 10 | key & 1023], where phase is phases[key >> 10], or 0 beyond phaseCount, and
// the number of that state in histogram is incremented. The first stateCount numbers of histogram
// are set to 0 first; all states are below. The states are stored too, unless output is null.
void pk_count(const uint32_t *keys, size_t count, const uint8_t *phases, size_t phaseCount,
              const uint8_t *states, uint32_t *histogram, size_t stateCount, uint8_t *output);

// The same for keys in pages of pageSize, count of them from pages[0][offset] on. The numbers are
// added to histogram.
void pk_count_pages(const uint32_t *const *pages, size_t pageSize, size_t offset, size_t count,
                    const uint8_t *phases, size_t phaseCount, const uint8_t *states,
                    uint32_t *histogram, size_t stateCount, uint8_t *output);

// The sum of the numbers in histogram of the states whose code is odd, from `from` on.
uint32_t pk_sum_odd(const uint32_t *histogram, const uint8_t *codes, size_t from, size_t stateCount);

// The first index from `from` on whose key has the base 0; count for none.
size_t pk_find_unresolved(const uint32_t *keys, size_t from, size_t count);

// pk_map and pk_bits by a variant: 0 plain, 1 AVX2, 2 AVX-512 VBMI. For tests; the processor must support it.
void pk_map_by(int variant, const uint8_t *table, const uint8_t *input, uint8_t *output, size_t count);
void pk_bits_by(int variant, const uint8_t *table, const uint8_t *input, uint64_t *words, size_t count);

// Asks the processor to load the cache line of an address, which need not be valid.
static inline void pk_prefetch(const void *address) { __builtin_prefetch(address); }

// The XXH64 checksum of bytes, with the seed 0.
uint64_t pk_checksum(const uint8_t *bytes, size_t count);

// The fastest variant that this processor supports.
int pk_best_variant(void);

// How many cores this process may use: those that taskset or a cpuset leaves, and no more than the
// quota of its control group.
size_t pk_core_count(void);

// The cores that the quotas of a control group and of those around it allow; 0 for no quota. The root
// is where groups are mounted, and the group begins with "/".
size_t pk_quota_cores(const char *root, const char *group);

#endif
