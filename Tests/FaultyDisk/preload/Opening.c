#define _GNU_SOURCE
#include "Preload.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>

/* The node of an opened file; a new one for a new file. */
static int nodeOf(int file, const struct FaultyDisk_Place *place, bool isNew) {
    FaultyDisk *disk = FaultyDisk_preloaded();
    struct stat facts;
    if (fstat(file, &facts) != 0) abort();
    int node = isNew ? -1 : FaultyDisk_findNode(disk, &facts);
    if (node < 0) {
        if (!isNew) FaultyDisk_complain(disk, "made by nobody that the model knows", place->path);
        node = FaultyDisk_addNode(disk, FaultyDisk_file, &facts);
        FaultyDisk_addOperation(disk, FaultyDisk_creates, place->directory, place->name, node);
    }
    if (disk->state->nodes[node].kind == FaultyDisk_file) FaultyDisk_open(disk, node, file);
    FaultyDisk_label(disk, node, place->path);
    return node;
}

/* The errno that forbids this open; 0 if it is allowed. */
static int objection(const struct FaultyDisk_Place *place, int flags) {
    bool isDirect = flags & O_DIRECT, writes = (flags & O_ACCMODE) != O_RDONLY;
    if (isDirect && FaultyDisk_trait(FaultyDisk_preloaded(), FaultyDisk_directAlignment) == 0) return EINVAL;
    return writes && place->exists && FaultyDisk_isReadOnly(place->path) ? EROFS : 0;
}

static int refuse(int error) {
    errno = error;
    return -1;
}

static int openPlace(int at, const char *path, int flags, mode_t mode, const struct FaultyDisk_Place *place) {
    bool isNew = flags & O_CREAT && !place->exists;
    int error = objection(place, flags);
    if (error != 0) return refuse(error);
    struct FaultyDisk_Verdict verdict = {.heldBy = -1};
    if (isNew) verdict = FaultyDisk_ask(FaultyDisk_writes, -1, place->path, true);
    if (verdict.error) return refuse(verdict.error);
    bool cutsOff = flags & O_TRUNC && (flags & O_ACCMODE) != O_RDONLY && !isNew;
    int file = FaultyDisk_rawOpen(at, path, flags & ~(O_SYNC | O_DSYNC | O_DIRECT | O_TRUNC), mode);
    if (file < 0) return file;
    struct FaultyDisk_Descriptor descriptor = {nodeOf(file, place, isNew), 0};
    if (flags & O_DSYNC) descriptor.flags |= FaultyDisk_isSynchronous;
    if (flags & O_DIRECT) descriptor.flags |= FaultyDisk_isDirect;
    if (flags & O_APPEND) descriptor.flags |= FaultyDisk_isAppending;
    FaultyDisk_keepDescriptor(file, descriptor);
    if (cutsOff && FaultyDisk_truncate(descriptor.node, 0) != 0) {
        error = errno;
        FaultyDisk_dropDescriptor(file);
        FaultyDisk_rawClose(file);
        return refuse(error);
    }
    FaultyDisk_finish(&verdict, -1);
    return file;
}

static int openAt(int at, const char *path, int flags, mode_t mode) {
    FaultyDisk *disk = FaultyDisk_preloaded();
    if (!disk || flags & O_PATH) return FaultyDisk_rawOpen(at, path, flags, mode);
    FaultyDisk_lock();
    struct FaultyDisk_Place place;
    int file;
    if (!FaultyDisk_resolve(at, path, true, &place)) {
        file = FaultyDisk_rawOpen(at, path, flags, mode);
    } else {
        if ((flags & O_TMPFILE) == O_TMPFILE) FaultyDisk_complain(disk, "O_TMPFILE", place.path);
        file = openPlace(at, path, flags, mode, &place);
    }
    int error = errno;
    FaultyDisk_unlock();
    errno = error;
    return file;
}

static mode_t modeIn(int flags, va_list arguments) {
    return flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(arguments, mode_t) : 0;
}

FaultyDisk_exported int open64(const char *path, int flags, ...) {
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = modeIn(flags, arguments);
    va_end(arguments);
    return openAt(AT_FDCWD, path, flags, mode);
}

FaultyDisk_exported int openat64(int at, const char *path, int flags, ...) {
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = modeIn(flags, arguments);
    va_end(arguments);
    return openAt(at, path, flags, mode);
}

FaultyDisk_exported int creat64(const char *path, mode_t mode) {
    return openAt(AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC, mode);
}

/* The names to which the headers change open in a program built with _FORTIFY_SOURCE. */
FaultyDisk_exported int __open64_2(const char *path, int flags) { return openAt(AT_FDCWD, path, flags, 0); }
FaultyDisk_exported int __openat64_2(int at, const char *path, int flags) { return openAt(at, path, flags, 0); }

FaultyDisk_exported int open(const char *path, int flags, ...) __attribute__((alias("open64")));
FaultyDisk_exported int openat(int at, const char *path, int flags, ...) __attribute__((alias("openat64")));
FaultyDisk_exported int creat(const char *path, mode_t mode) __attribute__((alias("creat64")));
FaultyDisk_exported int __open_2(const char *path, int flags) __attribute__((alias("__open64_2")));
FaultyDisk_exported int __openat_2(int at, const char *path, int flags) __attribute__((alias("__openat64_2")));
