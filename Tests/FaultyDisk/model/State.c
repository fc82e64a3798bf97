#define _GNU_SOURCE
#include "Model.h"

#include <errno.h>
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static FaultyDisk *map(const char *directory, bool isNew) {
    FaultyDisk *disk = calloc(1, sizeof *disk);
    if (!disk) return NULL;
    disk->directory = FaultyDisk_rawOpen(AT_FDCWD, directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    int flags = O_RDWR | O_CLOEXEC | (isNew ? O_CREAT | O_EXCL : 0);
    int file = disk->directory < 0 ? -1 : FaultyDisk_rawOpen(disk->directory, "state", flags, 0600);
    if (file >= 0 && (!isNew || FaultyDisk_rawTruncate(file, sizeof *disk->state) == 0)) {
        void *state = mmap(NULL, sizeof *disk->state, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        disk->state = state == MAP_FAILED ? NULL : state;
    }
    if (file >= 0) FaultyDisk_rawClose(file);
    if (disk->state && (isNew || disk->state->magic == FaultyDisk_magic)) return disk;
    FaultyDisk_close(disk);
    return NULL;
}

FaultyDisk *FaultyDisk_attach(const char *directory) { return map(directory, false); }

FaultyDisk *FaultyDisk_create(const char *directory, const char *watched, uint64_t seed) {
    FaultyDisk *disk = map(directory, true);
    if (!disk) return NULL;
    const char *folders[] = {"platter", "nodes", "marks", "unnamed"};
    for (size_t index = 0; index < sizeof folders / sizeof *folders; index++) {
        if (FaultyDisk_rawMakeDirectory(disk->directory, folders[index], 0700) != 0) goto failed;
    }
    struct stat facts;
    if (!realpath(watched, disk->state->watched) || stat(watched, &facts) != 0) goto failed;
    disk->state->random = seed;
    disk->state->traits[FaultyDisk_directAlignment] = 4096;
    if (FaultyDisk_addNode(disk, FaultyDisk_directory, &facts) != FaultyDisk_root) goto failed;
    if (FaultyDisk_syncAll(disk) != 0) goto failed;
    disk->state->magic = FaultyDisk_magic;
    return disk;
failed:
    FaultyDisk_close(disk);
    return NULL;
}

void FaultyDisk_close(FaultyDisk *disk) {
    for (int node = 0; node < FaultyDisk_nodesMax; node++) FaultyDisk_closeHandle(disk, node);
    if (disk->state) munmap(disk->state, sizeof *disk->state);
    if (disk->directory >= 0) FaultyDisk_rawClose(disk->directory);
    free(disk);
}

void FaultyDisk_expectProgram(FaultyDisk *disk) { atomic_store(&disk->state->program, 0); }

bool FaultyDisk_take(FaultyDisk *disk) { return !atomic_exchange(&disk->state->isBusy, true); }

void FaultyDisk_giveBack(FaultyDisk *disk) { atomic_store(&disk->state->isBusy, false); }

void FaultyDisk_complain(FaultyDisk *disk, const char *what, const char *about) {
    FaultyDisk_add(disk, FaultyDisk_complaintCount, 1);
    char *text = disk->state->complaint;
    if (!*text) snprintf(text, sizeof disk->state->complaint, "%s: %s", about, what);
    FaultyDisk_tell(disk);
}

const char *FaultyDisk_complaint(FaultyDisk *disk) { return disk->state->complaint; }

void FaultyDisk_add(FaultyDisk *disk, enum FaultyDisk_Counter counter, int64_t amount) {
    atomic_fetch_add(&disk->state->counters[counter], amount);
}

int64_t FaultyDisk_count(FaultyDisk *disk, enum FaultyDisk_Counter counter) {
    return atomic_load(&disk->state->counters[counter]);
}

int64_t FaultyDisk_trait(FaultyDisk *disk, enum FaultyDisk_Trait trait) {
    return atomic_load(&disk->state->traits[trait]);
}

void FaultyDisk_set(FaultyDisk *disk, enum FaultyDisk_Trait trait, int64_t value) {
    atomic_store(&disk->state->traits[trait], value);
}

bool FaultyDisk_chance(FaultyDisk *disk, int64_t permille) {
    if (permille <= 0) return false;
    /* SplitMix64, as the tests' own generator. */
    uint64_t mixed = disk->state->random += 0x9E3779B97F4A7C15;
    mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9;
    mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EB;
    return (int64_t)((mixed ^ (mixed >> 31)) % 1000) < permille;
}

void FaultyDisk_tell(FaultyDisk *disk) {
    atomic_fetch_add(&disk->state->events, 1);
    if (atomic_load(&disk->state->waiters) == 0) return;
    syscall(SYS_futex, &disk->state->events, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

uint32_t FaultyDisk_events(FaultyDisk *disk) { return atomic_load(&disk->state->events); }

bool FaultyDisk_waitForEvent(FaultyDisk *disk, uint32_t seen, int milliseconds) {
    struct timespec limit = {milliseconds / 1000, milliseconds % 1000 * 1000000L};
    atomic_fetch_add(&disk->state->waiters, 1);
    /* Returns at once if an event came before. */
    long result = syscall(
        SYS_futex, &disk->state->events, FUTEX_WAIT, seen, milliseconds < 0 ? NULL : &limit, NULL, 0);
    bool isLate = result != 0 && errno == ETIMEDOUT;
    atomic_fetch_sub(&disk->state->waiters, 1);
    return !isLate;
}
