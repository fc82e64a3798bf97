#define _GNU_SOURCE
#include "Preload.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

static FaultyDisk *preloaded;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

FaultyDisk *FaultyDisk_preloaded(void) { return preloaded; }

/* A test that kills the program takes the disk first: in the middle of a call page cache and model disagree. */
void FaultyDisk_lock(void) {
    pthread_mutex_lock(&mutex);
    while (preloaded && !FaultyDisk_take(preloaded)) sched_yield();
}

void FaultyDisk_unlock(void) {
    if (preloaded) FaultyDisk_giveBack(preloaded);
    pthread_mutex_unlock(&mutex);
}

/* A child between fork and exec has the parent's descriptors, and writes nothing itself. */
static void leaveChild(void) { preloaded = NULL; }

__attribute__((constructor)) static void begin(void) {
    const char *directory = getenv("FAULTY_DISK");
    FaultyDisk *disk = directory ? FaultyDisk_attach(directory) : NULL;
    /* A test on a disk that is not faulty would show nothing: ends the program. */
    if (directory && !disk) abort();
    /* Programs that this program starts are not under test. */
    unsetenv("LD_PRELOAD");
    unsetenv("FAULTY_DISK");
    if (!disk) return;
    int32_t expected = 0;
    if (!atomic_compare_exchange_strong(&disk->state->program, &expected, getpid())) {
        FaultyDisk_close(disk);
        return;
    }
    /* The program before may have died with the lock. */
    FaultyDisk_giveBack(disk);
    if (FaultyDisk_scan(disk) != 0) FaultyDisk_complain(disk, "cannot be looked through", disk->state->watched);
    pthread_atfork(NULL, NULL, leaveChild);
    preloaded = disk;
}
