/* The library that is preloaded into the program under test. It has libc's names for calls that write, sync and change
 * names, carries them out in the page cache, and tells the model. What is written is readable, on the
 * platter or not.
 *
 * No call is carried out as the program made it: a sync is the model's, and O_DSYNC and O_DIRECT are kept in a table
 * here, not in the descriptor. So the model knows all, and a test does not wait for the machine's own disk. */
#pragma once

#include "Model.h"

#define FaultyDisk_exported __attribute__((visibility("default")))

/* How a descriptor was opened. */
enum {
    FaultyDisk_isSynchronous = 1,
    FaultyDisk_isDirect = 2,
    FaultyDisk_isAppending = 4,
};

struct FaultyDisk_Descriptor {
    int node;
    unsigned flags;
};

/* Where a path leads that is below the watched directory. */
struct FaultyDisk_Place {
    /* The node of the directory that it is in, -1 for the watched directory itself. */
    int directory;
    bool exists;
    char name[FaultyDisk_nameMax];
    /* From the watched directory on. */
    char path[PATH_MAX];
};

/* The disk; NULL in a program that is not under test. It is held from `lock` to `unlock`. */
FaultyDisk *FaultyDisk_preloaded(void);
void FaultyDisk_lock(void);
void FaultyDisk_unlock(void);

/* Descriptors.c. True, with the disk held, when the descriptor is one of the disk. */
bool FaultyDisk_enter(int file, struct FaultyDisk_Descriptor *descriptor);
/* For these the disk is held already. */
void FaultyDisk_keepDescriptor(int file, struct FaultyDisk_Descriptor descriptor);
void FaultyDisk_dropDescriptor(int file);
/* Lets go of a file that has neither name nor descriptor any more. */
void FaultyDisk_dropIfGone(int node);

/* Paths.c. False when a path leads elsewhere. With `follows` a link at its end counts as what it leads to. */
bool FaultyDisk_resolve(int at, const char *path, bool follows, struct FaultyDisk_Place *place);

/* Verdicts.c. Asks the rules about a call, waits as long as they say, and ends the program if they say so. The disk is
 * not held while it waits. */
struct FaultyDisk_Verdict FaultyDisk_ask(enum FaultyDisk_Subject subject, int node, const char *label, bool allocates);
/* The call is done: ends the program if the rules say so, and lets some of what is due reach the platter. */
void FaultyDisk_finish(const struct FaultyDisk_Verdict *verdict, int node);
/* Whether writing fails for a disk that is mounted for reading only. */
bool FaultyDisk_isReadOnly(const char *label);

/* Syncing.c. One sync of a file, of its range, or of a directory: 0 or the error. */
enum FaultyDisk_Extent { FaultyDisk_ofRange, FaultyDisk_ofData, FaultyDisk_ofAll };
int FaultyDisk_sync(int node, enum FaultyDisk_Extent extent, int64_t from, int64_t to);

/* Room.c */
int FaultyDisk_truncate(int node, off_t length);
