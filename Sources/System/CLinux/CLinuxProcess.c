#define _GNU_SOURCE
#include "CLinuxProcess.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/magic.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

/* Newer than the headers of Debian 12. */
#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008U
#endif
#ifndef PIDFD_SIGNAL_PROCESS_GROUP
#define PIDFD_SIGNAL_PROCESS_GROUP (1U << 2)
#endif

/* What the child of CLinux_spawn needs. The child shares our memory until its exec, so `error` and `step` reach us. */
struct child {
    const struct CLinux_program *program;
    volatile enum CLinux_step step;
    volatile int error;
};

static int limit_descriptors(const struct CLinux_program *program) {
    if (program->descriptor_limit == 0) return 0;
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) < 0) return -1;
    if (program->descriptor_limit < limit.rlim_max) {
        limit.rlim_cur = program->descriptor_limit;
        if (program->is_hard_limit) limit.rlim_max = limit.rlim_cur;
    } else if (program->is_hard_limit) {
        limit.rlim_cur = limit.rlim_max;
    }
    return setrlimit(RLIMIT_NOFILE, &limit);
}

/* What lets us change the user is not the program's. An exec drops all but what is ambient; what is inheritable would wait
 * for a file that takes it up, and the service manager makes inheritable what it makes ambient. */
static int drop_capabilities(void) {
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];
    if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) < 0) return -1;
    if (syscall(SYS_capget, &header, data) < 0) return -1;
    /* A sandbox may forbid the call, and has nothing to drop then. */
    if (data[0].inheritable == 0 && data[1].inheritable == 0) return 0;
    data[0].inheritable = data[1].inheritable = 0;
    return (int)syscall(SYS_capset, &header, data);
}

/* Past glibc, which would have all threads of the process do the same: they are not the child's, but its memory says so.
 * The kernel makes our shared memory undumpable with it: nobody of that user may look into it before the exec. */
static int become_user(const struct CLinux_program *program) {
    if (!program->changes_user) return 0;
    if (syscall(SYS_setgroups, program->group_count, program->groups) < 0) return -1;
    if (syscall(SYS_setresgid, program->group, program->group, program->group) < 0) return -1;
    return (int)syscall(SYS_setresuid, program->user, program->user, program->user);
}

/* When memory is short the kernel ends what runs before who started it (proc(5), oom_score_adj; who has no /proc, or is
 * not dumpable, stays as it is). The kernel does not set the parent's with it, though memory is shared: it knows vfork.
 * Past libc: a library that is preloaded may have put locks around its calls on files, and they are the parent's here. */
static void prefer_to_be_ended(void) {
    char text[8] = {0};
    int file = (int)syscall(SYS_openat, AT_FDCWD, "/proc/self/oom_score_adj", O_RDWR | O_CLOEXEC, 0);
    if (file < 0) return;
    if (syscall(SYS_read, file, text, sizeof text - 1) > 0) {
        int value = 0, sign = 1;
        const char *digit = text;
        if (*digit == '-') sign = -1, digit++;
        for (; *digit >= '0' && *digit <= '9'; digit++) value = value * 10 + (*digit - '0');
        value = value * sign + CLinux_oom_difference;
        if (value > 1000) value = 1000;
        /* Decimal, from the end; it is not negative unless the daemon's is below -500. */
        char written[8];
        int place = sizeof written;
        int rest = value < 0 ? -value : value;
        do written[--place] = (char)('0' + rest % 10);
        while ((rest /= 10) > 0);
        if (value < 0) written[--place] = '-';
        /* No reason not to run. */
        syscall(SYS_pwrite64, file, written + place, sizeof written - (size_t)place, 0L);
    }
    syscall(SYS_close, file);
}

/* The signals that may have another action than the standard one: those that had when the first program was started, and
 * the two that glibc takes for itself when it needs them. Nobody here gives a signal an action later than that, and to set
 * each of the 64 anew for each program was 3 % of what a program costs. */
static uint64_t changed_signals;

static void note_changed_signals(void) {
    for (int signal = 1; signal < NSIG; signal++) {
        /* Past glibc, which hides its own two; the first word of the kernel's struct sigaction is the action. */
        unsigned long action[8] = {0};
        bool is_standard = syscall(SYS_rt_sigaction, signal, NULL, action, 8) < 0 || action[0] == (unsigned long)SIG_DFL;
        if (!is_standard || signal == __SIGRTMIN || signal == __SIGRTMIN + 1) changed_signals |= UINT64_C(1) << (signal - 1);
    }
}

/* In the child, with all signals blocked: system calls only, nothing that changes what the parent's memory means. */
static void become(struct child *child) {
    const struct CLinux_program *program = child->program;
    /* A handler of ours would run in shared memory; an ignored signal would stay so. Past glibc, which refuses the two that
     * it keeps for itself: all zero is the kernel's struct sigaction with SIG_DFL, and a set of signals has 8 bytes. */
    const unsigned long standard[8] = {0};
    for (int signal = 1; signal < NSIG; signal++) {
        if (changed_signals >> (signal - 1) & 1) syscall(SYS_rt_sigaction, signal, standard, NULL, 8);
    }
    if (setpgid(0, 0) < 0) goto failed;
    prefer_to_be_ended();
    child->step = CLinux_step_cgroup;
    if (program->cgroup >= 0 && write(program->cgroup, "0", 1) < 0) goto failed;
    child->step = CLinux_step_descriptors;
    if (limit_descriptors(program) < 0) goto failed;
    child->step = CLinux_step_niceness;
    if (program->sets_niceness && setpriority(PRIO_PROCESS, 0, program->niceness) < 0) goto failed;
    child->step = CLinux_step_program;
    /* All three are above 2, so none is overwritten before it is used. */
    if (dup2(program->input, STDIN_FILENO) < 0 || dup2(program->output, STDOUT_FILENO) < 0) goto failed;
    if (program->error >= 0 && dup2(program->error, STDERR_FILENO) < 0) goto failed;
    if (close_range(STDERR_FILENO + 1, ~0U, 0) < 0) goto failed;
    child->step = CLinux_step_user;
    if (drop_capabilities() < 0) goto failed;
    if (become_user(program) < 0) goto failed;
    child->step = CLinux_step_program;
    if (chdir(program->directory) < 0) goto failed;
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    execve(program->path, program->arguments, program->environment);
failed:
    child->error = errno;
    _exit(127);
}

static int begin(void *child) {
    become(child);
    return 127;
}

int CLinux_spawn(pid_t *pid, int *pidfd, const struct CLinux_program *program, enum CLinux_step *step) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, note_changed_signals);
    struct child child = {program, CLinux_step_program, 0};
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    /* vfork, but for the descriptor that comes with the process: where none is left there is no process either. Opened
     * later it might be missing for a program that runs. Its stack is a part of ours, which waits. */
    _Alignas(16) char stack[32 << 10];
    int descriptor = -1;
    pid_t process =
        clone(begin, stack + sizeof stack, CLONE_VM | CLONE_VFORK | CLONE_PIDFD | SIGCHLD, &child, &descriptor);
    int failure = process < 0 ? errno : child.error;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    *step = child.step;
    if (failure == 0) {
        *pid = process;
        *pidfd = descriptor;
    } else if (process > 0) {
        /* It has ended without an exec: nobody else knows of it. */
        close(descriptor);
        while (waitpid(process, NULL, 0) < 0 && errno == EINTR) {}
    }
    return failure;
}

int CLinux_user_groups(const char *name, gid_t group, gid_t *groups, int *count) {
    return getgrouplist(name, group, groups, count);
}

bool CLinux_is_delegated(const char *cgroup) {
    struct statfs system;
    char value[2] = {0};
    if (statfs(cgroup, &system) < 0 || system.f_type != CGROUP2_SUPER_MAGIC) return false;
    if (getxattr(cgroup, "user.delegate", value, sizeof value) == 1) return value[0] == '1';
    struct stat facts;
    return geteuid() != 0 && stat(cgroup, &facts) == 0 && facts.st_uid == geteuid();
}

int CLinux_socket_pair(int ends[2]) {
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0) return -1;
    return fcntl(ends[0], F_SETFL, O_NONBLOCK);
}

int CLinux_memory_file(void) {
    unsigned flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
    int file = memfd_create("push", flags | MFD_NOEXEC_SEAL);
    return file < 0 && errno == EINVAL ? memfd_create("push", flags) : file;
}

int CLinux_seal(int memory_file) {
    return fcntl(memory_file, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE);
}

int CLinux_pipe(int ends[2]) { return pipe2(ends, O_CLOEXEC); }

int CLinux_semaphore(void) { return eventfd(0, EFD_CLOEXEC | EFD_SEMAPHORE); }

int CLinux_pidfd_open(pid_t pid) { return (int)syscall(SYS_pidfd_open, pid, 0); }

int CLinux_pidfd_signal(int pidfd, int signal) { return (int)syscall(SYS_pidfd_send_signal, pidfd, signal, NULL, 0); }

int CLinux_pidfd_signal_group(int pidfd, int signal) {
    return (int)syscall(SYS_pidfd_send_signal, pidfd, signal, NULL, PIDFD_SIGNAL_PROCESS_GROUP);
}

int CLinux_wait(int type, id_t id, int options, bool *signaled, int *value) {
    siginfo_t info = {0};
    if (waitid((idtype_t)type, id, &info, options | WEXITED) < 0) return -1;
    *signaled = info.si_code != CLD_EXITED;
    *value = info.si_status;
    return info.si_pid != 0;
}

int CLinux_become_subreaper(void) { return prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); }

int CLinux_deny_dumps(void) { return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); }

void *CLinux_find(const void *bytes, size_t length, const void *wanted, size_t wanted_length) {
    return memmem(bytes, length, wanted, wanted_length);
}
