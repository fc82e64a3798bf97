/* Reads see the page cache, as always. They fail if a rule says so, and for O_DIRECT with memory that is not aligned. */
#define _GNU_SOURCE
#include "Preload.h"

#include <errno.h>

/* Whether a read fails; sets `errno` then. */
static bool fails(int file, const void *bytes, size_t count, off_t offset) {
    struct FaultyDisk_Descriptor descriptor;
    if (!FaultyDisk_enter(file, &descriptor)) return false;
    struct FaultyDisk_Verdict verdict = FaultyDisk_ask(FaultyDisk_reads, descriptor.node, NULL, false);
    FaultyDisk_unlock();
    errno = verdict.error;
    if (verdict.error != 0) return true;
    uint64_t unit = (uint64_t)FaultyDisk_trait(FaultyDisk_preloaded(), FaultyDisk_directAlignment);
    if (!(descriptor.flags & FaultyDisk_isDirect) || unit == 0) return false;
    errno = EINVAL;
    return (uintptr_t)bytes % unit != 0 || count % unit != 0 || (uint64_t)offset % unit != 0;
}

FaultyDisk_exported ssize_t read(int file, void *bytes, size_t count) {
    return fails(file, bytes, count, 0) ? -1 : syscall(SYS_read, file, bytes, count);
}

FaultyDisk_exported ssize_t pread64(int file, void *bytes, size_t count, off_t offset) {
    return fails(file, bytes, count, offset) ? -1 : FaultyDisk_rawRead(file, bytes, count, offset);
}

FaultyDisk_exported ssize_t pread(int file, void *bytes, size_t count, off_t offset) __attribute__((alias("pread64")));
