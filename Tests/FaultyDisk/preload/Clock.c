/* Gives the program its own time, ahead of the machine's by as many seconds as the disk's state says: so an hourly
 * event happens within a test. A thread that already waits must be woken to read the clock. */
#define _GNU_SOURCE
#include "Preload.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/timex.h>
#include <time.h>

static int64_t offset(void) {
    FaultyDisk *disk = FaultyDisk_preloaded();
    return disk ? FaultyDisk_trait(disk, FaultyDisk_clockOffset) : 0;
}

static int64_t wallOffset(void) {
    FaultyDisk *disk = FaultyDisk_preloaded();
    return disk ? FaultyDisk_trait(disk, FaultyDisk_wallOffset) : 0;
}

/* The functions of libc, looked up once; two threads may do so at the same time. */
#define real(name, type)                                                                                               \
    static _Atomic(type) found;                                                                                        \
    type name = atomic_load(&found);                                                                                   \
    if (!name) {                                                                                                       \
        name = (type)dlsym(RTLD_NEXT, #name);                                                                          \
        atomic_store(&found, name);                                                                                    \
    }

typedef int (*GetTime)(clockid_t, struct timespec *);
typedef int (*TimedWait)(pthread_cond_t *, pthread_mutex_t *, const struct timespec *);
typedef int (*ClockWait)(pthread_cond_t *, pthread_mutex_t *, clockid_t, const struct timespec *);

static bool isAhead(clockid_t clock) {
    return clock != CLOCK_PROCESS_CPUTIME_ID && clock != CLOCK_THREAD_CPUTIME_ID && clock >= 0;
}

FaultyDisk_exported int clock_gettime(clockid_t clock, struct timespec *time) {
    real(clock_gettime, GetTime);
    int result = clock_gettime(clock, time);
    if (result == 0 && isAhead(clock)) time->tv_sec += offset();
    if (result == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) time->tv_sec += wallOffset();
    return result;
}

FaultyDisk_exported int gettimeofday(struct timeval *restrict time, void *restrict zone) {
    int result = (int)syscall(SYS_gettimeofday, time, zone);
    if (result == 0) time->tv_sec += offset() + wallOffset();
    return result;
}

/* Reports a clock that is off as not synchronized. */
FaultyDisk_exported int adjtimex(struct timex *facts) {
    int state = (int)syscall(SYS_adjtimex, facts);
    if (state < 0 || wallOffset() == 0) return state;
    facts->status |= STA_UNSYNC;
    return TIME_ERROR;
}

FaultyDisk_exported int timerfd_settime(int timer, int flags, const struct itimerspec *new, struct itimerspec *old) {
    struct itimerspec moved = *new;
    if (flags & TFD_TIMER_ABSTIME && moved.it_value.tv_sec > 0) {
        /* 0 would disarm it. */
        moved.it_value.tv_sec -= moved.it_value.tv_sec > offset() ? offset() : moved.it_value.tv_sec - 1;
    }
    return (int)syscall(SYS_timerfd_settime, timer, flags, &moved, old);
}

FaultyDisk_exported int pthread_cond_timedwait(
    pthread_cond_t *restrict condition, pthread_mutex_t *restrict mutex, const struct timespec *restrict end) {
    real(pthread_cond_timedwait, TimedWait);
    struct timespec moved = {end->tv_sec - offset(), end->tv_nsec};
    return pthread_cond_timedwait(condition, mutex, &moved);
}

FaultyDisk_exported int pthread_cond_clockwait(
    pthread_cond_t *condition, pthread_mutex_t *mutex, clockid_t clock, const struct timespec *end) {
    real(pthread_cond_clockwait, ClockWait);
    struct timespec moved = {end->tv_sec - offset(), end->tv_nsec};
    return pthread_cond_clockwait(condition, mutex, clock, &moved);
}
