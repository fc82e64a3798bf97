/* For child processes: calls that glibc declares only under _GNU_SOURCE, or not at all, and the macros of siginfo_t.
 * Unless a comment says otherwise, return values and errno are those of the underlying call. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A program to start, with its whole environment. */
struct CLinux_program {
    const char *_Nonnull path;
    char *_Nullable const *_Nonnull arguments;
    char *_Nullable const *_Nonnull environment;
    const char *_Nonnull directory;
    /* Its descriptors 0, 1 and 2, none of them below 3; a negative `error` keeps the parent's. */
    int input, output, error;
    /* An open cgroup.procs, close-on-exec, to which the child writes itself before the exec; negative for none. */
    int cgroup;
    /* The other descriptors that the child keeps under their numbers, in ascending order, none of them below 3, with
     * `cgroup` among them, which the exec closes. */
    const int *_Nonnull kept;
    size_t kept_count;
    /* Its RLIMIT_NOFILE, at most the parent's hard limit; 0 keeps the parent's. Sets soft and hard limit, or the soft
     * limit only. */
    uint64_t descriptor_limit;
    bool is_hard_limit;
    bool sets_niceness;
    int niceness;
    /* PR_SET_NO_NEW_PRIVS, which is irreversible. */
    bool has_no_new_privileges;
    /* Its user and groups; the parent's unless `changes_user`. */
    bool changes_user;
    uid_t user;
    gid_t group;
    size_t group_count;
    const gid_t *_Nullable groups;
};

/* The amount by which a program's oom_score_adj, up to 1000, exceeds the parent's. */
enum { CLinux_oom_difference = 500 };

/* The step of a start that failed. */
enum __attribute__((enum_extensibility(closed))) CLinux_step {
    CLinux_step_program,
    CLinux_step_interpreter,
    CLinux_step_directory,
    CLinux_step_cgroup,
    CLinux_step_descriptors,
    CLinux_step_niceness,
    CLinux_step_user,
};

/* The state that a start and its child share until the child's exec has succeeded or failed. */
struct CLinux_start {
    /* The error number of the failed step, and the step; 0 if nothing has failed so far. EISDIR replaces the kernel's
     * EACCES for a directory. */
    volatile int error;
    volatile enum CLinux_step step;
    /* Not 0 while the child shares the parent's memory. */
    volatile int is_under_way;
};

/* The length of a child's stack in bytes; the stack is aligned to 16. */
enum { CLinux_stack_length = 8 << 10 };

/* Starts a program with its own process group, no signal blocked or ignored, no inheritable or ambient capabilities,
 * and no descriptors except 0 to 2. The parent's descriptors 0 to 2 must be open. Returns 0 and, in `pidfd`, a
 * close-on-exec pidfd of the process, readable once it has exited; otherwise the error number. It does not set errno.
 *
 * With `waits`, the calling thread waits for the kernel's exec, as with posix_spawn, which lacks most of these options;
 * an error is returned, and stored in `start`. Without it, the child shares the parent's memory until its exec while
 * the parent runs: `program` and everything it points at, `start` and `stack` must stay unchanged until `is_under_way`
 * is 0. If its exec fails, the child exits with 127, and the error is in `start`. A program started without `waits`
 * keeps the parent's oom_score_adj: see CLinux_prefer_to_end. */
int CLinux_spawn(
    pid_t *_Nonnull pid, int *_Nonnull pidfd, const struct CLinux_program *_Nonnull program,
    struct CLinux_start *_Nonnull start, void *_Nonnull stack, bool waits);

/* Starts a program that does not outlive the calling thread: the kernel sends it `death_signal` when the thread ends
 * for any reason (PR_SET_PDEATHSIG). The program has its own process group, /dev/null as standard input, `output` as
 * standard output and error, no other descriptor, no blocked signal, and SIGPIPE not ignored. With -1 as `output` it
 * keeps the caller's process group and descriptors 0 to 2, as in the foreground of a terminal. Descriptors 0 to 2 must
 * be open; only for a process with one thread. Returns 0 and, in `pidfd`, a close-on-exec pidfd of the process;
 * otherwise the error number, and there is no process. */
int CLinux_start_companion(
    int *_Nonnull pidfd, const char *_Nonnull path, char *_Nullable const *_Nonnull arguments,
    char *_Nullable const *_Nonnull environment, int output, int death_signal);

/* Returns whether the child no longer shares the parent's memory; then the error of its start is known. */
bool CLinux_is_done(const struct CLinux_start *_Nonnull start);

/* Raises the oom_score_adj of a started process, so that the kernel kills it before this process when memory is short
 * (proc(5)). Only once it is no longer under way: before, this would change the parent's own value. Without /proc, or
 * for a process that is not dumpable, nothing changes. */
void CLinux_prefer_to_end(pid_t pid);

/* getgrouplist(3), whose first parameters differ between systems. */
int CLinux_user_groups(const char *_Nonnull name, gid_t group, gid_t *_Nonnull groups, int *_Nonnull count);

/* Returns whether the directory is a cgroup (version 2) that the service manager has delegated to its service
 * (Delegate= of its unit), as the extended attribute user.delegate says (systemd 251 and later). A user's service
 * manager does not set it in systemd 252, but manages only the user's own cgroups: for a user other than root, a cgroup
 * that the user owns counts as delegated. */
bool CLinux_is_delegated(const char *_Nonnull cgroup);

/* Creates two connected stream sockets, both close-on-exec; ends[0] is nonblocking. */
int CLinux_socket_pair(int ends[_Nonnull 2]);

/* Creates an empty memory file, close-on-exec, sealable, and not executable if the kernel supports that (6.3). */
int CLinux_memory_file(void);

/* Seals the memory file: it, and its seals, cannot be changed any more. */
int CLinux_seal(int memory_file);

/* Creates a pipe, both ends close-on-exec: ends[0] for reading, ends[1] for writing. */
int CLinux_pipe(int ends[_Nonnull 2]);

/* Creates a blocking, close-on-exec eventfd that works as a semaphore with the count 0: each read of 8 bytes
 * takes one. */
int CLinux_semaphore(void);

/* Opens a close-on-exec pidfd of the process, readable once it has exited. */
int CLinux_pidfd_open(pid_t pid);

/* Sends a signal to the process of the pidfd, even if its number was reused. */
int CLinux_pidfd_signal(int pidfd, int signal);

/* Sends a signal to the process group that the process leads. EINVAL before Linux 6.9. */
int CLinux_pidfd_signal_group(int pidfd, int signal);

/* Calls waitid for an exit; it blocks only if `options` lacks WNOHANG; `type` is P_PID or P_PIDFD. 1: the child has
 * exited, and `value` is the exit code, or the signal if `signaled`; 0: not yet; -1: error. */
int CLinux_wait(int type, id_t id, int options, bool *_Nonnull signaled, int *_Nonnull value);

/* Makes orphaned descendants children of this process instead of process 1 (PR_SET_CHILD_SUBREAPER). */
int CLinux_become_subreaper(void);

/* Turns off core dumps of this process, and access to its memory by other processes of its user (PR_SET_DUMPABLE). */
int CLinux_deny_dumps(void);

/* memmem(3): returns the first occurrence of `wanted` in `bytes`; NULL if there is none. */
void *_Nullable CLinux_find(const void *_Nonnull bytes, size_t length, const void *_Nonnull wanted, size_t wanted_length);

/* Blocks signals in the calling thread. A nonblocking, close-on-exec descriptor that is readable when one came; each
 * read of 128 bytes takes one (signalfd). */
int CLinux_signal_descriptor(const int *_Nonnull signals, size_t count);
