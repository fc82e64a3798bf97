/* Reads see the page cache, as always; only that O_DIRECT is asked for with memory that it can use is seen to here. */
#define _GNU_SOURCE
#include "Preload.h"

#include <errno.h>

/* Whether the kernel would refuse it. */
static bool isRefused(int file, const void *bytes, size_t count, off_t offset) {
    struct FaultyDisk_Descriptor descriptor;
    if (!FaultyDisk_enter(file, &descriptor)) return false;
    FaultyDisk_unlock();
    uint64_t unit = (uint64_t)FaultyDisk_trait(FaultyDisk_preloaded(), FaultyDisk_directAlignment);
    if (!(descriptor.flags & FaultyDisk_isDirect) || unit == 0) return false;
    return (uintptr_t)bytes % unit != 0 || count % unit != 0 || (uint64_t)offset % unit != 0;
}

FaultyDisk_exported ssize_t read(int file, void *bytes, size_t count) {
    if (!isRefused(file, bytes, count, 0)) return syscall(SYS_read, file, bytes, count);
    errno = EINVAL;
    return -1;
}

FaultyDisk_exported ssize_t pread64(int file, void *bytes, size_t count, off_t offset) {
    if (!isRefused(file, bytes, count, offset)) return FaultyDisk_rawRead(file, bytes, count, offset);
    errno = EINVAL;
    return -1;
}

FaultyDisk_exported ssize_t pread(int file, void *bytes, size_t count, off_t offset) __attribute__((alias("pread64")));
