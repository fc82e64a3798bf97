/* Faults in the disk below a test's own program, and counts of its allocations.
 *
 * The test program is linked with definitions of some libc functions that replace libc's own in the whole process, the
 * libraries included. They behave as libc's, unless a test watches the files below a directory of its own. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Watches the files below a directory, given without links. Returns the watch; -1 when there are too many. */
int CTestProbe_watch(const char *_Nonnull directory);

/* Ends a watch. */
void CTestProbe_end(int watch);

/* After `passing` more, every sync of a file below the directory with this suffix fails with this errno; 0: syncs
 * succeed again. */
void CTestProbe_fail_syncs(int watch, const char *_Nonnull suffix, int passing, int error);

/* The next `times` writes to files below the directory with this prefix fail with this errno. */
void CTestProbe_fail_writes(int watch, const char *_Nonnull prefix, int times, int error);

/* Kills the process with SIGKILL at a write below the directory, after `passing` writes. */
void CTestProbe_kill_at_write(int watch, int passing);

/* Each successful sync copies its file to this directory: the contents of a disk that loses unsynced writes. */
void CTestProbe_keep_synced(int watch, const char *_Nonnull directory);

/* The events, in order: each line has the call (write, sync, truncate, rename), the file's name without its directory
 * (the new one of a rename), and the number of bytes written, or the errno of a sync. The caller frees it. */
char *_Nonnull CTestProbe_events(int watch);

/* The number of bytes written to files with this prefix. */
uint64_t CTestProbe_written(int watch, const char *_Nonnull prefix);

/* Stops one thread of another process, until it is resumed or the calling thread ends. The same thread must resume it.
 * Returns 0, or the errno: not every machine lets a process trace its children. */
int CTestProbe_stop_thread(int thread);
int CTestProbe_resume_thread(int thread);

/* Whether allocations are counted: false if a sanitizer has the allocator. */
bool CTestProbe_counts_allocations(void);

/* The number of allocations of the calling thread, reallocations included. */
uint64_t CTestProbe_allocations(void);

/* The number of bytes that the calling thread has requested in all. */
uint64_t CTestProbe_allocated_bytes(void);

/* The number of bytes that the calling thread has allocated and not freed, in the allocator's sizes. Memory of another
 * thread that it frees counts too: compare two values around work on one thread. */
int64_t CTestProbe_held_bytes(void);
/* Accepts the next connection of a listening socket, with SOCK_CLOEXEC; -1 with errno. */
int CTestProbe_accept(int listener);
/* Makes a program to be started close all descriptors from `first` on; `actions` is a posix_spawn_file_actions_t.
 * Returns 0, or an errno. */
int CTestProbe_close_from(void *_Nonnull actions, int first);
/* Marks a cgroup as delegated (Delegate=), as the service manager does. Returns 0, or -1 with errno. */
int CTestProbe_delegate(const char *_Nonnull cgroup);
