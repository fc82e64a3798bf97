#define _GNU_SOURCE
#include "Model.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct FaultyDisk_Operation *newOperation(FaultyDisk *disk) {
    struct FaultyDisk_State *state = disk->state;
    if (state->operationCount == FaultyDisk_operationsMax) {
        FaultyDisk_complain(disk, "too many changes of names without a sync", state->watched);
        abort();
    }
    struct FaultyDisk_Operation *operation = &state->operations[state->operationCount];
    memset(operation, 0, sizeof *operation);
    return operation;
}

static void setName(FaultyDisk *disk, char target[static FaultyDisk_nameMax], const char *name) {
    int length = snprintf(target, FaultyDisk_nameMax, "%s", name);
    if (length >= FaultyDisk_nameMax) FaultyDisk_complain(disk, "a name that is too long", name);
}

void FaultyDisk_addOperation(
    FaultyDisk *disk, enum FaultyDisk_OperationKind kind, int directory, const char *name, int node) {
    struct FaultyDisk_Operation *operation = newOperation(disk);
    operation->kind = kind;
    operation->directory = directory;
    setName(disk, operation->name, name);
    operation->newDirectory = -1;
    operation->node = node;
    disk->state->operationCount += 1;
}

void FaultyDisk_addRename(
    FaultyDisk *disk, int directory, const char *name, int newDirectory, const char *newName, int node) {
    struct FaultyDisk_Operation *operation = newOperation(disk);
    operation->kind = FaultyDisk_renames;
    operation->directory = directory;
    setName(disk, operation->name, name);
    operation->newDirectory = newDirectory;
    setName(disk, operation->newName, newName);
    operation->node = node;
    disk->state->operationCount += 1;
}

void FaultyDisk_platterPath(FaultyDisk *disk, int directory, char path[static PATH_MAX]) {
    struct FaultyDisk_Node *entry = &disk->state->nodes[directory];
    if (directory == FaultyDisk_root) {
        snprintf(path, PATH_MAX, "platter");
    } else if (entry->parent < 0) {
        snprintf(path, PATH_MAX, "unnamed/%d", directory);
    } else {
        FaultyDisk_platterPath(disk, entry->parent, path);
        size_t length = strlen(path);
        snprintf(path + length, PATH_MAX - length, "/%s", entry->name);
    }
}

static void entryPath(FaultyDisk *disk, int directory, const char *name, char path[static PATH_MAX]) {
    FaultyDisk_platterPath(disk, directory, path);
    size_t length = strlen(path);
    snprintf(path + length, PATH_MAX - length, "/%s", name);
}

static bool isName(const char *name, int directory, const char *other, int otherDirectory) {
    return directory == otherDirectory && strcmp(name, other) == 0;
}

/* Whether the operation concerns this name. */
static bool concerns(const struct FaultyDisk_Operation *operation, int directory, const char *name) {
    if (isName(operation->name, operation->directory, name, directory)) return true;
    return operation->kind == FaultyDisk_renames
           && isName(operation->newName, operation->newDirectory, name, directory);
}

int FaultyDisk_lookUp(FaultyDisk *disk, int directory, const char *name) {
    for (int index = disk->state->operationCount - 1; index >= 0; index--) {
        struct FaultyDisk_Operation *operation = &disk->state->operations[index];
        if (operation->kind == FaultyDisk_noOperation || !concerns(operation, directory, name)) continue;
        bool isThere = operation->kind == FaultyDisk_creates || operation->kind == FaultyDisk_makesDirectory
                       || (operation->kind == FaultyDisk_renames
                           && isName(operation->newName, operation->newDirectory, name, directory));
        return isThere ? operation->node : -1;
    }
    char path[PATH_MAX];
    struct stat facts;
    entryPath(disk, directory, name, path);
    if (fstatat(disk->directory, path, &facts, AT_SYMLINK_NOFOLLOW) != 0) return -1;
    for (int node = 0; node < FaultyDisk_nodesMax; node++) {
        struct FaultyDisk_Node *entry = &disk->state->nodes[node];
        if (entry->kind == FaultyDisk_file && entry->platterInode == facts.st_ino) return node;
        if (entry->kind == FaultyDisk_directory && entry->parent == directory && strcmp(entry->name, name) == 0) {
            return node;
        }
    }
    return -1;
}

/* Gives a file a name on the platter, and replaces any other file with that name. */
static void linkOnPlatter(FaultyDisk *disk, int node, const char *path) {
    char contents[32];
    snprintf(contents, sizeof contents, "nodes/%d", node);
    if (FaultyDisk_rawLink(disk->directory, contents, disk->directory, path) == 0 || errno != EEXIST) return;
    /* Atomically, like a rename: the program may die in between. */
    FaultyDisk_rawUnlink(disk->directory, "link", 0);
    FaultyDisk_rawLink(disk->directory, contents, disk->directory, "link");
    FaultyDisk_rawRename(disk->directory, "link", disk->directory, path);
    FaultyDisk_rawUnlink(disk->directory, "link", 0);
}

static void renameOnPlatter(FaultyDisk *disk, const char *path, const char *newPath, int node) {
    struct stat facts;
    bool isHere = fstatat(disk->directory, path, &facts, AT_SYMLINK_NOFOLLOW) == 0
                  && facts.st_ino == disk->state->nodes[node].platterInode;
    if (isHere && FaultyDisk_rawRename(disk->directory, path, disk->directory, newPath) == 0) return;
    /* A failed sync has lost the old name. */
    linkOnPlatter(disk, node, newPath);
    FaultyDisk_rawUnlink(disk->directory, path, 0);
}

static void nameDirectory(FaultyDisk *disk, int node, int parent, const char *name, const char *path) {
    struct FaultyDisk_Node *entry = &disk->state->nodes[node];
    char contents[32];
    snprintf(contents, sizeof contents, "unnamed/%d", node);
    if (FaultyDisk_rawRename(disk->directory, contents, disk->directory, path) != 0) {
        FaultyDisk_complain(disk, "a directory cannot be put on the platter", path);
        return;
    }
    entry->parent = parent;
    setName(disk, entry->name, name);
}

/* Removes a directory with its contents. */
static void renameDirectory(FaultyDisk *disk, int node, int parent, const char *name, const char *path) {
    struct FaultyDisk_Node *entry = &disk->state->nodes[node];
    char former[PATH_MAX];
    FaultyDisk_platterPath(disk, node, former);
    if (FaultyDisk_rawRename(disk->directory, former, disk->directory, path) != 0) {
        FaultyDisk_complain(disk, "a directory cannot be renamed on the platter", path);
        return;
    }
    entry->parent = parent;
    setName(disk, entry->name, name);
}

static void applyAll(FaultyDisk *disk, int directory);

static void removeDirectory(FaultyDisk *disk, int node) {
    struct FaultyDisk_Node *entry = &disk->state->nodes[node];
    applyAll(disk, node);
    char path[PATH_MAX], contents[32];
    FaultyDisk_platterPath(disk, node, path);
    snprintf(contents, sizeof contents, "unnamed/%d", node);
    /* The node is freed when nothing refers to it. */
    if (FaultyDisk_rawRename(disk->directory, path, disk->directory, contents) == 0) entry->parent = -1;
}

static void perform(FaultyDisk *disk, const struct FaultyDisk_Operation *operation) {
    char path[PATH_MAX], newPath[PATH_MAX];
    entryPath(disk, operation->directory, operation->name, path);
    switch (operation->kind) {
    case FaultyDisk_noOperation: break;
    case FaultyDisk_creates: linkOnPlatter(disk, operation->node, path); break;
    case FaultyDisk_makesDirectory:
        nameDirectory(disk, operation->node, operation->directory, operation->name, path);
        break;
    case FaultyDisk_unlinks: FaultyDisk_rawUnlink(disk->directory, path, 0); break;
    case FaultyDisk_removesDirectory: removeDirectory(disk, operation->node); break;
    case FaultyDisk_renames:
        entryPath(disk, operation->newDirectory, operation->newName, newPath);
        if (disk->state->nodes[operation->node].kind == FaultyDisk_directory) {
            renameDirectory(disk, operation->node, operation->newDirectory, operation->newName, newPath);
            break;
        }
        renameOnPlatter(disk, path, newPath, operation->node);
        break;
    }
}

/* Applies an operation to the platter, after earlier ones that concern the same names. */
static void apply(FaultyDisk *disk, int index) {
    struct FaultyDisk_Operation *operation = &disk->state->operations[index];
    if (operation->kind == FaultyDisk_noOperation || operation->isForgotten) return;
    for (int before = 0; before < index; before++) {
        struct FaultyDisk_Operation *earlier = &disk->state->operations[before];
        bool isShared = concerns(earlier, operation->directory, operation->name)
                        || (operation->kind == FaultyDisk_renames
                            && concerns(earlier, operation->newDirectory, operation->newName));
        if (isShared) apply(disk, before);
    }
    perform(disk, operation);
    operation->kind = FaultyDisk_noOperation;
}

static bool isIn(const struct FaultyDisk_Operation *operation, int directory) {
    return operation->directory == directory
           || (operation->kind == FaultyDisk_renames && operation->newDirectory == directory);
}

static void applyAll(FaultyDisk *disk, int directory) {
    for (int index = 0; index < disk->state->operationCount; index++) {
        if (isIn(&disk->state->operations[index], directory)) apply(disk, index);
    }
}

/* Closes the gaps left by applied operations. */
static void compact(FaultyDisk *disk) {
    struct FaultyDisk_State *state = disk->state;
    int kept = 0;
    for (int index = 0; index < state->operationCount; index++) {
        if (state->operations[index].kind == FaultyDisk_noOperation) continue;
        if (kept != index) state->operations[kept] = state->operations[index];
        kept += 1;
    }
    state->operationCount = kept;
}

void FaultyDisk_persistNames(FaultyDisk *disk, int directory) {
    applyAll(disk, directory);
    compact(disk);
}

void FaultyDisk_forgetNames(FaultyDisk *disk, int directory) {
    for (int index = 0; index < disk->state->operationCount; index++) {
        struct FaultyDisk_Operation *operation = &disk->state->operations[index];
        if (isIn(operation, directory)) operation->isForgotten = true;
    }
}

void FaultyDisk_persistCreation(FaultyDisk *disk, int node) {
    for (int index = 0; index < disk->state->operationCount; index++) {
        struct FaultyDisk_Operation *operation = &disk->state->operations[index];
        if (operation->kind == FaultyDisk_creates && operation->node == node) apply(disk, index);
    }
    compact(disk);
}

void FaultyDisk_sprinkleNames(FaultyDisk *disk, int64_t permille) {
    if (permille <= 0 || disk->state->operationCount == 0) return;
    for (int index = 0; index < disk->state->operationCount; index++) {
        if (FaultyDisk_chance(disk, permille)) apply(disk, index);
    }
    compact(disk);
}
