/* The baseline of HandlerProcess in spawn.sh: posix_spawn, a pidfd, waitpid, and nothing else.
 * peer rate PARALLEL PROGRAM: starts a second, for 2 s. peer kill COUNT: from the kill of a group to its leader reaped. */
#define _GNU_SOURCE
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + time.tv_nsec * 1e-9;
}

static pid_t start(char **arguments) {
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    posix_spawnattr_setpgroup(&attributes, 0);
    pid_t pid = 0;
    if (posix_spawn(&pid, arguments[0], NULL, &attributes, arguments, environ)) exit(1);
    return pid;
}

static int ascending(const void *a, const void *b) {
    return *(const double *)a < *(const double *)b ? -1 : 1;
}

int main(int count, char **arguments) {
    if (count == 4 && !strcmp(arguments[1], "rate")) {
        int parallel = atoi(arguments[2]), running = 0, ended = 0;
        double begin = now();
        while (now() - begin < 2) {
            for (; running < parallel; running++) start((char *[]){arguments[3], NULL});
            waitpid(-1, NULL, 0);
            running--, ended++;
        }
        printf("C      %d in flight: %.0f/s\n", parallel, ended / (now() - begin));
        while (wait(NULL) > 0) {}
    } else if (count == 3 && !strcmp(arguments[1], "kill")) {
        int runs = atoi(arguments[2]);
        double *took = calloc(runs, sizeof *took);
        for (int run = 0; run < runs; run++) {
            pid_t pid = start((char *[]){"/bin/sh", "-c", "sleep 60 & sleep 60", NULL});
            struct pollfd exited = {.fd = (int)syscall(SYS_pidfd_open, pid, 0), .events = POLLIN};
            usleep(5000); /* for the shell to start both */
            double begin = now();
            kill(-pid, SIGKILL);
            poll(&exited, 1, -1);
            waitpid(pid, NULL, 0);
            took[run] = now() - begin;
            close(exited.fd);
        }
        qsort(took, runs, sizeof *took, ascending);
        printf("C      kill to reaped: p50 %.0f us, p99 %.0f us\n", took[runs / 2] * 1e6, took[runs * 99 / 100] * 1e6);
    } else {
        return 2;
    }
}
