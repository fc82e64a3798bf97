#define _GNU_SOURCE
#include "Preload.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static int leave(int result) {
    int error = errno;
    FaultyDisk_unlock();
    errno = error;
    return result;
}

static int refuse(int error) {
    errno = error;
    return -1;
}

/* Follows up a call that has failed. */
static int fail(const struct FaultyDisk_Verdict *verdict) {
    int error = errno;
    FaultyDisk_finish(verdict, -1);
    return leave(refuse(error));
}

/* The node of a name in the page cache; -1: none. */
static int nodeAt(int at, const char *path, struct stat *facts) {
    if (fstatat(at, path, facts, AT_SYMLINK_NOFOLLOW) != 0) return -1;
    return FaultyDisk_findNode(FaultyDisk_preloaded(), facts);
}

/* A file, or with AT_REMOVEDIR a directory. */
static int removeName(int at, const char *path, int flags) {
    FaultyDisk *disk = FaultyDisk_preloaded();
    if (!disk) return FaultyDisk_rawUnlink(at, path, flags);
    FaultyDisk_lock();
    struct FaultyDisk_Place place;
    bool isHere = FaultyDisk_resolve(at, path, false, &place);
    if (!isHere || !place.exists) return leave(FaultyDisk_rawUnlink(at, path, flags));
    struct FaultyDisk_Verdict verdict = FaultyDisk_ask(FaultyDisk_writes, -1, place.path, false);
    if (verdict.error) return leave(refuse(verdict.error));
    struct stat facts;
    int node = nodeAt(at, path, &facts);
    if (FaultyDisk_rawUnlink(at, path, flags) != 0) return fail(&verdict);
    if (node < 0) return leave(0);
    bool isDirectory = flags & AT_REMOVEDIR;
    FaultyDisk_addOperation(
        disk, isDirectory ? FaultyDisk_removesDirectory : FaultyDisk_unlinks, place.directory, place.name, node);
    if (isDirectory) FaultyDisk_loseFile(disk, node);
    else FaultyDisk_dropIfGone(node);
    FaultyDisk_finish(&verdict, -1);
    return leave(0);
}

FaultyDisk_exported int unlink(const char *path) { return removeName(AT_FDCWD, path, 0); }
FaultyDisk_exported int unlinkat(int at, const char *path, int flags) { return removeName(at, path, flags); }
FaultyDisk_exported int rmdir(const char *path) { return removeName(AT_FDCWD, path, AT_REMOVEDIR); }
FaultyDisk_exported int remove(const char *path) {
    return unlink(path) == 0 || (errno == EISDIR && rmdir(path) == 0) ? 0 : -1;
}

static int rename2(int from, const char *old, int to, const char *new, unsigned flags) {
    FaultyDisk *disk = FaultyDisk_preloaded();
    if (!disk) return (int)syscall(SYS_renameat2, from, old, to, new, flags);
    FaultyDisk_lock();
    struct FaultyDisk_Place source, target;
    bool isSource = FaultyDisk_resolve(from, old, false, &source);
    bool isTarget = FaultyDisk_resolve(to, new, false, &target);
    if (!isSource && !isTarget) return leave((int)syscall(SYS_renameat2, from, old, to, new, flags));
    if (isSource != isTarget) FaultyDisk_complain(disk, "renamed into or out of the watched directory", old);
    if (isSource != isTarget) return leave(refuse(EXDEV));
    struct FaultyDisk_Verdict verdict = FaultyDisk_ask(FaultyDisk_writes, -1, target.path, true);
    if (verdict.error) return leave(refuse(verdict.error));
    struct stat facts, replaced;
    int node = nodeAt(from, old, &facts), former = nodeAt(to, new, &replaced);
    bool isFile = node >= 0 && disk->state->nodes[node].kind == FaultyDisk_file;
    bool isFollowed = node >= 0 && (isFile || former < 0) && (flags & ~RENAME_NOREPLACE) == 0;
    if (node >= 0 && !isFollowed) FaultyDisk_complain(disk, "a rename in exchange, or over a directory", old);
    if (syscall(SYS_renameat2, from, old, to, new, flags) != 0) return fail(&verdict);
    /* A rename between two names of one file does nothing. */
    if (!isFollowed || node == former) return leave(0);
    FaultyDisk_addRename(disk, source.directory, source.name, target.directory, target.name, node);
    FaultyDisk_label(disk, node, target.path);
    if (former >= 0) FaultyDisk_dropIfGone(former);
    FaultyDisk_finish(&verdict, -1);
    return leave(0);
}

FaultyDisk_exported int rename(const char *old, const char *new) { return rename2(AT_FDCWD, old, AT_FDCWD, new, 0); }
FaultyDisk_exported int renameat(int from, const char *old, int to, const char *new) {
    return rename2(from, old, to, new, 0);
}
FaultyDisk_exported int renameat2(int from, const char *old, int to, const char *new, unsigned flags) {
    return rename2(from, old, to, new, flags);
}

static int makeDirectory(int at, const char *path, mode_t mode) {
    FaultyDisk *disk = FaultyDisk_preloaded();
    if (!disk) return FaultyDisk_rawMakeDirectory(at, path, mode);
    FaultyDisk_lock();
    struct FaultyDisk_Place place;
    bool isHere = FaultyDisk_resolve(at, path, false, &place);
    if (!isHere || place.exists) return leave(FaultyDisk_rawMakeDirectory(at, path, mode));
    struct FaultyDisk_Verdict verdict = FaultyDisk_ask(FaultyDisk_writes, -1, place.path, true);
    if (verdict.error) return leave(refuse(verdict.error));
    if (FaultyDisk_rawMakeDirectory(at, path, mode) != 0) return fail(&verdict);
    struct stat facts;
    if (fstatat(at, path, &facts, AT_SYMLINK_NOFOLLOW) == 0) {
        int node = FaultyDisk_addNode(disk, FaultyDisk_directory, &facts);
        FaultyDisk_addOperation(disk, FaultyDisk_makesDirectory, place.directory, place.name, node);
        FaultyDisk_label(disk, node, place.path);
    }
    FaultyDisk_finish(&verdict, -1);
    return leave(0);
}

FaultyDisk_exported int mkdir(const char *path, mode_t mode) { return makeDirectory(AT_FDCWD, path, mode); }
FaultyDisk_exported int mkdirat(int at, const char *path, mode_t mode) { return makeDirectory(at, path, mode); }

static int makeLink(int from, const char *old, int to, const char *new, int flags) {
    FaultyDisk *disk = FaultyDisk_preloaded();
    if (!disk) return (int)syscall(SYS_linkat, from, old, to, new, flags);
    FaultyDisk_lock();
    struct FaultyDisk_Place place;
    if (!FaultyDisk_resolve(to, new, false, &place)) {
        return leave((int)syscall(SYS_linkat, from, old, to, new, flags));
    }
    struct FaultyDisk_Verdict verdict = FaultyDisk_ask(FaultyDisk_writes, -1, place.path, true);
    if (verdict.error) return leave(refuse(verdict.error));
    if (syscall(SYS_linkat, from, old, to, new, flags) != 0) return fail(&verdict);
    struct stat facts;
    int node = nodeAt(to, new, &facts);
    if (node >= 0) FaultyDisk_addOperation(disk, FaultyDisk_creates, place.directory, place.name, node);
    else FaultyDisk_complain(disk, "a link to what the model does not know", new);
    FaultyDisk_finish(&verdict, -1);
    return leave(0);
}

FaultyDisk_exported int link(const char *old, const char *new) { return makeLink(AT_FDCWD, old, AT_FDCWD, new, 0); }
FaultyDisk_exported int linkat(int from, const char *old, int to, const char *new, int flags) {
    return makeLink(from, old, to, new, flags);
}
