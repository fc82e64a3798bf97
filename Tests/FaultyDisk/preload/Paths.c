#define _GNU_SOURCE
#include "Preload.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The path from the root on, not canonical yet. */
static bool makeAbsolute(int at, const char *path, char absolute[static PATH_MAX]) {
    if (*path == '/') return snprintf(absolute, PATH_MAX, "%s", path) < PATH_MAX;
    if (at == AT_FDCWD) {
        if (!getcwd(absolute, PATH_MAX)) return false;
    } else {
        char link[64];
        snprintf(link, sizeof link, "/proc/self/fd/%d", at);
        ssize_t length = readlink(link, absolute, PATH_MAX - 1);
        if (length < 0) return false;
        absolute[length] = 0;
    }
    size_t length = strlen(absolute);
    return snprintf(absolute + length, PATH_MAX - length, "/%s", path) < (int)(PATH_MAX - length);
}

/* Makes the path canonical up to its last part, which need not exist. */
static bool resolveParent(char absolute[static PATH_MAX], char canonical[static PATH_MAX]) {
    size_t length = strlen(absolute);
    while (length > 1 && absolute[length - 1] == '/') absolute[--length] = 0;
    char *last = strrchr(absolute, '/');
    if (!last || strcmp(last, "/.") == 0 || strcmp(last, "/..") == 0) return false;
    *last = 0;
    if (!realpath(*absolute ? absolute : "/", canonical)) return false;
    length = strlen(canonical);
    return snprintf(canonical + length, PATH_MAX - length, "/%s", last + 1) < (int)(PATH_MAX - length);
}

/* The directory of a canonical path, and the name in it. */
static bool split(FaultyDisk *disk, const char *canonical, struct FaultyDisk_Place *place) {
    size_t length = strlen(disk->state->watched);
    if (strncmp(canonical, disk->state->watched, length) != 0) return false;
    place->directory = -1;
    *place->name = *place->path = 0;
    if (canonical[length] == 0) return true;
    if (canonical[length] != '/') return false;
    snprintf(place->path, sizeof place->path, "%s", canonical + length + 1);
    const char *last = strrchr(canonical, '/');
    if (snprintf(place->name, sizeof place->name, "%s", last + 1) >= (int)sizeof place->name) {
        FaultyDisk_complain(disk, "a name that is too long", canonical);
    }
    char parent[PATH_MAX];
    snprintf(parent, sizeof parent, "%.*s", (int)(last - canonical), canonical);
    struct stat facts;
    if (stat(parent, &facts) == 0) place->directory = FaultyDisk_findNode(disk, &facts);
    if (place->directory < 0) FaultyDisk_complain(disk, "in a directory that the model does not know", canonical);
    return place->directory >= 0;
}

bool FaultyDisk_resolve(int at, const char *path, bool follows, struct FaultyDisk_Place *place) {
    FaultyDisk *disk = FaultyDisk_preloaded();
    if (!disk || !path) return false;
    /* Such paths are opened often, and are never watched. */
    if (strncmp(path, "/proc/", 6) == 0 || strncmp(path, "/sys/", 5) == 0) return false;
    int error = errno;
    char absolute[PATH_MAX], canonical[PATH_MAX];
    bool isInside = false;
    if (makeAbsolute(at, path, absolute)) {
        struct stat facts;
        place->exists = follows && realpath(absolute, canonical);
        if (place->exists) {
            isInside = split(disk, canonical, place);
        } else if (resolveParent(absolute, canonical)) {
            place->exists = lstat(canonical, &facts) == 0;
            isInside = split(disk, canonical, place);
        }
    }
    errno = error;
    return isInside;
}
