/* beat DIRECTORY MICROSECONDS: writes the monotonic clock to DIRECTORY/$PUSH_SEQ at that interval until it is killed,
 * so that the file holds the time of its last sign of life. Ignores SIGTERM. */
#include <err.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

int main(int argc, char **argv) {
    char path[4096];
    if (argc != 3 || !getenv("PUSH_SEQ")) errx(2, "usage: PUSH_SEQ=N beat DIRECTORY MICROSECONDS");
    signal(SIGTERM, SIG_IGN);
    snprintf(path, sizeof path, "%s/%s", argv[1], getenv("PUSH_SEQ"));
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0 || ftruncate(fd, 8)) err(1, "%s", path);
    volatile int64_t *last = mmap(0, 8, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (last == MAP_FAILED) err(1, "mmap");
    for (;;) {
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        *last = now.tv_sec * 1000000000L + now.tv_nsec;
        usleep(atoi(argv[2]));
    }
}
