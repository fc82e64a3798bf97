/* A disk for tests, which separates page cache and platter.
 *
 * The files below the watched directory are the page cache: programs read and write them. The platter is a copy of each
 * beside it, as a power cut would leave it. A library that is preloaded into the program under test (../preload) notes
 * every write, and the data that each sync must bring to the platter; the functions here make such a disk, choose the
 * calls that fail, and cut its power. Both share the disk's state, a mapped file, so that a test can change the rules
 * while the program runs.
 *
 * Functions that return int return 0 or an errno, unless stated otherwise. One program at a time uses a disk. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Annotations of Swift that gcc does not know. */
#ifndef __clang__
#define _Nonnull
#define _Nullable
#endif

/* A disk, mapped into a process. */
typedef struct FaultyDisk FaultyDisk;

/* The calls that a rule applies to. */
enum FaultyDisk_Subject {
    /* fsync, fdatasync, and each write through O_DSYNC, O_SYNC or RWF_DSYNC. */
    FaultyDisk_syncs,
    /* Calls that write data, allocate space, or change a name. */
    FaultyDisk_writes,
    /* Calls that read data. Memory-mapped data are read without a call. */
    FaultyDisk_reads,
};

/* The effect on the calls that a rule picks. */
enum FaultyDisk_Action {
    /* None: the calls are counted. */
    FaultyDisk_counts,
    /* The call fails. A failed sync forgets that the sectors were dirty: they can be read, and are not written. */
    FaultyDisk_fails,
    /* SIGKILL ends the program before the call has an effect. */
    FaultyDisk_killsBefore,
    /* SIGKILL ends the program after the call's effect and before its return. */
    FaultyDisk_killsAfter,
    /* The call writes half of the bytes. */
    FaultyDisk_shortens,
    /* The call takes so many milliseconds. */
    FaultyDisk_delays,
    /* The call waits until the rule is revoked. */
    FaultyDisk_holds,
};

/* A rule: the calls, the effect, and the number of times. */
typedef struct FaultyDisk_Rule {
    enum FaultyDisk_Subject subject;
    enum FaultyDisk_Action action;
    /* The errno of `fails`, the milliseconds of `delays`. */
    int32_t value;
    /* Only calls that allocate space, as on a full disk. */
    bool onlyAllocating;
    /* The first of the matching calls from now on that the rule picks: 1 is the next. */
    int64_t first;
    /* The number of calls that the rule picks from there on. */
    int64_t times;
    /* A part of the file's path below the watched directory, or its end if the pattern ends in `$`. The path of a
     * directory has the prefix "directory ", and that of the sync of an O_DSYNC write "through ". Empty: all. */
    const char *_Nonnull pattern;
} FaultyDisk_Rule;

/* The counters of a disk. */
enum FaultyDisk_Counter {
    FaultyDisk_syncCount,
    FaultyDisk_writeCount,
    FaultyDisk_byteCount,
    /* Sectors that a failed sync forgot. */
    FaultyDisk_forgottenCount,
    FaultyDisk_cutCount,
    /* Calls that the library cannot follow: they make a test's result worthless. */
    FaultyDisk_complaintCount,
};

/* The disk's behavior where the system's guarantees leave it open. */
enum FaultyDisk_Trait {
    /* The probability, of 1000, that a dirty sector, size or name reaches the platter at a nearby write. */
    FaultyDisk_eagerness,
    /* The alignment of offset, length and memory for O_DIRECT; 0: O_DIRECT is refused. */
    FaultyDisk_directAlignment,
    /* Whether a failed sync of a directory forgets its names as one of a file forgets its sectors. A journaling file
     * system stops instead, so by default they stay due. */
    FaultyDisk_forgetsNames,
    /* Seconds by which the program's clocks are ahead. */
    FaultyDisk_clockOffset,
    /* Seconds by which the program's wall clock is ahead of that, as if it had been set. */
    FaultyDisk_wallOffset,
};

/* Makes a disk: its state and its platter go into `directory`, which is empty. The files below `watched` are on the
 * platter from the start. */
FaultyDisk *_Nullable FaultyDisk_create(const char *_Nonnull directory, const char *_Nonnull watched, uint64_t seed);

/* Unmaps a disk, which stays as it is. */
void FaultyDisk_close(FaultyDisk *_Nonnull disk);

/* Expects the program under test: the next one that loads the library. Others are not changed. */
void FaultyDisk_expectProgram(FaultyDisk *_Nonnull disk);

/* Arms a rule. Returns its number, or -1 when there are too many. */
int FaultyDisk_arm(FaultyDisk *_Nonnull disk, FaultyDisk_Rule rule);

/* Revokes a rule; its number is not reused before `FaultyDisk_forgetRule`. */
void FaultyDisk_disarm(FaultyDisk *_Nonnull disk, int rule);
void FaultyDisk_forgetRule(FaultyDisk *_Nonnull disk, int rule);

/* The number of calls that a rule has matched, the bytes that they wrote, and the number that it has picked. */
int64_t FaultyDisk_matched(FaultyDisk *_Nonnull disk, int rule);
int64_t FaultyDisk_matchedBytes(FaultyDisk *_Nonnull disk, int rule);
int64_t FaultyDisk_picked(FaultyDisk *_Nonnull disk, int rule);
/* The path of the last picked call, as patterns match it. */
const char *_Nonnull FaultyDisk_pickedLast(FaultyDisk *_Nonnull disk, int rule);

int64_t FaultyDisk_count(FaultyDisk *_Nonnull disk, enum FaultyDisk_Counter counter);
void FaultyDisk_set(FaultyDisk *_Nonnull disk, enum FaultyDisk_Trait trait, int64_t value);
int64_t FaultyDisk_trait(FaultyDisk *_Nonnull disk, enum FaultyDisk_Trait trait);

/* The first complaint, or an empty text. */
const char *_Nonnull FaultyDisk_complaint(FaultyDisk *_Nonnull disk);

/* A number that grows with every sync and every call that a rule picks, and a wait for a change of it: false after the
 * time limit. */
uint32_t FaultyDisk_events(FaultyDisk *_Nonnull disk);
bool FaultyDisk_waitForEvent(FaultyDisk *_Nonnull disk, uint32_t seen, int milliseconds);

/* Locks the disk, so that the program is not in the middle of a change; false when another process holds it. The
 * program waits until the disk is given back. */
bool FaultyDisk_take(FaultyDisk *_Nonnull disk);
void FaultyDisk_giveBack(FaultyDisk *_Nonnull disk);

/* The functions below may be called only while no program uses the disk. */

/* Cuts the power: the watched directory becomes the contents of the platter. Before that each dirty sector, size and
 * name reaches the platter with the probability `permille`. */
int FaultyDisk_cutPower(FaultyDisk *_Nonnull disk, int permille);

/* Syncs all files below the watched directory to the platter, whoever wrote them. */
int FaultyDisk_syncAll(FaultyDisk *_Nonnull disk);

/* Compares page cache and platter: data that are neither dirty nor forgotten must be equal. Returns the number of
 * differing sectors, with the first in `text`. More than 0 means that the library missed a write. */
int64_t FaultyDisk_audit(FaultyDisk *_Nonnull disk, char *_Nonnull text, size_t length);

/* The number of dirty or forgotten sectors: a cut with the probability 0 would undo them. */
int64_t FaultyDisk_unsafeSectors(FaultyDisk *_Nonnull disk);
