#define _GNU_SOURCE
#include "Model.h"

#include <errno.h>
#include <stdlib.h>

static int64_t sector(int64_t position) { return position / FaultyDisk_sectorSize; }

static int64_t sectorsThrough(int64_t position) {
    return (position + FaultyDisk_sectorSize - 1) / FaultyDisk_sectorSize;
}

static int64_t sizeOf(int file) {
    struct stat facts;
    return fstat(file, &facts) == 0 ? facts.st_size : 0;
}

static uint8_t *marksThrough(FaultyDisk *disk, int node, int64_t to) {
    if (sectorsThrough(to) <= FaultyDisk_sectorsMax) return disk->handles[node].marks;
    FaultyDisk_complain(disk, "larger than the model has room for", disk->state->nodes[node].label);
    abort();
}

void FaultyDisk_markDirty(FaultyDisk *disk, int node, int64_t from, int64_t to) {
    if (from >= to) return;
    struct FaultyDisk_Node *entry = &disk->state->nodes[node];
    uint8_t *marks = marksThrough(disk, node, to);
    if (entry->dirtyFrom > sector(from)) entry->dirtyFrom = sector(from);
    if (entry->dirtyTo < sectorsThrough(to)) entry->dirtyTo = sectorsThrough(to);
    for (int64_t index = sector(from); index < sectorsThrough(to); index++) marks[index] |= FaultyDisk_dirty;
}

void FaultyDisk_markAllocated(FaultyDisk *disk, int node, int64_t from, int64_t to) {
    uint8_t *marks = marksThrough(disk, node, to);
    for (int64_t index = sector(from); index < sectorsThrough(to); index++) marks[index] |= FaultyDisk_allocated;
}

bool FaultyDisk_isAllocated(FaultyDisk *disk, int node, int64_t from, int64_t to) {
    uint8_t *marks = marksThrough(disk, node, to);
    for (int64_t index = sector(from); index < sectorsThrough(to); index++) {
        if (!(marks[index] & FaultyDisk_allocated)) return false;
    }
    return true;
}

void FaultyDisk_shrink(FaultyDisk *disk, int node, int64_t length) {
    struct FaultyDisk_Node *entry = &disk->state->nodes[node];
    if (entry->shrunkTo < 0 || entry->shrunkTo > length) entry->shrunkTo = length;
    uint8_t *marks = disk->handles[node].marks;
    int64_t end = sectorsThrough(sizeOf(disk->handles[node].file));
    for (int64_t index = sectorsThrough(length); index < end; index++) marks[index] = 0;
}

/* Applies a pending truncation first: no sector of a file may reach the platter before it. */
static void applyShrink(FaultyDisk *disk, int node) {
    struct FaultyDisk_Node *entry = &disk->state->nodes[node];
    int platter = disk->handles[node].platter;
    if (entry->shrunkTo >= 0 && sizeOf(platter) > entry->shrunkTo) FaultyDisk_rawTruncate(platter, entry->shrunkTo);
    entry->shrunkTo = -1;
}

/* Copies sectors to the platter. If the program dies in here, they are still dirty. */
static void copyOut(FaultyDisk *disk, int node, int64_t first, int64_t end) {
    struct FaultyDisk_Handle *handle = &disk->handles[node];
    int64_t position = first * FaultyDisk_sectorSize, stop = end * FaultyDisk_sectorSize;
    while (position < stop) {
        size_t wanted = sizeof disk->copyBuffer;
        if (stop - position < (int64_t)wanted) wanted = (size_t)(stop - position);
        ssize_t count = FaultyDisk_rawRead(handle->file, disk->copyBuffer, wanted, position);
        if (count < 0) {
            FaultyDisk_complain(disk, "a file cannot be read", disk->state->nodes[node].label);
            abort();
        }
        /* The end of the file: what was beyond has been cut off. */
        if (count <= 0) break;
        if (FaultyDisk_rawWrite(handle->platter, disk->copyBuffer, (size_t)count, position) != count) {
            FaultyDisk_complain(disk, "the platter cannot be written", disk->state->nodes[node].label);
            abort();
        }
        position += count;
    }
    for (int64_t index = first; index < end; index++) {
        handle->marks[index] &= (uint8_t) ~(FaultyDisk_dirty | FaultyDisk_forgotten);
    }
}

/* Copies each dirty sector of a range with this probability, adjacent ones together. */
static void copyDirty(FaultyDisk *disk, int node, int64_t from, int64_t to, int64_t permille) {
    struct FaultyDisk_Node *entry = &disk->state->nodes[node];
    uint8_t *marks = disk->handles[node].marks;
    if (from < entry->dirtyFrom) from = entry->dirtyFrom;
    if (to > entry->dirtyTo) to = entry->dirtyTo;
    int64_t first = -1;
    for (int64_t index = from; index < to; index++) {
        bool isChosen = (marks[index] & FaultyDisk_dirty) && (permille >= 1000 || FaultyDisk_chance(disk, permille));
        if (isChosen && first < 0) {
            applyShrink(disk, node);
            first = index;
        }
        if (!isChosen && first >= 0) {
            copyOut(disk, node, first, index);
            first = -1;
        }
    }
    if (first >= 0) copyOut(disk, node, first, to);
}

static void resetBounds(struct FaultyDisk_Node *entry) {
    entry->dirtyFrom = INT64_MAX;
    entry->dirtyTo = 0;
}

/* Marks all of the file dirty, because nothing tells which parts were written through memory. */
static void markMapped(FaultyDisk *disk, int node) {
    if (!disk->state->nodes[node].isMapped) return;
    FaultyDisk_markDirty(disk, node, 0, sizeOf(disk->handles[node].file));
}

void FaultyDisk_persist(FaultyDisk *disk, int node) {
    markMapped(disk, node);
    applyShrink(disk, node);
    copyDirty(disk, node, 0, INT64_MAX, 1000);
    resetBounds(&disk->state->nodes[node]);
    struct FaultyDisk_Handle *handle = &disk->handles[node];
    FaultyDisk_rawTruncate(handle->platter, sizeOf(handle->file));
}

void FaultyDisk_persistRange(FaultyDisk *disk, int node, int64_t from, int64_t to) {
    applyShrink(disk, node);
    copyDirty(disk, node, sector(from), sectorsThrough(to), 1000);
    struct FaultyDisk_Handle *handle = &disk->handles[node];
    int64_t size = sizeOf(handle->file), end = to < size ? to : size;
    if (sizeOf(handle->platter) < end) FaultyDisk_rawTruncate(handle->platter, end);
}

void FaultyDisk_forget(FaultyDisk *disk, int node, int64_t from, int64_t to) {
    struct FaultyDisk_Node *entry = &disk->state->nodes[node];
    uint8_t *marks = disk->handles[node].marks;
    int64_t first = sector(from), end = to == INT64_MAX ? INT64_MAX : sectorsThrough(to);
    copyDirty(disk, node, first, end, FaultyDisk_trait(disk, FaultyDisk_eagerness));
    if (first < entry->dirtyFrom) first = entry->dirtyFrom;
    if (end > entry->dirtyTo) end = entry->dirtyTo;
    for (int64_t index = first; index < end; index++) {
        if (!(marks[index] & FaultyDisk_dirty)) continue;
        marks[index] = (uint8_t)((marks[index] & ~FaultyDisk_dirty) | FaultyDisk_forgotten);
        FaultyDisk_add(disk, FaultyDisk_forgottenCount, 1);
    }
}

void FaultyDisk_sprinkle(FaultyDisk *disk, int node, int64_t permille) {
    if (permille <= 0) return;
    struct FaultyDisk_Handle *handle = &disk->handles[node];
    copyDirty(disk, node, 0, INT64_MAX, permille);
    if (!FaultyDisk_chance(disk, permille)) return;
    applyShrink(disk, node);
    int64_t size = sizeOf(handle->file);
    if (sizeOf(handle->platter) < size) FaultyDisk_rawTruncate(handle->platter, size);
}

int64_t FaultyDisk_countMarks(FaultyDisk *disk, int node, uint8_t marks) {
    struct FaultyDisk_Handle *handle = &disk->handles[node];
    int64_t count = 0, end = sectorsThrough(sizeOf(handle->file));
    for (int64_t index = 0; index < end; index++) count += (handle->marks[index] & marks) != 0;
    return count;
}

void FaultyDisk_clearMarks(FaultyDisk *disk, int node, uint8_t marks) {
    struct FaultyDisk_Handle *handle = &disk->handles[node];
    int64_t end = sectorsThrough(sizeOf(handle->file));
    for (int64_t index = 0; index < end; index++) handle->marks[index] &= (uint8_t)~marks;
    resetBounds(&disk->state->nodes[node]);
}
