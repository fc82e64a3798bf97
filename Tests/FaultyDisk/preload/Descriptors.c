#define _GNU_SOURCE
#include "Preload.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>

enum { descriptorsMax = 1 << 16 };

/* By number: 0 for a descriptor that is not of the disk, else the node plus one and the flags. Read without the lock,
 * so that sockets and pipes do not wait for the disk. */
static _Atomic uint32_t descriptors[descriptorsMax];

static bool isKept(int file) { return file >= 0 && file < descriptorsMax && atomic_load(&descriptors[file]) != 0; }

bool FaultyDisk_enter(int file, struct FaultyDisk_Descriptor *descriptor) {
    FaultyDisk *disk = FaultyDisk_preloaded();
    if (!disk || !isKept(file)) return false;
    FaultyDisk_lock();
    uint32_t kept = atomic_load(&descriptors[file]);
    struct stat facts;
    if (kept != 0 && fstat(file, &facts) == 0) {
        descriptor->node = (int)(kept >> 8) - 1;
        descriptor->flags = kept & 0xff;
        struct FaultyDisk_Node *node = &disk->state->nodes[descriptor->node];
        /* libc may have closed the descriptor itself, and another file may have its number. */
        if (node->inode == facts.st_ino && node->device == facts.st_dev) return true;
        atomic_store(&descriptors[file], 0);
    }
    FaultyDisk_unlock();
    return false;
}

void FaultyDisk_keepDescriptor(int file, struct FaultyDisk_Descriptor descriptor) {
    if (file >= descriptorsMax) {
        FaultyDisk_complain(FaultyDisk_preloaded(), "too many descriptors", "the program");
        abort();
    }
    atomic_store(&descriptors[file], (uint32_t)(descriptor.node + 1) << 8 | descriptor.flags);
}

void FaultyDisk_dropDescriptor(int file) {
    if (file >= 0 && file < descriptorsMax) atomic_store(&descriptors[file], 0);
}

void FaultyDisk_dropIfGone(int node) {
    FaultyDisk *disk = FaultyDisk_preloaded();
    struct stat facts;
    if (!disk->handles[node].isOpen || fstat(disk->handles[node].file, &facts) != 0 || facts.st_nlink > 0) return;
    for (int file = 0; file < descriptorsMax; file++) {
        if ((int)(atomic_load(&descriptors[file]) >> 8) - 1 == node) return;
    }
    FaultyDisk_loseFile(disk, node);
}

FaultyDisk_exported int close(int file) {
    struct FaultyDisk_Descriptor descriptor;
    if (!FaultyDisk_enter(file, &descriptor)) return FaultyDisk_rawClose(file);
    FaultyDisk_dropDescriptor(file);
    int result = FaultyDisk_rawClose(file), error = errno;
    FaultyDisk_dropIfGone(descriptor.node);
    FaultyDisk_unlock();
    errno = error;
    return result;
}

/* A copy belongs to the disk when the original does. */
static int keepCopy(int copy, const struct FaultyDisk_Descriptor *descriptor) {
    int error = errno;
    if (copy >= 0) FaultyDisk_keepDescriptor(copy, *descriptor);
    FaultyDisk_unlock();
    errno = error;
    return copy;
}

FaultyDisk_exported int dup(int file) {
    struct FaultyDisk_Descriptor descriptor;
    if (!FaultyDisk_enter(file, &descriptor)) return (int)syscall(SYS_dup, file);
    return keepCopy((int)syscall(SYS_dup, file), &descriptor);
}

static int replace(int file, int copy, int flags) {
    /* dup2 closes the former file of the number. */
    struct FaultyDisk_Descriptor descriptor, former;
    if (file != copy && FaultyDisk_enter(copy, &former)) {
        FaultyDisk_dropDescriptor(copy);
        FaultyDisk_unlock();
    }
    if (!FaultyDisk_enter(file, &descriptor)) return (int)syscall(SYS_dup3, file, copy, flags);
    return keepCopy((int)syscall(SYS_dup3, file, copy, flags), &descriptor);
}

FaultyDisk_exported int dup2(int file, int copy) {
    /* dup3 refuses a copy onto itself, which dup2 accepts. */
    if (file == copy) return syscall(SYS_fcntl, file, F_GETFD) < 0 ? -1 : copy;
    return replace(file, copy, 0);
}

FaultyDisk_exported int dup3(int file, int copy, int flags) { return replace(file, copy, flags); }

/* The flags that F_GETFL would return had the descriptor been opened as the program asked. */
static int flagsOf(int file, const struct FaultyDisk_Descriptor *descriptor) {
    int flags = (int)syscall(SYS_fcntl, file, F_GETFL);
    if (flags < 0) return flags;
    if (descriptor->flags & FaultyDisk_isDirect) flags |= O_DIRECT;
    if (descriptor->flags & FaultyDisk_isSynchronous) flags |= O_DSYNC;
    return flags;
}

static int setFlags(int file, struct FaultyDisk_Descriptor *descriptor, int flags) {
    int result = (int)syscall(SYS_fcntl, file, F_SETFL, flags & ~O_DIRECT);
    if (result != 0) return result;
    descriptor->flags &= FaultyDisk_isSynchronous;
    if (flags & O_DIRECT) descriptor->flags |= FaultyDisk_isDirect;
    if (flags & O_APPEND) descriptor->flags |= FaultyDisk_isAppending;
    FaultyDisk_keepDescriptor(file, *descriptor);
    return result;
}

FaultyDisk_exported int fcntl64(int file, int command, ...) {
    va_list arguments;
    va_start(arguments, command);
    long argument = va_arg(arguments, long);
    va_end(arguments);
    bool isFollowed = command == F_DUPFD || command == F_DUPFD_CLOEXEC || command == F_GETFL || command == F_SETFL;
    struct FaultyDisk_Descriptor descriptor;
    if (!isFollowed || !FaultyDisk_enter(file, &descriptor)) return (int)syscall(SYS_fcntl, file, command, argument);
    int result;
    switch (command) {
    case F_GETFL: result = flagsOf(file, &descriptor); break;
    case F_SETFL: result = setFlags(file, &descriptor, (int)argument); break;
    default: return keepCopy((int)syscall(SYS_fcntl, file, command, argument), &descriptor);
    }
    int error = errno;
    FaultyDisk_unlock();
    errno = error;
    return result;
}

FaultyDisk_exported int fcntl(int file, int command, ...) __attribute__((alias("fcntl64")));
