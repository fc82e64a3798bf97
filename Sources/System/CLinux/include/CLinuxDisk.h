/* For files that must reach the disk: flags and calls that glibc declares only under _GNU_SOURCE. Return values and
 * errno are those of the underlying call. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Opens a file, close-on-exec. With `synced`, each write is on the disk when it returns (O_DSYNC); with `direct`,
 * writes bypass the page cache (O_DIRECT), which some file systems refuse with EINVAL. `create` makes a new file (mode
 * 0640) that must not exist. */
int CLinux_open_for_writing(const char *_Nonnull path, bool create, bool synced, bool direct);

/* Reserves room for the first `length` bytes of a file, and extends the file to that length (fallocate). */
int CLinux_allocate(int file, int64_t length);

/* Has the kernel write a part of a file to the disk, and waits for that; the file's length may be on the disk later. */
int CLinux_write_back(int file, int64_t offset, int64_t length);

/* Has the kernel begin to write a part of a file to the disk. A later sync waits for it, and reports its errors. */
int CLinux_begin_write_back(int file, int64_t offset, int64_t length);

/* Makes the calling thread give way to all others of the process when there is not enough processor for all. */
int CLinux_lower_thread_priority(void);

/* Makes malloc return larger freed blocks to the system at once instead of keeping them. */
void CLinux_return_freed_memory(void);

/* Returns freed memory that malloc still holds to the system (malloc_trim). */
void CLinux_trim_memory(void);
