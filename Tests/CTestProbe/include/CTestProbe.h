/* What a test does to the disk below its own program, and learns of its allocations.
 *
 * The test program is linked with definitions of some of libc's functions that stand before libc's own, for everything in
 * the process, the libraries too. They do what libc's do, unless a test watches the files below a directory of its own. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Begins to watch the files below a directory, given without links. Returns the watch; -1 when there are too many. */
int CTestProbe_watch(const char *_Nonnull directory);

/* Ends a watch. */
void CTestProbe_end(int watch);

/* From now on, after `passing` more, every sync of a file below the directory whose name ends so fails with this error
 * number; 0: they succeed again. */
void CTestProbe_fail_syncs(int watch, const char *_Nonnull suffix, int passing, int error);

/* The next writes to files below the directory whose names begin so fail with this error number. */
void CTestProbe_fail_writes(int watch, const char *_Nonnull prefix, int times, int error);

/* Kills the process with SIGKILL at a write below the directory, after some that pass. */
void CTestProbe_kill_at_write(int watch, int passing);

/* From now on each sync that succeeds copies its file to this directory: what a disk has that forgets whatever was not
 * synced. */
void CTestProbe_keep_synced(int watch, const char *_Nonnull directory);

/* What happened, in order: lines of a call (write, sync, truncate, rename), a file's name without its directory, the new one
 * of a rename, and how many bytes were written, or the error number of a sync. To be freed. */
char *_Nonnull CTestProbe_events(int watch);

/* How many bytes were written to the files whose names begin so. */
uint64_t CTestProbe_written(int watch, const char *_Nonnull prefix);

/* Stops one thread of another process, until it is resumed or the calling thread ends. To be resumed by the same thread.
 * Returns 0, or the error number: not every machine lets a process trace its children. */
int CTestProbe_stop_thread(int thread);
int CTestProbe_resume_thread(int thread);

/* Whether allocations are counted: not where a sanitizer has the allocator. */
bool CTestProbe_counts_allocations(void);

/* How often the calling thread has allocated memory, reallocations included. */
uint64_t CTestProbe_allocations(void);

/* How many bytes the calling thread asked for in all. */
uint64_t CTestProbe_allocated_bytes(void);

/* How many bytes of memory the calling thread has allocated and not freed, counted as the allocator keeps them. What it
 * frees that another thread allocated counts, too: to be read before and after what happens on one thread. */
int64_t CTestProbe_held_bytes(void);
/* The next connection of a listening socket, close-on-exec from birth; -1 with errno. */
int CTestProbe_accept(int listener);
/* Has a program that is to be started close all descriptors from one on; `actions` is a posix_spawn_file_actions_t. 0, or an
 * error number. */
int CTestProbe_close_from(void *_Nonnull actions, int first);
/* Marks a cgroup as the service manager marks one that it gives away (Delegate=). 0, or -1 with errno. */
int CTestProbe_delegate(const char *_Nonnull cgroup);
