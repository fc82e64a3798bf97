#include "CChecksum.h"

#include <string.h>

/* The polynomial, bit-reversed. */
#define POLYNOMIAL 0x82F63B78U

static uint32_t byte_step(uint32_t state, uint8_t byte) {
    state ^= byte;
    for (int bit = 0; bit < 8; bit++) state = (state >> 1) ^ (state & 1 ? POLYNOMIAL : 0);
    return state;
}

/* Eight tables process eight bytes at a time (slicing by 8). They are filled before main, so no thread sees them
 * incomplete. */
static uint32_t table[8][256];

__attribute__((constructor)) static void fill_table(void) {
    for (unsigned index = 0; index < 256; index++) table[0][index] = byte_step(0, (uint8_t)index);
    for (unsigned index = 0; index < 256; index++)
        for (int row = 1; row < 8; row++)
            table[row][index] = (table[row - 1][index] >> 8) ^ table[0][table[row - 1][index] & 0xFF];
}

uint32_t CChecksum_crc32c_by_table(uint32_t checksum, const void *bytes, size_t length) {
    const uint8_t *at = bytes;
    uint32_t state = ~checksum;
    for (; length >= 8; at += 8, length -= 8) {
        state ^= (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
        state = table[7][state & 0xFF] ^ table[6][state >> 8 & 0xFF] ^ table[5][state >> 16 & 0xFF] ^
                table[4][state >> 24] ^ table[3][at[4]] ^ table[2][at[5]] ^ table[1][at[6]] ^ table[0][at[7]];
    }
    for (; length > 0; at++, length--) state = (state >> 8) ^ table[0][(state ^ *at) & 0xFF];
    return ~state;
}

#if defined(__x86_64__)

__attribute__((target("sse4.2"))) static uint32_t by_instruction(uint32_t checksum, const void *bytes, size_t length) {
    const uint8_t *at = bytes;
    uint64_t state = ~checksum;
    for (; length >= 8; at += 8, length -= 8) {
        uint64_t word;
        memcpy(&word, at, 8);
        state = __builtin_ia32_crc32di(state, word);
    }
    for (; length > 0; at++, length--) state = __builtin_ia32_crc32qi((uint32_t)state, *at);
    return ~(uint32_t)state;
}

uint32_t CChecksum_crc32c(uint32_t checksum, const void *bytes, size_t length) {
    return __builtin_cpu_supports("sse4.2") ? by_instruction(checksum, bytes, length)
                                            : CChecksum_crc32c_by_table(checksum, bytes, length);
}

#else

uint32_t CChecksum_crc32c(uint32_t checksum, const void *bytes, size_t length) {
    return CChecksum_crc32c_by_table(checksum, bytes, length);
}

#endif
