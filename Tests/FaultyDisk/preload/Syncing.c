#define _GNU_SOURCE
#include "Preload.h"

#include <errno.h>
#include <stdio.h>

static void persist(FaultyDisk *disk, int node, enum FaultyDisk_Extent extent, int64_t from, int64_t to) {
    if (disk->state->nodes[node].kind == FaultyDisk_directory) {
        FaultyDisk_persistNames(disk, node);
        return;
    }
    if (!disk->handles[node].isOpen) return;
    switch (extent) {
    case FaultyDisk_ofRange: FaultyDisk_persistRange(disk, node, from, to); break;
    case FaultyDisk_ofData: FaultyDisk_persist(disk, node); break;
    case FaultyDisk_ofAll:
        FaultyDisk_persist(disk, node);
        FaultyDisk_persistCreation(disk, node);
        break;
    }
}

/* A second sync would find nothing dirty, and succeed. */
static void forget(FaultyDisk *disk, int node, enum FaultyDisk_Extent extent, int64_t from, int64_t to) {
    if (disk->state->nodes[node].kind == FaultyDisk_directory) {
        if (FaultyDisk_trait(disk, FaultyDisk_forgetsNames)) FaultyDisk_forgetNames(disk, node);
        return;
    }
    if (!disk->handles[node].isOpen) return;
    bool isWhole = extent != FaultyDisk_ofRange;
    FaultyDisk_forget(disk, node, isWhole ? 0 : from, isWhole ? INT64_MAX : to);
}

int FaultyDisk_sync(int node, enum FaultyDisk_Extent extent, int64_t from, int64_t to) {
    FaultyDisk *disk = FaultyDisk_preloaded();
    char label[sizeof disk->state->nodes[node].label + 16];
    const char *kind = extent == FaultyDisk_ofRange ? "through " : "";
    snprintf(label, sizeof label, "%s%s", kind, disk->state->nodes[node].label);
    struct FaultyDisk_Verdict verdict = FaultyDisk_ask(FaultyDisk_syncs, node, label, false);
    if (verdict.error) {
        forget(disk, node, extent, from, to);
    } else {
        persist(disk, node, extent, from, to);
    }
    FaultyDisk_add(disk, FaultyDisk_syncCount, 1);
    FaultyDisk_tell(disk);
    FaultyDisk_finish(&verdict, node);
    return verdict.error;
}

static int syncFile(int file, enum FaultyDisk_Extent extent, long number) {
    struct FaultyDisk_Descriptor descriptor;
    if (!FaultyDisk_enter(file, &descriptor)) return (int)syscall(number, file);
    int error = FaultyDisk_sync(descriptor.node, extent, 0, 0);
    FaultyDisk_unlock();
    if (error == 0) return 0;
    errno = error;
    return -1;
}

FaultyDisk_exported int fsync(int file) { return syncFile(file, FaultyDisk_ofAll, SYS_fsync); }

FaultyDisk_exported int fdatasync(int file) { return syncFile(file, FaultyDisk_ofData, SYS_fdatasync); }

/* sync_file_range guarantees neither that the disk has written the data, nor that it finds them again. */
FaultyDisk_exported int sync_file_range(int file, off64_t offset, off64_t length, unsigned flags) {
    struct FaultyDisk_Descriptor descriptor;
    if (!FaultyDisk_enter(file, &descriptor)) return (int)syscall(SYS_sync_file_range, file, offset, length, flags);
    FaultyDisk_sprinkle(FaultyDisk_preloaded(), descriptor.node, 500);
    FaultyDisk_unlock();
    return 0;
}

FaultyDisk_exported int syncfs(int file) {
    struct FaultyDisk_Descriptor descriptor;
    if (!FaultyDisk_enter(file, &descriptor)) return (int)syscall(SYS_syncfs, file);
    FaultyDisk_complain(FaultyDisk_preloaded(), "syncfs", "the program");
    FaultyDisk_unlock();
    return 0;
}

FaultyDisk_exported void *mmap64(void *address, size_t length, int protection, int flags, int file, off_t offset) {
    struct FaultyDisk_Descriptor descriptor;
    bool isShared = flags & MAP_SHARED && protection & PROT_WRITE;
    if (isShared && FaultyDisk_enter(file, &descriptor)) {
        FaultyDisk_preloaded()->state->nodes[descriptor.node].isMapped = true;
        FaultyDisk_unlock();
    }
    return (void *)syscall(SYS_mmap, address, length, protection, flags, file, offset);
}

FaultyDisk_exported int msync(void *address, size_t length, int flags) {
    if (FaultyDisk_preloaded()) FaultyDisk_complain(FaultyDisk_preloaded(), "msync", "the program");
    return (int)syscall(SYS_msync, address, length, flags);
}

FaultyDisk_exported void *mmap(void *address, size_t length, int protection, int flags, int file, off_t offset)
    __attribute__((alias("mmap64")));
