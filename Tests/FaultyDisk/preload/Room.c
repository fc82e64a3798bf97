#define _GNU_SOURCE
#include "Preload.h"

#include <errno.h>

/* With the disk held. */
int FaultyDisk_truncate(int node, off_t length) {
    FaultyDisk *disk = FaultyDisk_preloaded();
    int file = disk->handles[node].file;
    struct FaultyDisk_Verdict verdict = FaultyDisk_ask(FaultyDisk_writes, node, NULL, false);
    if (verdict.error) {
        errno = verdict.error;
        return -1;
    }
    struct stat facts;
    if (length >= 0 && fstat(file, &facts) == 0 && length < facts.st_size) FaultyDisk_shrink(disk, node, length);
    int result = FaultyDisk_rawTruncate(file, length), error = errno;
    FaultyDisk_finish(&verdict, node);
    errno = error;
    return result;
}

FaultyDisk_exported int ftruncate64(int file, off_t length) {
    struct FaultyDisk_Descriptor descriptor;
    if (!FaultyDisk_enter(file, &descriptor)) return FaultyDisk_rawTruncate(file, length);
    int result = FaultyDisk_truncate(descriptor.node, length), error = errno;
    FaultyDisk_unlock();
    errno = error;
    return result;
}

FaultyDisk_exported int truncate64(const char *path, off_t length) {
    FaultyDisk *disk = FaultyDisk_preloaded();
    if (!disk) return (int)syscall(SYS_truncate, path, length);
    FaultyDisk_lock();
    struct FaultyDisk_Place place;
    struct stat facts;
    bool isHere = FaultyDisk_resolve(AT_FDCWD, path, true, &place) && stat(path, &facts) == 0;
    int node = isHere ? FaultyDisk_findNode(disk, &facts) : -1;
    bool isKnown = node >= 0 && disk->handles[node].isOpen;
    int result = isKnown ? FaultyDisk_truncate(node, length) : (int)syscall(SYS_truncate, path, length);
    int error = errno;
    FaultyDisk_unlock();
    errno = error;
    return result;
}

/* Allocates or frees space: returns 0 or the errno. */
static int allocate(const struct FaultyDisk_Descriptor *descriptor, int file, int mode, off_t offset, off_t length) {
    FaultyDisk *disk = FaultyDisk_preloaded();
    bool isPlain = (mode & ~FALLOC_FL_KEEP_SIZE) == 0;
    bool isCleared = mode & (FALLOC_FL_ZERO_RANGE | FALLOC_FL_PUNCH_HOLE);
    if (!isPlain && !isCleared) FaultyDisk_complain(disk, "fallocate", disk->state->nodes[descriptor->node].label);
    bool allocates = !(mode & FALLOC_FL_PUNCH_HOLE)
                     && !FaultyDisk_isAllocated(disk, descriptor->node, offset, offset + length);
    struct FaultyDisk_Verdict verdict = FaultyDisk_ask(FaultyDisk_writes, descriptor->node, NULL, allocates);
    if (verdict.error) return verdict.error;
    if (isCleared) FaultyDisk_markDirty(disk, descriptor->node, offset, offset + length);
    int error = syscall(SYS_fallocate, file, mode, offset, length) == 0 ? 0 : errno;
    bool isMade = error == 0 && !(mode & FALLOC_FL_PUNCH_HOLE);
    if (isMade) FaultyDisk_markAllocated(disk, descriptor->node, offset, offset + length);
    FaultyDisk_finish(&verdict, descriptor->node);
    return error;
}

FaultyDisk_exported int fallocate64(int file, int mode, off_t offset, off_t length) {
    struct FaultyDisk_Descriptor descriptor;
    if (offset < 0 || length <= 0 || !FaultyDisk_enter(file, &descriptor)) {
        return (int)syscall(SYS_fallocate, file, mode, offset, length);
    }
    int error = allocate(&descriptor, file, mode, offset, length);
    FaultyDisk_unlock();
    if (error == 0) return 0;
    errno = error;
    return -1;
}

FaultyDisk_exported int posix_fallocate64(int file, off_t offset, off_t length) {
    int error = errno, result = fallocate64(file, 0, offset, length) == 0 ? 0 : errno;
    errno = error;
    return result;
}

FaultyDisk_exported int ftruncate(int file, off_t length) __attribute__((alias("ftruncate64")));
FaultyDisk_exported int truncate(const char *path, off_t length) __attribute__((alias("truncate64")));
FaultyDisk_exported int fallocate(int file, int mode, off_t offset, off_t length) __attribute__((alias("fallocate64")));
FaultyDisk_exported int posix_fallocate(int file, off_t offset, off_t length)
    __attribute__((alias("posix_fallocate64")));
