#define _GNU_SOURCE
#include "Model.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The model's descriptors have numbers from here on: the program under test gets its usual low numbers. */
static const int lowestDescriptor = 900;

static int moveUp(int file) {
    if (file < 0) return file;
    int moved = (int)syscall(SYS_fcntl, file, F_DUPFD_CLOEXEC, lowestDescriptor);
    /* With a low limit of open files the descriptor keeps its number. */
    if (moved < 0) return file;
    FaultyDisk_rawClose(file);
    return moved;
}

static int freeNode(FaultyDisk *disk) {
    for (int attempt = 0; attempt < 2; attempt++) {
        for (int node = 0; node < FaultyDisk_nodesMax; node++) {
            if (disk->state->nodes[node].kind == FaultyDisk_noNode) return node;
        }
        FaultyDisk_collectNodes(disk);
    }
    FaultyDisk_complain(disk, "too many files", disk->state->watched);
    abort();
}

/* Creates the platter's file for the contents of a file, or a directory that has no name there yet. */
static void makeContents(FaultyDisk *disk, int node, mode_t mode) {
    struct FaultyDisk_Node *entry = &disk->state->nodes[node];
    char path[32];
    if (entry->kind == FaultyDisk_directory) {
        snprintf(path, sizeof path, "unnamed/%d", node);
        if (node != FaultyDisk_root) FaultyDisk_rawMakeDirectory(disk->directory, path, mode);
        return;
    }
    snprintf(path, sizeof path, "nodes/%d", node);
    int file = FaultyDisk_rawOpen(disk->directory, path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, mode);
    struct stat facts;
    if (file >= 0 && fstat(file, &facts) == 0) entry->platterInode = facts.st_ino;
    if (file >= 0) FaultyDisk_rawClose(file);
}

int FaultyDisk_addNode(FaultyDisk *disk, enum FaultyDisk_Kind kind, const struct stat *facts) {
    /* The system reused the inode number of a removed file. */
    int former = FaultyDisk_findNode(disk, facts);
    if (former >= 0) FaultyDisk_loseFile(disk, former);
    int node = freeNode(disk);
    struct FaultyDisk_Node *entry = &disk->state->nodes[node];
    memset(entry, 0, sizeof *entry);
    entry->kind = kind;
    entry->device = facts->st_dev;
    entry->inode = facts->st_ino;
    entry->shrunkTo = -1;
    entry->dirtyFrom = INT64_MAX;
    entry->parent = -1;
    makeContents(disk, node, facts->st_mode & 07777);
    return node;
}

int FaultyDisk_findNode(FaultyDisk *disk, const struct stat *facts) {
    for (int node = 0; node < FaultyDisk_nodesMax; node++) {
        struct FaultyDisk_Node *entry = &disk->state->nodes[node];
        bool isUsed = entry->kind != FaultyDisk_noNode;
        if (isUsed && entry->inode == facts->st_ino && entry->device == facts->st_dev) return node;
    }
    return -1;
}

void FaultyDisk_label(FaultyDisk *disk, int node, const char *path) {
    struct FaultyDisk_Node *entry = &disk->state->nodes[node];
    const char *kind = entry->kind == FaultyDisk_directory ? "directory " : "";
    snprintf(entry->label, sizeof entry->label, "%s%s", kind, path);
}

struct FaultyDisk_Handle *FaultyDisk_open(FaultyDisk *disk, int node, int file) {
    struct FaultyDisk_Handle *handle = &disk->handles[node];
    if (handle->isOpen) return handle;
    char path[64];
    /* Opens through /proc, as the file may have no name any more. Not with dup: `file` may be read-only. */
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    handle->file = moveUp(FaultyDisk_rawOpen(AT_FDCWD, path, O_RDWR | O_CLOEXEC, 0));
    snprintf(path, sizeof path, "nodes/%d", node);
    handle->platter = moveUp(FaultyDisk_rawOpen(disk->directory, path, O_RDWR | O_CLOEXEC, 0));
    snprintf(path, sizeof path, "marks/%d", node);
    int marks = FaultyDisk_rawOpen(disk->directory, path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    void *bytes = MAP_FAILED;
    if (marks >= 0 && FaultyDisk_rawTruncate(marks, FaultyDisk_sectorsMax) == 0) {
        bytes = mmap(NULL, FaultyDisk_sectorsMax, PROT_READ | PROT_WRITE, MAP_SHARED, marks, 0);
    }
    if (marks >= 0) FaultyDisk_rawClose(marks);
    handle->marks = bytes;
    handle->isOpen = true;
    if (handle->file >= 0 && handle->platter >= 0 && bytes != MAP_FAILED) return handle;
    FaultyDisk_complain(disk, "cannot be opened", disk->state->nodes[node].label);
    abort();
}

void FaultyDisk_closeHandle(FaultyDisk *disk, int node) {
    struct FaultyDisk_Handle *handle = &disk->handles[node];
    if (!handle->isOpen) return;
    FaultyDisk_rawClose(handle->file);
    FaultyDisk_rawClose(handle->platter);
    munmap(handle->marks, FaultyDisk_sectorsMax);
    handle->isOpen = false;
}

void FaultyDisk_loseFile(FaultyDisk *disk, int node) {
    struct FaultyDisk_Node *entry = &disk->state->nodes[node];
    FaultyDisk_closeHandle(disk, node);
    entry->device = entry->inode = 0;
    entry->shrunkTo = -1;
    /* Its unwritten data will never be written. */
    char path[32];
    snprintf(path, sizeof path, "marks/%d", node);
    FaultyDisk_rawUnlink(disk->directory, path, 0);
    entry->dirtyFrom = INT64_MAX;
    entry->dirtyTo = 0;
}

static bool isNamed(FaultyDisk *disk, int node) {
    struct FaultyDisk_Node *entry = &disk->state->nodes[node];
    for (int index = 0; index < disk->state->operationCount; index++) {
        struct FaultyDisk_Operation *operation = &disk->state->operations[index];
        if (operation->node == node || operation->directory == node || operation->newDirectory == node) return true;
    }
    if (entry->kind == FaultyDisk_directory) return node == FaultyDisk_root || entry->parent >= 0;
    char path[32];
    struct stat facts;
    snprintf(path, sizeof path, "nodes/%d", node);
    return fstatat(disk->directory, path, &facts, 0) == 0 && facts.st_nlink > 1;
}

void FaultyDisk_collectNodes(FaultyDisk *disk) {
    for (int node = 0; node < FaultyDisk_nodesMax; node++) {
        struct FaultyDisk_Node *entry = &disk->state->nodes[node];
        if (entry->kind == FaultyDisk_noNode || entry->inode != 0 || isNamed(disk, node)) continue;
        char path[32];
        snprintf(path, sizeof path, entry->kind == FaultyDisk_file ? "nodes/%d" : "unnamed/%d", node);
        FaultyDisk_rawUnlink(disk->directory, path, entry->kind == FaultyDisk_file ? 0 : AT_REMOVEDIR);
        snprintf(path, sizeof path, "marks/%d", node);
        FaultyDisk_rawUnlink(disk->directory, path, 0);
        FaultyDisk_closeHandle(disk, node);
        memset(entry, 0, sizeof *entry);
    }
}
