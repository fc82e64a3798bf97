/* The checksum of the log's batches: CRC-32C (Castagnoli), as iSCSI and ext4 have it. No library of Debian's that the
 * daemon needs anyway has it, and Swift cannot reach the processor's instruction for it. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* The checksum of `length` bytes that follow what has the checksum `checksum`; 0 for nothing yet. */
uint32_t CChecksum_crc32c(uint32_t checksum, const void *_Nullable bytes, size_t length);

/* The same by the table alone, as on a processor without the instruction: for the tests. */
uint32_t CChecksum_crc32c_by_table(uint32_t checksum, const void *_Nullable bytes, size_t length);
