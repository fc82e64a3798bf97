#define _GNU_SOURCE
#include "CLinuxProcess.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Newer than the headers of Debian 12. */
#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008U
#endif
#ifndef PIDFD_SIGNAL_PROCESS_GROUP
#define PIDFD_SIGNAL_PROCESS_GROUP (1U << 2)
#endif

int CLinux_spawn(
    pid_t *pid, const char *path, char *const *arguments, char *const *environment, const char *directory, int input,
    int output) {
    sigset_t none, all;
    sigemptyset(&none);
    /* Not sigfillset, which leaves out the two that glibc keeps for itself: posix_spawn would have them ignored. */
    memset(&all, 0xff, sizeof all);
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);

    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    int error = posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
    if (!error) error = posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    if (!error) error = posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
    if (!error) error = posix_spawn_file_actions_addchdir_np(&actions, directory);
    if (!error) error = posix_spawn(pid, path, &actions, &attributes, arguments, environment);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    return error;
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
