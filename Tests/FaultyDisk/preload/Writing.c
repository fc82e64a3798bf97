#define _GNU_SOURCE
#include "Preload.h"

#include <errno.h>
#include <string.h>
#include <sys/sendfile.h>

static int64_t lengthOf(const struct iovec *parts, int count) {
    int64_t length = 0;
    for (int index = 0; index < count; index++) length += (int64_t)parts[index].iov_len;
    return length;
}

/* The offset of a write; -1: the descriptor's position. */
static int64_t beginning(int file, const struct FaultyDisk_Descriptor *descriptor, off_t offset) {
    struct stat facts;
    if (descriptor->flags & FaultyDisk_isAppending) return fstat(file, &facts) == 0 ? facts.st_size : 0;
    return offset >= 0 ? offset : lseek(file, 0, SEEK_CUR);
}

static bool isAligned(const struct iovec *parts, int count, int64_t from) {
    int64_t unit = FaultyDisk_trait(FaultyDisk_preloaded(), FaultyDisk_directAlignment);
    if (from % unit != 0) return false;
    for (int index = 0; index < count; index++) {
        if ((uintptr_t)parts[index].iov_base % (uintptr_t)unit || parts[index].iov_len % (size_t)unit) return false;
    }
    return true;
}

/* The first half of the bytes to write, in whole units if needed. The caller holds the lock. */
static int shorten(const struct iovec **parts, int count, unsigned flags) {
    static struct iovec half[IOV_MAX];
    bool isDirect = flags & FaultyDisk_isDirect;
    int64_t unit = isDirect ? FaultyDisk_trait(FaultyDisk_preloaded(), FaultyDisk_directAlignment) : 1;
    int64_t rest = lengthOf(*parts, count) / 2 / unit * unit;
    if (rest == 0 || count > IOV_MAX) return count;
    int kept = 0;
    while (rest > 0) {
        half[kept] = (*parts)[kept];
        if ((int64_t)half[kept].iov_len > rest) half[kept].iov_len = (size_t)rest;
        rest -= (int64_t)half[kept].iov_len;
        kept += 1;
    }
    *parts = half;
    return kept;
}

/* Follows up a write that has reached the page cache: `count` is its result. */
static ssize_t complete(
    const struct FaultyDisk_Verdict *verdict, const struct FaultyDisk_Descriptor *descriptor, int64_t from,
    ssize_t count, bool isSynchronous) {
    FaultyDisk *disk = FaultyDisk_preloaded();
    if (count <= 0) {
        int error = errno;
        FaultyDisk_finish(verdict, descriptor->node);
        errno = error;
        return count;
    }
    FaultyDisk_markAllocated(disk, descriptor->node, from, from + count);
    FaultyDisk_add(disk, FaultyDisk_writeCount, 1);
    FaultyDisk_add(disk, FaultyDisk_byteCount, count);
    FaultyDisk_noteBytes(disk, disk->state->nodes[descriptor->node].label, count);
    FaultyDisk_finish(verdict, descriptor->node);
    int error = isSynchronous ? FaultyDisk_sync(descriptor->node, FaultyDisk_ofRange, from, from + count) : 0;
    if (error == 0) return count;
    errno = error;
    return -1;
}

/* With the disk held. */
static ssize_t writeToDisk(
    int file, const struct FaultyDisk_Descriptor *descriptor, const struct iovec *parts, int count, off_t offset,
    int flags) {
    FaultyDisk *disk = FaultyDisk_preloaded();
    int64_t from = beginning(file, descriptor, offset), length = lengthOf(parts, count);
    if (descriptor->flags & FaultyDisk_isDirect && !isAligned(parts, count, from)) {
        errno = EINVAL;
        return -1;
    }
    bool allocates = !FaultyDisk_isAllocated(disk, descriptor->node, from, from + length);
    struct FaultyDisk_Verdict verdict = FaultyDisk_ask(FaultyDisk_writes, descriptor->node, NULL, allocates);
    if (verdict.error) {
        errno = verdict.error;
        return -1;
    }
    if (verdict.isShort) count = shorten(&parts, count, descriptor->flags);
    /* Again, because others may have written while a rule made this call wait. */
    from = beginning(file, descriptor, offset);
    /* Before the write: a program that is killed in it may have changed any of these sectors. */
    FaultyDisk_markDirty(disk, descriptor->node, from, from + lengthOf(parts, count));
    ssize_t written = syscall(SYS_pwritev2, file, parts, count, offset, 0L, flags & ~(RWF_DSYNC | RWF_SYNC));
    bool isSynchronous = descriptor->flags & FaultyDisk_isSynchronous || flags & (RWF_DSYNC | RWF_SYNC);
    return complete(&verdict, descriptor, from, written, isSynchronous);
}

static ssize_t leave(ssize_t result) {
    int error = errno;
    FaultyDisk_unlock();
    errno = error;
    return result;
}

FaultyDisk_exported ssize_t write(int file, const void *bytes, size_t count) {
    struct FaultyDisk_Descriptor descriptor;
    if (!FaultyDisk_enter(file, &descriptor)) return syscall(SYS_write, file, bytes, count);
    struct iovec part = {(void *)bytes, count};
    return leave(writeToDisk(file, &descriptor, &part, 1, -1, 0));
}

FaultyDisk_exported ssize_t writev(int file, const struct iovec *parts, int count) {
    struct FaultyDisk_Descriptor descriptor;
    if (!FaultyDisk_enter(file, &descriptor)) return syscall(SYS_writev, file, parts, count);
    return leave(writeToDisk(file, &descriptor, parts, count, -1, 0));
}

FaultyDisk_exported ssize_t pwrite64(int file, const void *bytes, size_t count, off_t offset) {
    struct FaultyDisk_Descriptor descriptor;
    /* A negative value: the system call reports the error. */
    if (offset < 0 || !FaultyDisk_enter(file, &descriptor)) return FaultyDisk_rawWrite(file, bytes, count, offset);
    struct iovec part = {(void *)bytes, count};
    return leave(writeToDisk(file, &descriptor, &part, 1, offset, 0));
}

FaultyDisk_exported ssize_t pwritev64(int file, const struct iovec *parts, int count, off_t offset) {
    struct FaultyDisk_Descriptor descriptor;
    if (offset < 0 || !FaultyDisk_enter(file, &descriptor)) return syscall(SYS_pwritev, file, parts, count, offset, 0L);
    return leave(writeToDisk(file, &descriptor, parts, count, offset, 0));
}

FaultyDisk_exported ssize_t pwritev64v2(int file, const struct iovec *parts, int count, off_t offset, int flags) {
    struct FaultyDisk_Descriptor descriptor;
    if (offset < -1 || !FaultyDisk_enter(file, &descriptor)) {
        return syscall(SYS_pwritev2, file, parts, count, offset, 0L, flags);
    }
    return leave(writeToDisk(file, &descriptor, parts, count, offset, flags));
}

/* A copy by the kernel, which writes at most `length` bytes. */
static ssize_t copyToDisk(
    const struct FaultyDisk_Descriptor *descriptor, int64_t from, size_t length, ssize_t (*copy)(void *), void *call) {
    FaultyDisk *disk = FaultyDisk_preloaded();
    bool allocates = !FaultyDisk_isAllocated(disk, descriptor->node, from, from + (int64_t)length);
    struct FaultyDisk_Verdict verdict = FaultyDisk_ask(FaultyDisk_writes, descriptor->node, NULL, allocates);
    if (verdict.error) {
        errno = verdict.error;
        return -1;
    }
    FaultyDisk_markDirty(disk, descriptor->node, from, from + (int64_t)length);
    return complete(&verdict, descriptor, from, copy(call), descriptor->flags & FaultyDisk_isSynchronous);
}

struct RangeCopy {
    int from, to;
    off64_t *source, *target;
    size_t length;
    unsigned flags;
};

static ssize_t copyRange(void *argument) {
    struct RangeCopy *call = argument;
    return syscall(SYS_copy_file_range, call->from, call->source, call->to, call->target, call->length, call->flags);
}

FaultyDisk_exported ssize_t copy_file_range(
    int from, off64_t *source, int to, off64_t *target, size_t length, unsigned flags) {
    struct RangeCopy call = {from, to, source, target, length, flags};
    struct FaultyDisk_Descriptor descriptor;
    if (!FaultyDisk_enter(to, &descriptor)) return copyRange(&call);
    int64_t position = target ? *target : lseek(to, 0, SEEK_CUR);
    return leave(copyToDisk(&descriptor, position, length, copyRange, &call));
}

static ssize_t sendRange(void *argument) {
    struct RangeCopy *call = argument;
    return syscall(SYS_sendfile, call->to, call->from, call->source, call->length);
}

FaultyDisk_exported ssize_t sendfile64(int to, int from, off64_t *source, size_t length) {
    struct RangeCopy call = {from, to, source, NULL, length, 0};
    struct FaultyDisk_Descriptor descriptor;
    if (!FaultyDisk_enter(to, &descriptor)) return sendRange(&call);
    return leave(copyToDisk(&descriptor, lseek(to, 0, SEEK_CUR), length, sendRange, &call));
}

FaultyDisk_exported ssize_t pwrite(int file, const void *bytes, size_t count, off_t offset)
    __attribute__((alias("pwrite64")));
FaultyDisk_exported ssize_t pwritev(int file, const struct iovec *parts, int count, off_t offset)
    __attribute__((alias("pwritev64")));
FaultyDisk_exported ssize_t pwritev2(int file, const struct iovec *parts, int count, off_t offset, int flags)
    __attribute__((alias("pwritev64v2")));
FaultyDisk_exported ssize_t sendfile(int to, int from, off_t *source, size_t length)
    __attribute__((alias("sendfile64")));
