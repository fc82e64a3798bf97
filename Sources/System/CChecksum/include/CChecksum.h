/* The checksum of the log's batches: CRC-32C (Castagnoli), as in iSCSI and ext4. None of the Debian libraries that the
 * daemon needs anyway provides it, and Swift cannot use the processor's instruction for it. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Extends the checksum `checksum` of preceding bytes by `length` bytes; 0 begins a new one. */
uint32_t CChecksum_crc32c(uint32_t checksum, const void *_Nullable bytes, size_t length);

/* Computes the same with the table only, as on a processor without the instruction; for the tests. */
uint32_t CChecksum_crc32c_by_table(uint32_t checksum, const void *_Nullable bytes, size_t length);
