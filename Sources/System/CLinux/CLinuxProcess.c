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
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

/* Constants that are newer than the headers of Debian 12. */
#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008U
#endif
#ifndef CLOSE_RANGE_CLOEXEC
#define CLOSE_RANGE_CLOEXEC (1U << 2)
#endif
#ifndef PIDFD_SIGNAL_PROCESS_GROUP
#define PIDFD_SIGNAL_PROCESS_GROUP (1U << 2)
#endif

/* A child that shares the parent's memory also shares its thread's errno, and a preloaded library may have put locks
 * around libc's calls, which would be the parent's locks. So the child calls the kernel directly. The result is the
 * kernel's: a negative value is an error. */
#define IN_CHILD static __attribute__((no_stack_protector, no_sanitize("address", "thread", "undefined")))

IN_CHILD inline long ask(long number, long a, long b, long c, long d, long e) {
#if defined(__x86_64__)
    long result;
    register long fourth __asm__("r10") = d;
    register long fifth __asm__("r8") = e;
    __asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c), "r"(fourth), "r"(fifth)
                     : "rcx", "r11", "memory");
    return result;
#elif defined(__aarch64__)
    register long call __asm__("x8") = number;
    register long first __asm__("x0") = a;
    register long second __asm__("x1") = b;
    register long third __asm__("x2") = c;
    register long fourth __asm__("x3") = d;
    register long fifth __asm__("x4") = e;
    __asm__ volatile("svc #0" : "+r"(first) : "r"(call), "r"(second), "r"(third), "r"(fourth), "r"(fifth) : "memory");
    return first;
#else
#error "how the kernel is called on this machine is to be written here"
#endif
}

#define ask1(number, a) ask(number, (long)(a), 0, 0, 0, 0)
#define ask2(number, a, b) ask(number, (long)(a), (long)(b), 0, 0, 0)
#define ask3(number, a, b, c) ask(number, (long)(a), (long)(b), (long)(c), 0, 0)
#define ask4(number, a, b, c, d) ask(number, (long)(a), (long)(b), (long)(c), (long)(d), 0)
#define ask5(number, a, b, c, d, e) ask(number, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e))

/* The state of the parent that each child must undo, read at the first start: the parent does not change it later.
 * Resetting each of the 64 signals took 3 % of the cost of a program. */
static struct {
    /* The signals whose action may differ from SIG_DFL: those that did, and the two that glibc reserves for itself. */
    uint64_t changed_signals;
    /* Whether the parent has capabilities that an exec would pass on, or that a file with inheritable capabilities
     * would take up: the service manager makes ambient capabilities inheritable, too. */
    bool has_inheritable;
} own;

static void look_at_own(void) {
    for (int signal = 1; signal < NSIG; signal++) {
        /* A direct system call, because glibc hides its own two signals; the first word of the kernel's struct
         * sigaction is the action. */
        unsigned long action[8] = {0};
        bool is_standard = syscall(SYS_rt_sigaction, signal, NULL, action, 8) < 0 || action[0] == (unsigned long)SIG_DFL;
        if (!is_standard || signal == __SIGRTMIN || signal == __SIGRTMIN + 1)
            own.changed_signals |= UINT64_C(1) << (signal - 1);
    }
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {0};
    own.has_inheritable = syscall(SYS_capget, &header, data) < 0 || data[0].inheritable != 0 || data[1].inheritable != 0;
}

IN_CHILD long limit_descriptors(const struct CLinux_program *program) {
    if (program->descriptor_limit == 0) return 0;
    struct rlimit64 limit;
    long result = ask4(SYS_prlimit64, 0, RLIMIT_NOFILE, NULL, &limit);
    if (result < 0) return result;
    if (program->descriptor_limit < limit.rlim_max) {
        limit.rlim_cur = program->descriptor_limit;
        if (program->is_hard_limit) limit.rlim_max = limit.rlim_cur;
    } else if (program->is_hard_limit) {
        limit.rlim_cur = limit.rlim_max;
    }
    return ask4(SYS_prlimit64, 0, RLIMIT_NOFILE, &limit, NULL);
}

/* Closes all descriptors above 2 but the kept ones, which the exec closes no more, other than the cgroup. */
IN_CHILD long close_others(const struct CLinux_program *program) {
    int first = STDERR_FILENO + 1;
    for (size_t place = 0; place < program->kept_count; place++) {
        int kept = program->kept[place];
        long result = kept == first ? 0 : ask3(SYS_close_range, first, kept - 1, 0);
        if (result >= 0 && kept != program->cgroup) result = ask3(SYS_fcntl, kept, F_SETFD, 0);
        if (result < 0) return result;
        first = kept + 1;
    }
    return ask3(SYS_close_range, first, ~0U, 0);
}

/* Drops the capabilities with which the parent changes users. An exec drops all others than the ambient and the
 * inheritable ones. */
IN_CHILD long drop_capabilities(void) {
    if (!own.has_inheritable) return 0;
    long result = ask5(SYS_prctl, PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
    if (result < 0) return result;
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];
    result = ask2(SYS_capget, &header, data);
    if (result < 0) return result;
    /* A sandbox may forbid capset, and then there is nothing to drop. */
    if (data[0].inheritable == 0 && data[1].inheritable == 0) return 0;
    data[0].inheritable = data[1].inheritable = 0;
    return ask2(SYS_capset, &header, data);
}

/* Direct system calls, because glibc would change the user of all threads of the process: they are the parent's, but
 * the shared memory lists them. With this the kernel also makes the shared memory undumpable: no process of that user
 * can read it before the exec. */
IN_CHILD long become_user(const struct CLinux_program *program) {
    if (!program->changes_user) return 0;
    long result = ask2(SYS_setgroups, program->group_count, program->groups);
    if (result >= 0) result = ask3(SYS_setresgid, program->group, program->group, program->group);
    if (result >= 0) result = ask3(SYS_setresuid, program->user, program->user, program->user);
    return result;
}

/* Raises the value in an oom_score_adj file. */
IN_CHILD void prefer_to_end(const char *path) {
    char text[8] = {0};
    int file = (int)ask4(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC, 0);
    if (file < 0) return;
    if (ask3(SYS_read, file, text, sizeof text - 1) > 0) {
        int value = 0, sign = 1;
        const char *digit = text;
        if (*digit == '-') sign = -1, digit++;
        for (; *digit >= '0' && *digit <= '9'; digit++) value = value * 10 + (*digit - '0');
        value = value * sign + CLinux_oom_difference;
        if (value > 1000) value = 1000;
        /* Formats the number from its end; it is negative only if the daemon's value is below -500. */
        char written[8];
        int place = sizeof written;
        int rest = value < 0 ? -value : value;
        do written[--place] = (char)('0' + rest % 10);
        while ((rest /= 10) > 0);
        if (value < 0) written[--place] = '-';
        /* A failure is ignored: the program can run without it. */
        ask4(SYS_pwrite64, file, written + place, sizeof written - (size_t)place, 0);
    }
    ask1(SYS_close, file);
}

bool CLinux_is_done(const struct CLinux_start *start) {
    return __atomic_load_n(&start->is_under_way, __ATOMIC_ACQUIRE) == 0;
}

void CLinux_prefer_to_end(pid_t pid) {
    char path[40];
    snprintf(path, sizeof path, "/proc/%d/oom_score_adj", pid);
    prefer_to_end(path);
}

/* The input of the child. */
struct child {
    const struct CLinux_program *program;
    struct CLinux_start *start;
    bool waits;
};

/* Runs in the child, with all signals blocked; must change nothing in memory that the parent relies on. */
IN_CHILD long become(const struct child *child) {
    const struct CLinux_program *program = child->program;
    struct CLinux_start *start = child->start;
    long result;
    /* A handler of the parent would run in the shared memory, and an ignored signal would stay ignored. A direct system
     * call, because glibc refuses its own two signals: all zeros is the kernel's struct sigaction with SIG_DFL, and a
     * signal set has 8 bytes. */
    const unsigned long standard[8] = {0};
    for (uint64_t left = own.changed_signals; left != 0; left &= left - 1)
        ask4(SYS_rt_sigaction, __builtin_ctzll(left) + 1, standard, NULL, 8);
    if ((result = ask2(SYS_setpgid, 0, 0)) < 0) return result;
    /* With vfork the kernel changes the child's value alone, although the memory is shared. */
    if (child->waits) prefer_to_end("/proc/self/oom_score_adj");
    /* All three are above 2, so dup3 overwrites none before its use. */
    if ((result = ask3(SYS_dup3, program->input, STDIN_FILENO, 0)) < 0) return result;
    if ((result = ask3(SYS_dup3, program->output, STDOUT_FILENO, 0)) < 0) return result;
    if (program->error >= 0 && (result = ask3(SYS_dup3, program->error, STDERR_FILENO, 0)) < 0) return result;
    /* Closes them before the slow steps: a client of the daemon sees the end of its connection only without the child's
     * copies. */
    if ((result = close_others(program)) < 0) return result;
    start->step = CLinux_step_cgroup;
    if (program->cgroup >= 0 && (result = ask3(SYS_write, program->cgroup, "0", 1)) < 0) return result;
    start->step = CLinux_step_descriptors;
    if ((result = limit_descriptors(program)) < 0) return result;
    start->step = CLinux_step_niceness;
    if (program->sets_niceness && (result = ask3(SYS_setpriority, PRIO_PROCESS, 0, program->niceness)) < 0) return result;
    start->step = CLinux_step_user;
    if ((result = drop_capabilities()) < 0) return result;
    if ((result = become_user(program)) < 0) return result;
    if (program->has_no_new_privileges && (result = ask5(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)) < 0) return result;
    start->step = CLinux_step_directory;
    if ((result = ask1(SYS_chdir, program->directory)) < 0) return result;
    start->step = CLinux_step_program;
    const uint64_t none = 0;
    ask4(SYS_rt_sigprocmask, SIG_SETMASK, &none, NULL, sizeof none);
    result = ask3(SYS_execve, program->path, program->arguments, program->environment);
    /* The kernel uses one error number for several faults. */
    int flags = O_PATH | O_CLOEXEC;
    if (result == -ENOENT && ask4(SYS_openat, AT_FDCWD, program->path, flags, 0) >= 0)
        start->step = CLinux_step_interpreter;
    if (result == -EACCES && ask4(SYS_openat, AT_FDCWD, program->path, flags | O_DIRECTORY, 0) >= 0) result = -EISDIR;
    return result;
}

IN_CHILD int begin(void *memory) {
    const struct child *child = memory;
    child->start->error = (int)-become(child);
    ask1(SYS_exit_group, 127);
    __builtin_unreachable();
}

int CLinux_spawn(
    pid_t *pid, int *pidfd, const struct CLinux_program *program, struct CLinux_start *start, void *stack, bool waits) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, look_at_own);
    start->error = 0;
    start->step = CLinux_step_program;
    start->is_under_way = 1;
    /* The stack grows down from its end, so the child's input goes there. */
    struct child *child = (struct child *)((char *)stack + CLinux_stack_length) - 1;
    *child = (struct child){program, start, waits};
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    /* CLONE_PIDFD: if no descriptor is left, no process is made. A pidfd opened later could be missing for a running
     * program. */
    int descriptor = -1;
    int flags = CLONE_VM | CLONE_PIDFD | CLONE_CHILD_CLEARTID | SIGCHLD | (waits ? CLONE_VFORK : 0);
    pid_t process = clone(begin, child, flags, child, &descriptor, NULL, &start->is_under_way);
    int failure = process < 0 ? errno : waits ? start->error : 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (failure == 0) {
        *pid = process;
        *pidfd = descriptor;
    } else if (process > 0) {
        /* The child has ended without an exec, and no other code knows of it. */
        close(descriptor);
        while (waitpid(process, NULL, 0) < 0 && errno == EINTR) {}
    }
    return failure;
}

/* Runs in a forked child with its own memory. Returns only on failure, with errno. */
static void become_companion(
    pid_t parent, int input, const char *path, char *const *arguments, char *const *environment, int output,
    int death_signal) {
    if (prctl(PR_SET_PDEATHSIG, death_signal, 0, 0, 0) < 0) return;
    /* If the parent ended before the prctl, nothing reads the error. */
    if (getppid() != parent) _exit(127);
    if (output >= 0) {
        if (setpgid(0, 0) < 0) return;
        if (dup2(input, STDIN_FILENO) < 0 || dup2(output, STDOUT_FILENO) < 0 || dup2(output, STDERR_FILENO) < 0) return;
    }
    syscall(SYS_close_range, STDERR_FILENO + 1, ~0U, CLOSE_RANGE_CLOEXEC);
    sigset_t none;
    sigemptyset(&none);
    struct sigaction standard = {.sa_handler = SIG_DFL};
    if (sigaction(SIGPIPE, &standard, NULL) < 0 || sigprocmask(SIG_SETMASK, &none, NULL) < 0) return;
    execve(path, arguments, environment);
}

int CLinux_start_companion(
    int *pidfd, const char *path, char *const *arguments, char *const *environment, int output, int death_signal) {
    pid_t parent = getpid();
    int report[2], failure = 0;
    int input = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (input < 0) return errno;
    if (pipe2(report, O_CLOEXEC) < 0) {
        failure = errno;
        close(input);
        return failure;
    }
    pid_t process = fork();
    if (process == 0) {
        become_companion(parent, input, path, arguments, environment, output, death_signal);
        failure = errno;
        _exit(write(report[1], &failure, sizeof failure) < 0 ? 126 : 127);
    }
    if (process < 0) failure = errno;
    close(input);
    close(report[1]);
    if (process > 0) {
        *pidfd = CLinux_pidfd_open(process);
        if (*pidfd < 0) failure = errno;
        /* End of file without data means that the exec has succeeded. */
        ssize_t count = 0;
        int reason = 0;
        while (failure == 0 && (count = read(report[0], &reason, sizeof reason)) < 0 && errno == EINTR) {}
        if (count == (ssize_t)sizeof reason) failure = reason;
    }
    close(report[0]);
    if (process > 0 && failure != 0) {
        kill(process, SIGKILL);
        while (waitpid(process, NULL, 0) < 0 && errno == EINTR) {}
        if (*pidfd >= 0) close(*pidfd);
    }
    return failure;
}

int CLinux_signal_descriptor(const int *signals, size_t count) {
    sigset_t set;
    sigemptyset(&set);
    for (size_t place = 0; place < count; place++) sigaddset(&set, signals[place]);
    if (sigprocmask(SIG_BLOCK, &set, NULL) < 0) return -1;
    return signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
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
