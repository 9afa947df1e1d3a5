// The two loops over members that a processor's wide instructions make many times faster. Each does
// what a line of Swift would do, and is tested against it; which one runs is chosen once, by what
// the processor can. And the checksum of files.
#ifndef CPUSHKERNELS_H
#define CPUSHKERNELS_H

#include <stddef.h>
#include <stdint.h>

// output[i] = table[input[i]]; the table has 256 bytes.
void pk_map(const uint8_t *table, const uint8_t *input, uint8_t *output, size_t count);

// Bit i of words = the lowest bit of table[input[i]]; the bits behind the last are 0.
void pk_bits(const uint8_t *table, const uint8_t *input, uint64_t *words, size_t count);

// The same in each of the ways there are: 0 plain, 1 AVX2, 2 AVX-512 VBMI. Only for tests; the
// processor must be able to.
void pk_map_by(int way, const uint8_t *table, const uint8_t *input, uint8_t *output, size_t count);
void pk_bits_by(int way, const uint8_t *table, const uint8_t *input, uint64_t *words, size_t count);

// XXH64 of bytes, the seed being 0.
uint64_t pk_checksum(const uint8_t *bytes, size_t count);

// The best way of this processor.
int pk_best_way(void);

#endif
