/* For files that must reach the disk: flags and calls that glibc declares only under _GNU_SOURCE. Return values and errno
 * are those of the call behind. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Opens a file, close-on-exec: each write is on the disk when it returns if `synced`, and goes past the page cache if
 * `direct`, which some file systems refuse with EINVAL. `create` makes a new file (mode 0640) that must not exist. */
int CLinux_open_for_writing(const char *_Nonnull path, bool create, bool synced, bool direct);

/* Reserves room for the first `length` bytes of a file, which has that length then. */
int CLinux_allocate(int file, int64_t length);

/* Has the kernel write a part of a file to the disk, and waits for that; the file's length may be on the disk later. */
int CLinux_write_back(int file, int64_t offset, int64_t length);

/* Makes the calling thread give way to all others of the process when there is not enough processor for all. */
int CLinux_lower_thread_priority(void);

/* Has freed memory of some size given back to the system at once instead of kept for later. */
void CLinux_return_freed_memory(void);

/* Gives back to the system what was freed and is still held. */
void CLinux_trim_memory(void);
