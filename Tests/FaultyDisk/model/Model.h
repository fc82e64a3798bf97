/* The state of the disk, and the model's operations on it. The caller holds the disk: the preloaded library by its
 * lock, a test because no program runs. */
#pragma once

#include "FaultyDisk.h"
#include "Raw.h"

#include <limits.h>
#include <stdatomic.h>

enum {
    /* The unit that a disk writes as a whole or not at all. */
    FaultyDisk_sectorSize = 512,
    /* The largest file, in sectors: 4 GiB. */
    FaultyDisk_sectorsMax = 8 << 20,
    FaultyDisk_nodesMax = 512,
    FaultyDisk_operationsMax = 2048,
    FaultyDisk_rulesMax = 32,
    FaultyDisk_nameMax = 128,
    /* The node of the watched directory. */
    FaultyDisk_root = 0,
};

/* The marks of a sector, a byte each in a file of the node's own: they outlive a program that is killed. */
enum {
    /* Written, and due at the next sync. */
    FaultyDisk_dirty = 1,
    /* Written, and no longer due after a failed sync. */
    FaultyDisk_forgotten = 2,
    /* Allocated: a write to it takes no space. */
    FaultyDisk_allocated = 4,
};

enum FaultyDisk_Kind { FaultyDisk_noNode, FaultyDisk_file, FaultyDisk_directory };

/* A file or directory, with any names: an inode. */
struct FaultyDisk_Node {
    enum FaultyDisk_Kind kind;
    /* Its stat(2) values in the page cache; 0 when it has no name and no descriptor there any more. */
    uint64_t device, inode;
    /* The inode of the file with its contents on the platter. */
    uint64_t platterInode;
    /* The least size since the last sync of the size, -1 for none: truncated data must not come back. */
    int64_t shrunkTo;
    /* The range of the file that may have dirty sectors. */
    int64_t dirtyFrom, dirtyTo;
    /* Whether it was also written through memory, so that its marks are incomplete. */
    bool isMapped;
    /* The parent of a directory on the platter; -1: none yet. */
    int32_t parent;
    char name[FaultyDisk_nameMax];
    /* The path that rules match: the last one seen. */
    char label[2 * FaultyDisk_nameMax];
};

enum FaultyDisk_OperationKind {
    FaultyDisk_noOperation,
    FaultyDisk_creates,
    FaultyDisk_makesDirectory,
    FaultyDisk_unlinks,
    FaultyDisk_removesDirectory,
    FaultyDisk_renames,
};

/* A change of a name that has not reached the platter. */
struct FaultyDisk_Operation {
    enum FaultyDisk_OperationKind kind;
    /* The directory and the name in it; for a rename, the old ones. */
    int32_t directory;
    char name[FaultyDisk_nameMax];
    /* For a rename, the new ones. */
    int32_t newDirectory;
    char newName[FaultyDisk_nameMax];
    /* The node of the name. */
    int32_t node;
    /* Whether a failed sync has lost it: it never reaches the platter. */
    bool isForgotten;
};

struct FaultyDisk_RuleState {
    /* Written last, and read first. */
    _Atomic uint32_t isArmed;
    uint32_t isTaken;
    enum FaultyDisk_Subject subject;
    enum FaultyDisk_Action action;
    int32_t value;
    bool onlyAllocating;
    int64_t countdown, times;
    _Atomic int64_t matched, matchedBytes, picked;
    char pattern[FaultyDisk_nameMax];
    /* The path of the last call that it picked. */
    char label[2 * FaultyDisk_nameMax];
};

/* The file that the test and the program map. */
struct FaultyDisk_State {
    uint32_t magic;
    /* The program under test; 0 while one is expected. */
    _Atomic int32_t program;
    _Atomic uint32_t events, waiters;
    /* Whether a process is in the middle of a change of page cache and model. */
    _Atomic bool isBusy;
    uint64_t random;
    _Atomic int64_t counters[FaultyDisk_complaintCount + 1];
    _Atomic int64_t traits[FaultyDisk_wallOffset + 1];
    char complaint[256];
    char watched[PATH_MAX];
    struct FaultyDisk_RuleState rules[FaultyDisk_rulesMax];
    struct FaultyDisk_Node nodes[FaultyDisk_nodesMax];
    int32_t operationCount;
    struct FaultyDisk_Operation operations[FaultyDisk_operationsMax];
};

/* Distinguishes a disk of the same build from any other file. */
static const uint32_t FaultyDisk_magic = 0x46440000 ^ (uint32_t)sizeof(struct FaultyDisk_State);

/* The open descriptors of a node in a process; all bits are 0 at first. */
struct FaultyDisk_Handle {
    bool isOpen;
    /* The file in the page cache and the one of the platter. */
    int file, platter;
    uint8_t *marks;
};

struct FaultyDisk {
    struct FaultyDisk_State *state;
    /* The disk's own directory. */
    int directory;
    struct FaultyDisk_Handle handles[FaultyDisk_nodesMax];
    /* The buffer for copies to the platter: threads have small stacks. A test process may have several disks. */
    uint8_t copyBuffer[1 << 16];
};

/* The effect of one or more rules on a call. */
struct FaultyDisk_Verdict {
    int error;
    int delay;
    bool isShort, killsBefore, killsAfter;
    /* The rule that holds it; -1 for none. */
    int heldBy;
};

/* State.c */
FaultyDisk *FaultyDisk_attach(const char *directory);
/* Records a call that the library cannot follow. */
void FaultyDisk_complain(FaultyDisk *disk, const char *what, const char *about);
void FaultyDisk_tell(FaultyDisk *disk);
/* Returns true with a probability of so many of 1000. */
bool FaultyDisk_chance(FaultyDisk *disk, int64_t permille);
void FaultyDisk_add(FaultyDisk *disk, enum FaultyDisk_Counter counter, int64_t amount);

/* Rules.c */
bool FaultyDisk_matches(const char *pattern, const char *label);
struct FaultyDisk_Verdict FaultyDisk_judge(
    FaultyDisk *disk, enum FaultyDisk_Subject subject, const char *label, bool isAllocating);

/* Adds the bytes that a call has written to the rules' counts. */
void FaultyDisk_noteBytes(FaultyDisk *disk, const char *label, int64_t bytes);

/* Nodes.c */
int FaultyDisk_addNode(FaultyDisk *disk, enum FaultyDisk_Kind kind, const struct stat *facts);
/* The node of a file in the page cache, or -1. */
int FaultyDisk_findNode(FaultyDisk *disk, const struct stat *facts);
void FaultyDisk_label(FaultyDisk *disk, int node, const char *path);
/* Opens the descriptors that the model needs for a file; `file` is any descriptor of it. */
struct FaultyDisk_Handle *FaultyDisk_open(FaultyDisk *disk, int node, int file);
void FaultyDisk_closeHandle(FaultyDisk *disk, int node);
/* Notes that the file has no name and no descriptor in the page cache any more. */
void FaultyDisk_loseFile(FaultyDisk *disk, int node);
/* Frees the nodes that are neither in the page cache nor on the platter. */
void FaultyDisk_collectNodes(FaultyDisk *disk);

/* Sectors.c; positions are in bytes. */
void FaultyDisk_markDirty(FaultyDisk *disk, int node, int64_t from, int64_t to);
void FaultyDisk_markAllocated(FaultyDisk *disk, int node, int64_t from, int64_t to);
bool FaultyDisk_isAllocated(FaultyDisk *disk, int node, int64_t from, int64_t to);
/* Notes a truncation of the file to `length`. */
void FaultyDisk_shrink(FaultyDisk *disk, int node, int64_t length);
/* Carries out a successful sync of all of a file, or of a range. */
void FaultyDisk_persist(FaultyDisk *disk, int node);
void FaultyDisk_persistRange(FaultyDisk *disk, int node, int64_t from, int64_t to);
/* Carries out a failed sync. */
void FaultyDisk_forget(FaultyDisk *disk, int node, int64_t from, int64_t to);
/* Lets some dirty data reach the platter without a sync. */
void FaultyDisk_sprinkle(FaultyDisk *disk, int node, int64_t permille);
int64_t FaultyDisk_countMarks(FaultyDisk *disk, int node, uint8_t marks);
void FaultyDisk_clearMarks(FaultyDisk *disk, int node, uint8_t marks);

/* Names.c */
void FaultyDisk_addOperation(
    FaultyDisk *disk, enum FaultyDisk_OperationKind kind, int directory, const char *name, int node);
void FaultyDisk_addRename(
    FaultyDisk *disk, int directory, const char *name, int newDirectory, const char *newName, int node);
/* The node of a name in the page cache, as far as the model knows; -1: none. */
int FaultyDisk_lookUp(FaultyDisk *disk, int directory, const char *name);
/* Carries out a successful or a failed sync of a directory. */
void FaultyDisk_persistNames(FaultyDisk *disk, int directory);
void FaultyDisk_forgetNames(FaultyDisk *disk, int directory);
/* Brings the name of a new file to the platter with its fsync. */
void FaultyDisk_persistCreation(FaultyDisk *disk, int node);
void FaultyDisk_sprinkleNames(FaultyDisk *disk, int64_t permille);
/* The path of a directory on the platter, below the disk's own directory. */
void FaultyDisk_platterPath(FaultyDisk *disk, int directory, char path[static PATH_MAX]);

/* Scan.c */
/* Scans the watched directory and updates the model: a kill may have come between a call and its note in the model. */
int FaultyDisk_scan(FaultyDisk *disk);
