/* A hostile handler, of the KIND in its first argument; it writes its last sign of life to the file of its request.
 * Usage: hostile KIND DIRECTORY */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static volatile int64_t *last;

static void beat(void) {
    struct timespec now, pause = {0, 2000000};
    for (;;) {
        clock_gettime(CLOCK_MONOTONIC, &now);
        *last = now.tv_sec * 1000000000LL + now.tv_nsec;
        nanosleep(&pause, NULL);
    }
}

static void leave(void) {
    if (fork() > 0) return;
    setsid();
    if (fork() > 0) _exit(0);
    beat();
}

/* A peaceful helper that left its parents; the handler waits for its word. */
static int wait_for_helper(void) {
    int ends[2];
    char word;
    if (pipe(ends) < 0) return 2;
    if (fork() == 0) {
        setsid();
        if (fork() > 0) _exit(0);
        close(ends[0]);
        usleep(5000);
        _exit(write(ends[1], "x", 1) != 1);
    }
    close(ends[1]);
    return read(ends[0], &word, 1) == 1 ? 0 : 1;
}

int main(int count, char **arguments) {
    const char *kind = count > 1 ? arguments[1] : "";
    if (!strcmp(kind, "good")) return 0;
    if (!strcmp(kind, "peaceful")) return wait_for_helper();
    if (!strcmp(kind, "sleeping")) { pause(); return 0; }
    char path[4096];
    const char *seq = getenv("PUSH_SEQ");
    snprintf(path, sizeof path, "%s/%s", arguments[2], seq ? seq : "none");
    int file = open(path, O_RDWR | O_CREAT, 0600);
    if (file < 0 || ftruncate(file, 8) < 0) return 3;
    last = mmap(NULL, 8, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (last == MAP_FAILED) return 3;
    close(file);
    if (!strcmp(kind, "forks")) for (int i = 0; i < 5; i++) if (fork() == 0) beat();
    if (!strcmp(kind, "setsid") && fork() == 0) { setsid(); beat(); }
    if (!strcmp(kind, "daemonises")) leave();
    if (!strcmp(kind, "hides") && fork() == 0) {
        /* A new program without the mark, which forks and leaves once more. */
        char *words[] = {arguments[0], "daemonises", arguments[2], NULL};
        char number[64];
        snprintf(number, sizeof number, "PUSH_SEQ=%s", seq ? seq : "none");
        char *environment[] = {number, NULL};
        setsid();
        execve(words[0], words, environment);
    }
    if (!strcmp(kind, "ignores")) signal(SIGTERM, SIG_IGN);
    if (!strcmp(kind, "stops")) { leave(); raise(SIGSTOP); }
    if (!strcmp(kind, "closes")) close(0);
    if (!strcmp(kind, "floods")) {
        static char block[1 << 16];
        for (int i = 0; i < 1 << 14; i++) if (write(1, block, sizeof block) < 0) break;
        return 0;
    }
    if (!strcmp(kind, "dies")) { leave(); raise(SIGSEGV); }
    if (!strcmp(kind, "zombie") && fork() == 0) _exit(0);
    beat();
}
