#define _GNU_SOURCE
#include "Model.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>

/* A directory of the page cache during a scan. */
struct Place {
    FaultyDisk *disk;
    int node;
    /* The descriptor of the directory itself. */
    int file;
    /* The path below the watched directory; empty for the watched directory itself. */
    const char *path;
};

static void noteFile(struct Place *place, const char *name, const struct stat *facts, int file, const char *path) {
    FaultyDisk *disk = place->disk;
    int expected = FaultyDisk_lookUp(disk, place->node, name), found = FaultyDisk_findNode(disk, facts);
    bool isNew = found < 0;
    if (isNew) found = FaultyDisk_addNode(disk, FaultyDisk_file, facts);
    FaultyDisk_label(disk, found, path);
    FaultyDisk_open(disk, found, file);
    /* A new file: no sync has reached its contents. */
    if (isNew) FaultyDisk_markDirty(disk, found, 0, facts->st_size);
    if (isNew) FaultyDisk_markAllocated(disk, found, 0, facts->st_size);
    if (expected == found) return;
    if (expected >= 0) FaultyDisk_addOperation(disk, FaultyDisk_unlinks, place->node, name, expected);
    FaultyDisk_addOperation(disk, FaultyDisk_creates, place->node, name, found);
}

static int noteDirectory(struct Place *place, const char *name, const struct stat *facts, const char *path) {
    FaultyDisk *disk = place->disk;
    int found = FaultyDisk_findNode(disk, facts);
    if (found < 0) {
        found = FaultyDisk_addNode(disk, FaultyDisk_directory, facts);
        FaultyDisk_addOperation(disk, FaultyDisk_makesDirectory, place->node, name, found);
    } else if (FaultyDisk_lookUp(disk, place->node, name) != found) {
        FaultyDisk_complain(disk, "a directory was renamed", path);
    }
    FaultyDisk_label(disk, found, path);
    return found;
}

/* Notes that a name of the model is gone. */
static void noteAbsence(struct Place *place, const char *name) {
    struct stat facts;
    int node = FaultyDisk_lookUp(place->disk, place->node, name);
    if (node < 0 || fstatat(place->file, name, &facts, AT_SYMLINK_NOFOLLOW) == 0) return;
    bool isFile = place->disk->state->nodes[node].kind == FaultyDisk_file;
    FaultyDisk_addOperation(
        place->disk, isFile ? FaultyDisk_unlinks : FaultyDisk_removesDirectory, place->node, name, node);
}

/* All names that the model may have in a directory: those of the platter, and those still dirty. */
static void noteAbsences(struct Place *place) {
    FaultyDisk *disk = place->disk;
    for (int index = disk->state->operationCount - 1; index >= 0; index--) {
        struct FaultyDisk_Operation *operation = &disk->state->operations[index];
        if (operation->directory == place->node) noteAbsence(place, operation->name);
        if (operation->newDirectory == place->node) noteAbsence(place, operation->newName);
    }
    char path[PATH_MAX];
    FaultyDisk_platterPath(disk, place->node, path);
    int file = FaultyDisk_rawOpen(disk->directory, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    DIR *directory = file < 0 ? NULL : fdopendir(file);
    if (!directory) return;
    for (struct dirent *entry; (entry = readdir(directory));) {
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) noteAbsence(place, entry->d_name);
    }
    closedir(directory);
}

static int scan(FaultyDisk *disk, int node, int file, const char *path, bool isSeen[static FaultyDisk_nodesMax]);

static int scanEntry(struct Place *place, const char *name, bool isSeen[static FaultyDisk_nodesMax]) {
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s%s%s", place->path, *place->path ? "/" : "", name);
    struct stat facts;
    if (fstatat(place->file, name, &facts, AT_SYMLINK_NOFOLLOW) != 0) return 0;
    if (!S_ISREG(facts.st_mode) && !S_ISDIR(facts.st_mode)) {
        FaultyDisk_complain(place->disk, "neither a file nor a directory", path);
        return 0;
    }
    int file = FaultyDisk_rawOpen(place->file, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC, 0);
    if (file < 0) return -1;
    int result = 0;
    if (S_ISDIR(facts.st_mode)) {
        result = scan(place->disk, noteDirectory(place, name, &facts, path), file, path, isSeen);
    } else {
        noteFile(place, name, &facts, file, path);
        isSeen[FaultyDisk_findNode(place->disk, &facts)] = true;
    }
    /* Before the program has a lock on the file, which closing a descriptor here would release. */
    FaultyDisk_rawClose(file);
    return result;
}

static int scan(FaultyDisk *disk, int node, int file, const char *path, bool isSeen[static FaultyDisk_nodesMax]) {
    struct Place place = {disk, node, file, path};
    isSeen[node] = true;
    int copy = (int)syscall(SYS_fcntl, file, F_DUPFD_CLOEXEC, 0);
    DIR *directory = copy < 0 ? NULL : fdopendir(copy);
    if (!directory) return -1;
    int result = 0;
    for (struct dirent *entry; result == 0 && (entry = readdir(directory));) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
        result = scanEntry(&place, entry->d_name, isSeen);
    }
    closedir(directory);
    noteAbsences(&place);
    return result;
}

int FaultyDisk_scan(FaultyDisk *disk) {
    bool isSeen[FaultyDisk_nodesMax] = {false};
    int file = FaultyDisk_rawOpen(AT_FDCWD, disk->state->watched, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    if (file < 0) return -1;
    int result = scan(disk, FaultyDisk_root, file, "", isSeen);
    FaultyDisk_rawClose(file);
    for (int node = 0; node < FaultyDisk_nodesMax; node++) {
        /* It had descriptors only, and those were closed with their program. */
        bool isThere = disk->state->nodes[node].kind != FaultyDisk_noNode && disk->state->nodes[node].inode != 0;
        if (isThere && !isSeen[node]) FaultyDisk_loseFile(disk, node);
    }
    FaultyDisk_collectNodes(disk);
    return result;
}
