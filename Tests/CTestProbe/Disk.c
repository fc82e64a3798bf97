#define _GNU_SOURCE
#include "CTestProbe.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { WATCHES = 16, NAMES = 32 };

struct written {
    char name[64];
    uint64_t bytes;
};

struct watch {
    bool in_use;
    char directory[PATH_MAX];
    char failing[64];
    int passing;
    int error;
    char failing_writes[64];
    /* The number of further writes that fail. */
    int write_failures;
    int write_error;
    char copies[PATH_MAX];
    /* The number of writes left until SIGKILL; 0: writes are not counted. */
    int writes_left;
    char *events;
    size_t length, capacity;
    struct written written[NAMES];
};

static struct watch watches[WATCHES];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* The number of watches: without one, no function here looks at a path. */
static atomic_int in_use;

int CTestProbe_watch(const char *directory) {
    int found = -1;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < WATCHES && found < 0; i++) {
        if (watches[i].in_use) continue;
        memset(&watches[i], 0, sizeof watches[i]);
        watches[i].in_use = true;
        snprintf(watches[i].directory, sizeof watches[i].directory, "%s/", directory);
        found = i;
        atomic_fetch_add(&in_use, 1);
    }
    pthread_mutex_unlock(&lock);
    return found;
}

void CTestProbe_end(int watch) {
    pthread_mutex_lock(&lock);
    free(watches[watch].events);
    watches[watch].events = NULL;
    watches[watch].in_use = false;
    atomic_fetch_sub(&in_use, 1);
    pthread_mutex_unlock(&lock);
}

void CTestProbe_fail_syncs(int watch, const char *suffix, int passing, int error) {
    pthread_mutex_lock(&lock);
    snprintf(watches[watch].failing, sizeof watches[watch].failing, "%s", suffix);
    watches[watch].passing = passing;
    watches[watch].error = error;
    pthread_mutex_unlock(&lock);
}

void CTestProbe_fail_writes(int watch, const char *prefix, int times, int error) {
    pthread_mutex_lock(&lock);
    snprintf(watches[watch].failing_writes, sizeof watches[watch].failing_writes, "%s", prefix);
    watches[watch].write_failures = times;
    watches[watch].write_error = error;
    pthread_mutex_unlock(&lock);
}

void CTestProbe_kill_at_write(int watch, int passing) {
    pthread_mutex_lock(&lock);
    watches[watch].writes_left = passing + 1;
    pthread_mutex_unlock(&lock);
}

void CTestProbe_keep_synced(int watch, const char *directory) {
    pthread_mutex_lock(&lock);
    snprintf(watches[watch].copies, sizeof watches[watch].copies, "%s", directory);
    pthread_mutex_unlock(&lock);
}

char *CTestProbe_events(int watch) {
    pthread_mutex_lock(&lock);
    char *events = strdup(watches[watch].events ? watches[watch].events : "");
    pthread_mutex_unlock(&lock);
    return events;
}

uint64_t CTestProbe_written(int watch, const char *prefix) {
    uint64_t bytes = 0;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < NAMES; i++) {
        struct written *written = &watches[watch].written[i];
        if (strncmp(written->name, prefix, strlen(prefix)) == 0) bytes += written->bytes;
    }
    pthread_mutex_unlock(&lock);
    return bytes;
}

/* The caller holds the lock. */
static void note(struct watch *watch, const char *call, const char *name, long number) {
    char line[128];
    int length = snprintf(line, sizeof line, "%s %.63s %ld\n", call, name, number);
    if (watch->length + length + 1 > watch->capacity) {
        size_t capacity = watch->capacity ? watch->capacity * 2 : 4096;
        char *events = realloc(watch->events, capacity);
        if (!events) return;
        watch->events = events;
        watch->capacity = capacity;
    }
    memcpy(watch->events + watch->length, line, length + 1);
    watch->length += length;
}

static void note_written(struct watch *watch, const char *name, ssize_t bytes) {
    for (int i = 0; i < NAMES; i++) {
        struct written *written = &watch->written[i];
        if (written->name[0] != 0 && strcmp(written->name, name) != 0) continue;
        snprintf(written->name, sizeof written->name, "%.63s", name);
        written->bytes += bytes;
        return;
    }
}

/* The watch of a path and the name in it; locks `lock` if there is one. */
static struct watch *watch_of_path(const char *path, const char **name) {
    if (atomic_load(&in_use) == 0) return NULL;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < WATCHES; i++) {
        if (!watches[i].in_use || strncmp(path, watches[i].directory, strlen(watches[i].directory)) != 0) continue;
        *name = strrchr(path, '/') + 1;
        return &watches[i];
    }
    pthread_mutex_unlock(&lock);
    return NULL;
}

/* The watch of a file and the name in its path; locks `lock` if there is one. */
static struct watch *watch_of(int file, char path[PATH_MAX], const char **name) {
    if (atomic_load(&in_use) == 0) return NULL;
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, path, PATH_MAX - 1);
    if (length <= 0) return NULL;
    path[length] = 0;
    return watch_of_path(path, name);
}

/* The caller holds the lock. Copies atomically: a test may copy the directory meanwhile. */
static void copy(struct watch *watch, int file, const char *name) {
    char path[PATH_MAX + 80], temporary[PATH_MAX + 80];
    snprintf(path, sizeof path, "%s/%s", watch->copies, name);
    snprintf(temporary, sizeof temporary, "%s/.%s", watch->copies, name);
    int target = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    static char block[1 << 16];
    ssize_t count;
    for (off64_t offset = 0; (count = pread64(file, block, sizeof block, offset)) > 0; offset += count)
        syscall(SYS_pwrite64, target, block, count, offset);
    close(target);
    syscall(SYS_rename, temporary, path);
}

static int synced(int file, long call) {
    char path[PATH_MAX];
    const char *name;
    int saved = errno;
    struct watch *watch = watch_of(file, path, &name);
    if (!watch) {
        errno = saved;
        return (int)syscall(call, file);
    }
    size_t length = strlen(name), suffix = strlen(watch->failing);
    int error = 0;
    if (watch->error && suffix <= length && strcmp(name + length - suffix, watch->failing) == 0)
        error = watch->passing > 0 ? (watch->passing--, 0) : watch->error;
    note(watch, "sync", name, error);
    int result = error ? -1 : (int)syscall(call, file);
    saved = error ? error : errno;
    if (result == 0 && watch->copies[0]) copy(watch, file, name);
    pthread_mutex_unlock(&lock);
    errno = saved;
    return result;
}

/* Synced contents move to the new name: other tests check that the directory is synced. */
int rename(const char *old, const char *new) {
    int result = (int)syscall(SYS_rename, old, new);
    int saved = errno;
    const char *name;
    struct watch *watch = result == 0 ? watch_of_path(new, &name) : NULL;
    if (watch) {
        note(watch, "rename", name, 0);
        if (watch->copies[0]) {
            char from[PATH_MAX + 80], to[PATH_MAX + 80];
            snprintf(from, sizeof from, "%s/%s", watch->copies, strrchr(old, '/') + 1);
            snprintf(to, sizeof to, "%s/%s", watch->copies, name);
            syscall(SYS_rename, from, to);
        }
        pthread_mutex_unlock(&lock);
    }
    errno = saved;
    return result;
}

int fsync(int file) { return synced(file, SYS_fsync); }
int fdatasync(int file) { return synced(file, SYS_fdatasync); }

/* The errno with which a write must fail; 0: none. */
static int write_error(int file) {
    char path[PATH_MAX];
    const char *name;
    struct watch *watch = watch_of(file, path, &name);
    if (!watch) return 0;
    bool fails = watch->write_failures > 0
                 && strncmp(name, watch->failing_writes, strlen(watch->failing_writes)) == 0;
    if (fails) watch->write_failures--;
    int error = fails ? watch->write_error : 0;
    pthread_mutex_unlock(&lock);
    return error;
}

static ssize_t written_at(int file, const void *bytes, size_t count, off64_t offset) {
    int saved = errno, error = write_error(file);
    errno = error ? error : saved;
    ssize_t result = error ? -1 : syscall(SYS_pwrite64, file, bytes, count, offset);
    saved = errno;
    char path[PATH_MAX];
    const char *name;
    struct watch *watch = watch_of(file, path, &name);
    if (watch) {
        note(watch, "write", name, result < 0 ? -saved : result);
        if (result > 0) note_written(watch, name, result);
        if (watch->writes_left > 0 && --watch->writes_left == 0) raise(SIGKILL);
        pthread_mutex_unlock(&lock);
    }
    errno = saved;
    return result;
}

ssize_t pwrite(int file, const void *bytes, size_t count, off_t offset) {
    return written_at(file, bytes, count, offset);
}
ssize_t pwrite64(int file, const void *bytes, size_t count, off64_t offset) {
    return written_at(file, bytes, count, offset);
}

int ftruncate64(int file, off64_t length) {
    char path[PATH_MAX];
    const char *name;
    struct watch *watch = watch_of(file, path, &name);
    if (watch) {
        note(watch, "truncate", name, length);
        pthread_mutex_unlock(&lock);
    }
    return (int)syscall(SYS_ftruncate, file, length);
}
