#define _GNU_SOURCE
#include "Model.h"

#include <stdio.h>
#include <string.h>

/* A sector of a file; bytes beyond the end of the file read as zeros, as in a hole. */
static void readSector(int file, int64_t index, uint8_t bytes[static FaultyDisk_sectorSize]) {
    memset(bytes, 0, FaultyDisk_sectorSize);
    FaultyDisk_rawRead(file, bytes, FaultyDisk_sectorSize, index * FaultyDisk_sectorSize);
}

/* Bytes of a sector that are still to be truncated on the platter count as zeros. */
static void cutOff(const struct FaultyDisk_Node *node, int64_t index, uint8_t bytes[static FaultyDisk_sectorSize]) {
    int64_t kept = node->shrunkTo - index * FaultyDisk_sectorSize;
    if (node->shrunkTo < 0 || kept >= FaultyDisk_sectorSize) return;
    if (kept < 0) kept = 0;
    memset(bytes + kept, 0, (size_t)(FaultyDisk_sectorSize - kept));
}

/* The number of sectors of a file that differ although they are neither dirty nor forgotten. */
static int64_t auditFile(FaultyDisk *disk, int node, char *text, size_t length) {
    struct FaultyDisk_Handle *handle = &disk->handles[node];
    struct stat facts;
    if (fstat(handle->file, &facts) != 0) return 0;
    int64_t wrong = 0, end = (facts.st_size + FaultyDisk_sectorSize - 1) / FaultyDisk_sectorSize;
    for (int64_t index = 0; index < end; index++) {
        if (handle->marks[index] & (FaultyDisk_dirty | FaultyDisk_forgotten)) continue;
        uint8_t cached[FaultyDisk_sectorSize], stored[FaultyDisk_sectorSize];
        readSector(handle->file, index, cached);
        readSector(handle->platter, index, stored);
        cutOff(&disk->state->nodes[node], index, stored);
        /* The last sector ends with the file; on the platter more bytes may follow, which are to be truncated. */
        int64_t used = facts.st_size - index * FaultyDisk_sectorSize;
        if (memcmp(cached, stored, used < FaultyDisk_sectorSize ? (size_t)used : FaultyDisk_sectorSize) == 0) continue;
        if (wrong == 0 && !*text) {
            snprintf(text, length, "sector %lld of %s", (long long)index, disk->state->nodes[node].label);
        }
        wrong += 1;
    }
    return wrong;
}

static int64_t total(FaultyDisk *disk, int64_t (*count)(FaultyDisk *, int, char *, size_t), char *text, size_t length) {
    if (FaultyDisk_scan(disk) != 0) return -1;
    int64_t total = 0;
    for (int node = 0; node < FaultyDisk_nodesMax; node++) {
        if (disk->handles[node].isOpen && !disk->state->nodes[node].isMapped) total += count(disk, node, text, length);
        FaultyDisk_closeHandle(disk, node);
    }
    return total;
}

int64_t FaultyDisk_audit(FaultyDisk *disk, char *text, size_t length) {
    *text = 0;
    return total(disk, auditFile, text, length);
}

static int64_t countUnsafe(FaultyDisk *disk, int node, char *text, size_t length) {
    (void)text, (void)length;
    return FaultyDisk_countMarks(disk, node, FaultyDisk_dirty | FaultyDisk_forgotten);
}

int64_t FaultyDisk_unsafeSectors(FaultyDisk *disk) { return total(disk, countUnsafe, NULL, 0); }
