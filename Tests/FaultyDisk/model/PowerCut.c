#define _GNU_SOURCE
#include "Model.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

static void closeHandles(FaultyDisk *disk) {
    for (int node = 0; node < FaultyDisk_nodesMax; node++) FaultyDisk_closeHandle(disk, node);
}

static bool isSpecial(const char *name) { return strcmp(name, ".") == 0 || strcmp(name, "..") == 0; }

/* Removes the contents of a directory. */
static int empty(int file) {
    int copy = (int)syscall(SYS_fcntl, file, F_DUPFD_CLOEXEC, 0), result = 0;
    DIR *directory = copy < 0 ? NULL : fdopendir(copy);
    if (!directory) return -1;
    for (struct dirent *entry; result == 0 && (entry = readdir(directory));) {
        if (isSpecial(entry->d_name)) continue;
        if (FaultyDisk_rawUnlink(file, entry->d_name, 0) == 0) continue;
        int inner = FaultyDisk_rawOpen(file, entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);
        result = inner < 0 ? -1 : empty(inner);
        if (inner >= 0) FaultyDisk_rawClose(inner);
        if (result == 0) result = FaultyDisk_rawUnlink(file, entry->d_name, AT_REMOVEDIR);
    }
    closedir(directory);
    return result;
}

/* Copies the contents of a file, and keeps its holes. */
static int copy(int from, int to) {
    struct stat facts;
    if (fstat(from, &facts) != 0 || FaultyDisk_rawTruncate(to, facts.st_size) != 0) return -1;
    off_t position = 0;
    while ((position = lseek(from, position, SEEK_DATA)) >= 0) {
        off_t end = lseek(from, position, SEEK_HOLE);
        while (position < end) {
            off_t source = position, target = position;
            if (syscall(SYS_copy_file_range, from, &source, to, &target, (size_t)(end - position), 0) <= 0) return -1;
            position = source;
        }
    }
    return errno == ENXIO ? 0 : -1;
}

/* The place to which a directory of the platter is restored. */
struct Target {
    FaultyDisk *disk;
    int node;
    int platter, file;
    const char *path;
};

static int restoreFile(struct Target *target, const char *name, const struct stat *facts, const char *path) {
    FaultyDisk *disk = target->disk;
    int node = FaultyDisk_lookUp(disk, target->node, name);
    if (node < 0) return ENOENT;
    struct FaultyDisk_Node *entry = &disk->state->nodes[node];
    if (entry->inode != 0) {
        char other[2 * PATH_MAX];
        snprintf(other, sizeof other, "%s/%s", disk->state->watched, entry->label);
        return FaultyDisk_rawLink(AT_FDCWD, other, target->file, name) == 0 ? 0 : errno;
    }
    int from = FaultyDisk_rawOpen(target->platter, name, O_RDONLY | O_CLOEXEC, 0);
    int to = FaultyDisk_rawOpen(target->file, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    struct stat restored;
    bool isDone = from >= 0 && to >= 0 && copy(from, to) == 0 && fchmod(to, facts->st_mode & 07777) == 0
                  && fchown(to, facts->st_uid, facts->st_gid) == 0 && fstat(to, &restored) == 0;
    int error = isDone ? 0 : errno;
    if (from >= 0) FaultyDisk_rawClose(from);
    if (to >= 0) FaultyDisk_rawClose(to);
    if (!isDone) return error;
    entry->device = restored.st_dev;
    entry->inode = restored.st_ino;
    FaultyDisk_label(disk, node, path);
    return 0;
}

static int restore(struct Target *target);

static int restoreDirectory(struct Target *target, const char *name, const struct stat *facts, const char *path) {
    FaultyDisk *disk = target->disk;
    int node = FaultyDisk_lookUp(disk, target->node, name);
    if (node < 0) return ENOENT;
    if (FaultyDisk_rawMakeDirectory(target->file, name, facts->st_mode & 07777) != 0) return errno;
    struct Target inner = {disk, node, -1, -1, path};
    inner.platter = FaultyDisk_rawOpen(target->platter, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    inner.file = FaultyDisk_rawOpen(target->file, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    struct stat restored;
    int error = inner.platter < 0 || inner.file < 0 || fstat(inner.file, &restored) != 0 ? errno : 0;
    if (error == 0) {
        disk->state->nodes[node].device = restored.st_dev;
        disk->state->nodes[node].inode = restored.st_ino;
        FaultyDisk_label(disk, node, path);
        error = restore(&inner);
    }
    if (inner.platter >= 0) FaultyDisk_rawClose(inner.platter);
    if (inner.file >= 0) FaultyDisk_rawClose(inner.file);
    return error;
}

static int restore(struct Target *target) {
    int copy = (int)syscall(SYS_fcntl, target->platter, F_DUPFD_CLOEXEC, 0), error = 0;
    DIR *directory = copy < 0 ? NULL : fdopendir(copy);
    if (!directory) return errno;
    for (struct dirent *entry; error == 0 && (entry = readdir(directory));) {
        if (isSpecial(entry->d_name)) continue;
        char path[PATH_MAX];
        snprintf(path, sizeof path, "%s%s%s", target->path, *target->path ? "/" : "", entry->d_name);
        struct stat facts;
        if (fstatat(target->platter, entry->d_name, &facts, AT_SYMLINK_NOFOLLOW) != 0) {
            error = errno;
        } else if (S_ISDIR(facts.st_mode)) {
            error = restoreDirectory(target, entry->d_name, &facts, path);
        } else {
            error = restoreFile(target, entry->d_name, &facts, path);
        }
    }
    closedir(directory);
    return error;
}

/* Modes are not modelled: the platter has those of the page cache. */
static void copyMode(FaultyDisk *disk, int node) {
    struct FaultyDisk_Handle *handle = &disk->handles[node];
    struct stat facts;
    if (fstat(handle->file, &facts) != 0) return;
    bool isCopied = fchmod(handle->platter, facts.st_mode & 07777) == 0
                    && fchown(handle->platter, facts.st_uid, facts.st_gid) == 0;
    if (!isCopied) FaultyDisk_complain(disk, "its mode cannot be kept", disk->state->nodes[node].label);
}

/* Forgets everything that was only in the page cache. */
static void forgetPageCache(FaultyDisk *disk) {
    disk->state->operationCount = 0;
    for (int node = 0; node < FaultyDisk_nodesMax; node++) {
        struct FaultyDisk_Node *entry = &disk->state->nodes[node];
        if (disk->handles[node].isOpen) FaultyDisk_clearMarks(disk, node, FaultyDisk_dirty | FaultyDisk_forgotten);
        entry->shrunkTo = -1;
        entry->isMapped = false;
        if (node != FaultyDisk_root) entry->device = entry->inode = 0;
    }
    closeHandles(disk);
}

int FaultyDisk_cutPower(FaultyDisk *disk, int permille) {
    if (FaultyDisk_scan(disk) != 0) return errno;
    for (int node = 0; node < FaultyDisk_nodesMax; node++) {
        if (!disk->handles[node].isOpen) continue;
        copyMode(disk, node);
        /* Data written through memory may have reached the platter as well. */
        struct stat facts;
        bool isMapped = disk->state->nodes[node].isMapped && fstat(disk->handles[node].file, &facts) == 0;
        if (isMapped) FaultyDisk_markDirty(disk, node, 0, facts.st_size);
        FaultyDisk_sprinkle(disk, node, permille);
    }
    FaultyDisk_sprinkleNames(disk, permille);
    forgetPageCache(disk);

    struct Target target = {disk, FaultyDisk_root, -1, -1, ""};
    int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
    target.platter = FaultyDisk_rawOpen(disk->directory, "platter", flags, 0);
    target.file = FaultyDisk_rawOpen(AT_FDCWD, disk->state->watched, flags, 0);
    int error = target.platter < 0 || target.file < 0 || empty(target.file) != 0 ? errno : restore(&target);
    if (target.platter >= 0) FaultyDisk_rawClose(target.platter);
    if (target.file >= 0) FaultyDisk_rawClose(target.file);
    FaultyDisk_collectNodes(disk);
    FaultyDisk_add(disk, FaultyDisk_cutCount, 1);
    return error;
}

int FaultyDisk_syncAll(FaultyDisk *disk) {
    if (FaultyDisk_scan(disk) != 0) return errno;
    for (int index = 0; index < disk->state->operationCount; index++) {
        disk->state->operations[index].isForgotten = false;
    }
    for (int node = 0; node < FaultyDisk_nodesMax; node++) {
        struct FaultyDisk_Handle *handle = &disk->handles[node];
        struct stat facts;
        if (disk->state->nodes[node].kind == FaultyDisk_directory) FaultyDisk_persistNames(disk, node);
        if (!handle->isOpen || fstat(handle->file, &facts) != 0) continue;
        FaultyDisk_markDirty(disk, node, 0, facts.st_size);
        FaultyDisk_persist(disk, node);
    }
    closeHandles(disk);
    return 0;
}
