/* A worker that keeps daemonised helpers, each in a session of its own: a line whose payload has "helpers":"N" makes them N.
   It answers when they are there, or gone. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static pid_t helpers[10000];
static int count;

static void add(void) {
    int ends[2];
    if (pipe(ends) < 0) exit(3);
    pid_t child = fork();
    if (child < 0) exit(3);
    if (child == 0) {
        if (fork() != 0) _exit(0);
        setsid();
        pid_t own = getpid();
        if (write(ends[1], &own, sizeof own) < 0) _exit(3);
        for (int descriptor = 0; descriptor < 64; descriptor++) close(descriptor);
        for (;;) pause();
    }
    close(ends[1]);
    waitpid(child, NULL, 0);
    if (read(ends[0], &helpers[count], sizeof(pid_t)) == sizeof(pid_t)) count++;
    close(ends[0]);
}

int main(void) {
    static char line[65536];
    while (fgets(line, sizeof line, stdin)) {
        char *id = strstr(line, "\"id\":"), *wanted = strstr(line, "\"helpers\":\"");
        int target = wanted ? atoi(wanted + 11) : 0;
        if (target > 10000) target = 10000;
        while (count < target) add();
        while (count > target) {
            pid_t helper = helpers[--count];
            kill(helper, SIGKILL);
            while (kill(helper, 0) == 0) usleep(1000); /* until the daemon has reaped it */
        }
        printf("{\"id\":%ld,\"status\":\"handled\"}\n", id ? atol(id + 5) : 0);
        fflush(stdout);
    }
    return 0;
}
