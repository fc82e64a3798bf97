/* The system calls themselves. The preloaded library defines libc's names, so the model must not use those. */
#pragma once

#include <fcntl.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static inline int FaultyDisk_rawOpen(int at, const char *path, int flags, mode_t mode) {
    return (int)syscall(SYS_openat, at, path, flags, mode);
}

static inline int FaultyDisk_rawClose(int file) { return (int)syscall(SYS_close, file); }

static inline ssize_t FaultyDisk_rawRead(int file, void *bytes, size_t count, off_t offset) {
    return syscall(SYS_pread64, file, bytes, count, offset);
}

static inline ssize_t FaultyDisk_rawWrite(int file, const void *bytes, size_t count, off_t offset) {
    return syscall(SYS_pwrite64, file, bytes, count, offset);
}

static inline int FaultyDisk_rawTruncate(int file, off_t length) { return (int)syscall(SYS_ftruncate, file, length); }

static inline int FaultyDisk_rawUnlink(int at, const char *path, int flags) {
    return (int)syscall(SYS_unlinkat, at, path, flags);
}

static inline int FaultyDisk_rawRename(int from, const char *old, int to, const char *new) {
    return (int)syscall(SYS_renameat2, from, old, to, new, 0);
}

static inline int FaultyDisk_rawLink(int from, const char *old, int to, const char *new) {
    return (int)syscall(SYS_linkat, from, old, to, new, 0);
}

static inline int FaultyDisk_rawMakeDirectory(int at, const char *path, mode_t mode) {
    return (int)syscall(SYS_mkdirat, at, path, mode);
}
