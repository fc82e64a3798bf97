/* Preloaded into the programs under test: ends a program that closes a descriptor while one of its epoll instances
 * watches it, with a message and the backtrace. epoll forgets such a descriptor only with the last copy of it, and a
 * child between fork and exec has copies of all: until then epoll reports data that its owner has freed, and a new
 * descriptor with the same number may lose its watch to the late EPOLL_CTL_DEL.
 *
 * The library does not check children of the program: they have the parent's descriptors, and only exec. A program
 * after exec is checked anew: a handler's program has an environment without this library. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <execinfo.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

#define DESCRIPTORS 65536
#define INSTANCES 64

/* Bit n: the instance instances[n] watches the descriptor. */
static _Atomic uint64_t watches[DESCRIPTORS];
/* The descriptors of epoll instances, plus one; 0: a free slot. */
static _Atomic int instances[INSTANCES];
static int program;

static int (*realControl)(int, int, int, struct epoll_event *);
static int (*realClose)(int);
static int (*realCloseRange)(unsigned, unsigned, int);
static int (*realDup2)(int, int);
static int (*realDup3)(int, int, int);

__attribute__((constructor)) static void begin(void) {
    realControl = dlsym(RTLD_NEXT, "epoll_ctl");
    realClose = dlsym(RTLD_NEXT, "close");
    realCloseRange = dlsym(RTLD_NEXT, "close_range");
    realDup2 = dlsym(RTLD_NEXT, "dup2");
    realDup3 = dlsym(RTLD_NEXT, "dup3");
    program = getpid();
    /* The first call of backtrace allocates. */
    void *frame;
    backtrace(&frame, 1);
}

/* A child may share the memory (CLONE_VM) or have a copy of it: only getpid() tells them apart. */
static int isJudged(int descriptor) {
    return program && descriptor >= 0 && descriptor < DESCRIPTORS && syscall(SYS_getpid) == program;
}

/* The slot of an epoll instance; -1: none. */
static int place(int instance, int isNew) {
    for (int index = 0; index < INSTANCES; index++)
        if (instances[index] == instance + 1) return index;
    for (int index = 0; isNew && index < INSTANCES; index++) {
        int none = 0;
        if (atomic_compare_exchange_strong(&instances[index], &none, instance + 1)) return index;
    }
    return -1;
}

int epoll_ctl(int instance, int operation, int descriptor, struct epoll_event *event) {
    if (!realControl) realControl = dlsym(RTLD_NEXT, "epoll_ctl");
    int result = realControl(instance, operation, descriptor, event);
    if (result != 0 || !isJudged(descriptor)) return result;
    int index = place(instance, operation == EPOLL_CTL_ADD);
    if (index < 0) return result;
    if (operation == EPOLL_CTL_ADD) watches[descriptor] |= UINT64_C(1) << index;
    if (operation == EPOLL_CTL_DEL) watches[descriptor] &= ~(UINT64_C(1) << index);
    return result;
}

static void judge(int descriptor, const char *call) {
    if (!isJudged(descriptor)) return;
    /* Closing an instance drops its watches. */
    int index = place(descriptor, 0);
    if (index >= 0) {
        for (int other = 0; other < DESCRIPTORS; other++)
            if (watches[other] & UINT64_C(1) << index) watches[other] &= ~(UINT64_C(1) << index);
        instances[index] = 0;
    }
    if (!watches[descriptor]) return;
    char link[64], kind[128] = "?";
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t length = readlink(link, kind, sizeof kind - 1);
    if (length > 0) kind[length] = 0;
    char message[512];
    int count = snprintf(
        message, sizeof message, "%s of descriptor %d (%s), which an epoll instance still watches; called by:\n", call,
        descriptor, kind);
    if (write(STDERR_FILENO, message, count) != count) abort();
    void *frames[64];
    backtrace_symbols_fd(frames, backtrace(frames, 64), STDERR_FILENO);
    abort();
}

int close(int descriptor) {
    if (!realClose) realClose = dlsym(RTLD_NEXT, "close");
    judge(descriptor, "close");
    return realClose(descriptor);
}

int close_range(unsigned first, unsigned last, int flags) {
    if (!realCloseRange) realCloseRange = dlsym(RTLD_NEXT, "close_range");
    /* CLOSE_RANGE_CLOEXEC closes nothing, CLOSE_RANGE_UNSHARE only in a table of one's own. */
    for (unsigned descriptor = first; flags == 0 && descriptor <= last && descriptor < DESCRIPTORS; descriptor++)
        if (watches[descriptor]) judge(descriptor, "close_range");
    return realCloseRange(first, last, flags);
}

int dup2(int old, int new) {
    if (!realDup2) realDup2 = dlsym(RTLD_NEXT, "dup2");
    if (old != new) judge(new, "dup2");
    return realDup2(old, new);
}

int dup3(int old, int new, int flags) {
    if (!realDup3) realDup3 = dlsym(RTLD_NEXT, "dup3");
    judge(new, "dup3");
    return realDup3(old, new, flags);
}
