/* The library that is preloaded into the program under test. It defines libc's functions that write, sync and change
 * names, carries the calls out in the page cache, and tells the model. Written data can be read, whether or not they
 * are on the platter.
 *
 * The library changes each call: the model does the syncs, and O_DSYNC and O_DIRECT are kept in a table here, not in
 * the descriptor. So the model knows everything, and a test does not wait for the machine's own disk. */
#pragma once

#include "Model.h"

#define FaultyDisk_exported __attribute__((visibility("default")))

/* The flags with which a descriptor was opened. */
enum {
    FaultyDisk_isSynchronous = 1,
    FaultyDisk_isDirect = 2,
    FaultyDisk_isAppending = 4,
};

struct FaultyDisk_Descriptor {
    int node;
    unsigned flags;
};

/* The target of a path below the watched directory. */
struct FaultyDisk_Place {
    /* The node of its directory; -1 for the watched directory itself. */
    int directory;
    bool exists;
    char name[FaultyDisk_nameMax];
    /* The path below the watched directory. */
    char path[PATH_MAX];
};

/* The disk; NULL in a program that is not under test. It is held from `lock` to `unlock`. */
FaultyDisk *FaultyDisk_preloaded(void);
void FaultyDisk_lock(void);
void FaultyDisk_unlock(void);

/* Descriptors.c. Returns true, with the disk locked, when the descriptor belongs to the disk. */
bool FaultyDisk_enter(int file, struct FaultyDisk_Descriptor *descriptor);
/* The caller holds the disk. */
void FaultyDisk_keepDescriptor(int file, struct FaultyDisk_Descriptor descriptor);
void FaultyDisk_dropDescriptor(int file);
/* Frees a file without a name or a descriptor. */
void FaultyDisk_dropIfGone(int node);

/* Paths.c. Returns false when a path leads elsewhere. With `follows` a link at its end stands for its target. */
bool FaultyDisk_resolve(int at, const char *path, bool follows, struct FaultyDisk_Place *place);

/* Verdicts.c. Asks the rules about a call, waits as long as they say, and kills the program if they say so. The disk is
 * unlocked during the wait. */
struct FaultyDisk_Verdict FaultyDisk_ask(enum FaultyDisk_Subject subject, int node, const char *label, bool allocates);
/* After the call: kills the program if the rules say so, and lets some dirty data reach the platter. */
void FaultyDisk_finish(const struct FaultyDisk_Verdict *verdict, int node);
/* Whether a write fails because the disk is mounted read-only. */
bool FaultyDisk_isReadOnly(const char *label);

/* Syncing.c. Syncs a file, a range of it, or a directory; returns 0 or the errno. */
enum FaultyDisk_Extent { FaultyDisk_ofRange, FaultyDisk_ofData, FaultyDisk_ofAll };
int FaultyDisk_sync(int node, enum FaultyDisk_Extent extent, int64_t from, int64_t to);

/* Room.c */
int FaultyDisk_truncate(int node, off_t length);
