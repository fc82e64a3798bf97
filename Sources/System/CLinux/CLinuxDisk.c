#define _GNU_SOURCE
#include "CLinuxDisk.h"

#include <fcntl.h>
#include <malloc.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

int CLinux_open_for_writing(const char *path, bool create, bool synced, bool direct) {
    int flags = O_RDWR | O_CLOEXEC | O_NOFOLLOW | (create ? O_CREAT | O_EXCL : 0);
    return open(path, flags | (synced ? O_DSYNC : 0) | (direct ? O_DIRECT : 0), 0640);
}

int CLinux_allocate(int file, int64_t length) { return fallocate(file, 0, 0, length); }

int CLinux_write_back(int file, int64_t offset, int64_t length) {
    unsigned flags = SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER;
    return sync_file_range(file, offset, length, flags);
}

int CLinux_begin_write_back(int file, int64_t offset, int64_t length) {
    return sync_file_range(file, offset, length, SYNC_FILE_RANGE_WRITE);
}

int CLinux_lower_thread_priority(void) { return setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), 10); }

void CLinux_return_freed_memory(void) {
    /* An explicit threshold no longer grows with freed blocks, so that large blocks stay outside the heap. */
    mallopt(M_MMAP_THRESHOLD, 128 << 10);
    mallopt(M_TRIM_THRESHOLD, 256 << 10);
    /* With one arena for each thread, each would keep what its thread frees. */
    mallopt(M_ARENA_MAX, 2);
}

void CLinux_trim_memory(void) { malloc_trim(64 << 10); }
