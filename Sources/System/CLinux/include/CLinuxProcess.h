/* For child processes: calls that glibc declares only under _GNU_SOURCE, or not at all, and the parts of siginfo_t
 * that are macros. Unless said otherwise return values and errno are those of the call behind. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A program that is to be started, and what it gets. */
struct CLinux_program {
    const char *_Nonnull path;
    char *_Nullable const *_Nonnull arguments;
    char *_Nullable const *_Nonnull environment;
    const char *_Nonnull directory;
    /* Its descriptors 0, 1 and 2, none of them below 3; `error` is ours if negative. */
    int input, output, error;
    /* An open cgroup.procs, close-on-exec, into which it writes itself before anything of it runs; none if negative. */
    int cgroup;
    /* Its RLIMIT_NOFILE, at most the hard limit that we have; ours if 0. Soft and hard, or soft alone. */
    uint64_t descriptor_limit;
    bool is_hard_limit;
    bool sets_niceness;
    int niceness;
    /* PR_SET_NO_NEW_PRIVS, which cannot be taken back. */
    bool has_no_new_privileges;
    /* Whose it is; ours unless `changes_user`. */
    bool changes_user;
    uid_t user;
    gid_t group;
    size_t group_count;
    const gid_t *_Nullable groups;
};

/* By how much more than we a program is one for the kernel to end when memory is short, of 1000. */
enum { CLinux_oom_difference = 500 };

/* What failed of a start. */
enum __attribute__((enum_extensibility(closed))) CLinux_step {
    CLinux_step_program,
    CLinux_step_interpreter,
    CLinux_step_directory,
    CLinux_step_cgroup,
    CLinux_step_descriptors,
    CLinux_step_niceness,
    CLinux_step_user,
};

/* What a start and its child share until the child's exec stands, or has failed. */
struct CLinux_start {
    /* The error number of what failed, and what that was; 0: nothing has failed so far. EISDIR, where the kernel says EACCES
     * of a directory. */
    volatile int error;
    volatile enum CLinux_step step;
    /* Not 0 as long as the child shares our memory. */
    volatile int is_under_way;
};

/* How much memory a child needs for its stack, in bytes; at a multiple of 16. */
enum { CLinux_stack_length = 8 << 10 };

/* Starts a program: a process group of its own, no signal blocked or ignored, no capability that we have beyond our user's
 * own, and no descriptor but 0 to 2. Descriptors 0 to 2 must be open. Returns 0, and in `pidfd` a close-on-exec descriptor of
 * the process, readable once it has exited; or the error number. It does not set errno.
 *
 * With `waits` the calling thread waits for the kernel's exec, as with posix_spawn, which cannot do most of this; what failed
 * is returned, and stands in `start`. Without, the child shares our memory until its exec, beside us: `program` and all that
 * it names, `start` and `stack` stay as they are while it is under way. If its exec fails it exits with 127, and what failed
 * stands in `start`. It has our own preference of what is to be ended when memory is short: see CLinux_prefer_to_end. */
int CLinux_spawn(
    pid_t *_Nonnull pid, int *_Nonnull pidfd, const struct CLinux_program *_Nonnull program,
    struct CLinux_start *_Nonnull start, void *_Nonnull stack, bool waits);

/* Starts a program that does not outlive the calling thread: the kernel sends it `death_signal` when the thread ends,
 * however that ends. A process group of its own, /dev/null as standard input, `output` as standard output and error, no other
 * descriptor, no signal blocked, SIGPIPE not ignored. Descriptors 0 to 2 must be open; only for a program with one thread.
 * Returns 0, and in `pidfd` a close-on-exec descriptor of the process; or the error number, and there is no process. */
int CLinux_start_companion(
    int *_Nonnull pidfd, const char *_Nonnull path, char *_Nullable const *_Nonnull arguments,
    char *_Nullable const *_Nonnull environment, int output, int death_signal);

/* Whether the child shares our memory no more; then what failed is known. */
bool CLinux_is_done(const struct CLinux_start *_Nonnull start);

/* When memory is short the kernel ends a process that we have started before us (proc(5), oom_score_adj). Only once it is not
 * under way any more: before, that would change our own preference. What has no /proc, or is not dumpable, stays as it is. */
void CLinux_prefer_to_end(pid_t pid);

/* getgrouplist(3), whose first parameters differ between systems. */
int CLinux_user_groups(const char *_Nonnull name, gid_t group, gid_t *_Nonnull groups, int *_Nonnull count);

/* Whether the directory is a cgroup (version 2) that the service manager has given to its service: Delegate= of its unit,
 * told by the extended attribute user.delegate (systemd 251 and later). A user's service manager does not set it in systemd
 * 252; what it manages is the user's own, so there a cgroup is given that belongs to the user. */
bool CLinux_is_delegated(const char *_Nonnull cgroup);

/* Two connected stream sockets, both close-on-exec; ends[0] does not block. */
int CLinux_socket_pair(int ends[_Nonnull 2]);

/* An empty file in memory, close-on-exec, not executable where the kernel knows that (6.3), that can be sealed. */
int CLinux_memory_file(void);

/* From now on nobody changes the memory file, nor these seals. */
int CLinux_seal(int memory_file);

/* A pipe, both ends close-on-exec: read from ends[0], write to ends[1]. */
int CLinux_pipe(int ends[_Nonnull 2]);

/* A blocking, close-on-exec eventfd that works as a semaphore with the count 0: each read of 8 bytes takes one. */
int CLinux_semaphore(void);

/* A close-on-exec descriptor of the process, readable once it has exited. */
int CLinux_pidfd_open(pid_t pid);

/* A signal to the process that the descriptor means, whatever has become of its number. */
int CLinux_pidfd_signal(int pidfd, int signal);

/* A signal to the process group that the process leads. EINVAL before Linux 6.9. */
int CLinux_pidfd_signal_group(int pidfd, int signal);

/* waitid for an exit, never blocking unless `options` lacks WNOHANG; `type` is P_PID or P_PIDFD. 1: it has exited, with
 * `value` the exit code, or the signal if `signaled`; 0: not yet; -1: error. */
int CLinux_wait(int type, id_t id, int options, bool *_Nonnull signaled, int *_Nonnull value);

/* Orphaned descendants become children of this process instead of process 1. */
int CLinux_become_subreaper(void);

/* No core of this process is written, and no other process of its user may read its memory (PR_SET_DUMPABLE). */
int CLinux_deny_dumps(void);

/* memmem(3): where bytes begin in others; NULL: nowhere. */
void *_Nullable CLinux_find(const void *_Nonnull bytes, size_t length, const void *_Nonnull wanted, size_t wanted_length);

/* Blocks signals in the calling thread. A nonblocking, close-on-exec descriptor that is readable when one came; each
 * read of 128 bytes takes one (signalfd). */
int CLinux_signal_descriptor(const int *_Nonnull signals, size_t count);
