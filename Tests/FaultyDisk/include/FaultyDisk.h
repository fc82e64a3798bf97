/* A disk of the tests' own, which keeps page cache and platter apart.
 *
 * The files below the watched directory are the page cache: what programs read and write. The platter is a copy of each
 * beside it, as a power cut would leave it. A library that is preloaded into the program under test (../preload) notes
 * every write, and what each sync owes to the platter; the functions here make such a disk, say which calls fail, and
 * cut its power. Both share the disk's state, a mapped file, so that a test can change its mind while the program runs.
 *
 * Functions that return int return 0 or an error number, unless said otherwise. A disk is used by one program at a
 * time. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What Swift reads and gcc does not know. */
#ifndef __clang__
#define _Nonnull
#define _Nullable
#endif

/* A disk, as a process has it mapped. */
typedef struct FaultyDisk FaultyDisk;

/* Which calls a rule is about. */
enum FaultyDisk_Subject {
    /* fsync, fdatasync, and each write through O_DSYNC, O_SYNC or RWF_DSYNC. */
    FaultyDisk_syncs,
    /* What writes data, makes room for it, or changes a name. */
    FaultyDisk_writes,
    /* What reads data. What is mapped into memory is read without a call. */
    FaultyDisk_reads,
};

/* What happens at the calls that a rule picks. */
enum FaultyDisk_Action {
    /* Nothing: the calls are counted. */
    FaultyDisk_counts,
    /* The call fails. A sync that fails forgets that the sectors were dirty: they can be read, and are not written. */
    FaultyDisk_fails,
    /* The program dies by SIGKILL before the call does anything. */
    FaultyDisk_killsBefore,
    /* The program dies once the call is done and before it returns. */
    FaultyDisk_killsAfter,
    /* Half of what was to be written is. */
    FaultyDisk_shortens,
    /* The call takes so many milliseconds. */
    FaultyDisk_delays,
    /* The call waits until the rule is taken back. */
    FaultyDisk_holds,
};

/* A rule: which calls, what happens, and when. */
typedef struct FaultyDisk_Rule {
    enum FaultyDisk_Subject subject;
    enum FaultyDisk_Action action;
    /* The error number of `fails`, the milliseconds of `delays`. */
    int32_t value;
    /* Only calls that take room which is not allocated yet, as on a disk that is full. */
    bool onlyAllocating;
    /* Of the calls that match from now on, the first that is picked: 1 is the next. */
    int64_t first;
    /* How many are picked from there on. */
    int64_t times;
    /* A part of the file's path below the watched directory, or the end of it when this ends in `$`. That of a
     * directory has "directory " before it, and the sync that a write through O_DSYNC brings "through ". Empty for
     * all. */
    const char *_Nonnull pattern;
} FaultyDisk_Rule;

/* What a disk counts of itself. */
enum FaultyDisk_Counter {
    FaultyDisk_syncCount,
    FaultyDisk_writeCount,
    FaultyDisk_byteCount,
    /* Sectors that a failed sync forgot. */
    FaultyDisk_forgottenCount,
    FaultyDisk_cutCount,
    /* Calls that the library cannot follow: a test that sees one is worth nothing. */
    FaultyDisk_complaintCount,
};

/* How a disk behaves where the system's promises leave it free. */
enum FaultyDisk_Trait {
    /* How likely each dirty sector, size and name is to reach the platter at a write nearby, of 1000. */
    FaultyDisk_eagerness,
    /* What offset, length and memory of a transfer through O_DIRECT must be a multiple of; 0: O_DIRECT is refused. */
    FaultyDisk_directAlignment,
    /* Whether a failed sync of a directory forgets its names as one of a file forgets its sectors. A file system with a
     * journal rather stops, so by default they stay due. */
    FaultyDisk_forgetsNames,
    /* Seconds by which the program's clocks are ahead. */
    FaultyDisk_clockOffset,
    /* Seconds by which the program's wall clock is ahead of that, as if somebody had set it. */
    FaultyDisk_wallOffset,
};

/* Makes a disk: its state and its platter go into `directory`, which is empty. What is below `watched` is on the
 * platter. */
FaultyDisk *_Nullable FaultyDisk_create(const char *_Nonnull directory, const char *_Nonnull watched, uint64_t seed);

/* Lets go of a disk, which stays as it is. */
void FaultyDisk_close(FaultyDisk *_Nonnull disk);

/* The next program that loads the library is the one under test; every other is left alone. */
void FaultyDisk_expectProgram(FaultyDisk *_Nonnull disk);

/* Puts a rule in force. Returns its number, or -1 when there are too many. */
int FaultyDisk_arm(FaultyDisk *_Nonnull disk, FaultyDisk_Rule rule);

/* Takes a rule back; its number is not given again before `FaultyDisk_forgetRule`. */
void FaultyDisk_disarm(FaultyDisk *_Nonnull disk, int rule);
void FaultyDisk_forgetRule(FaultyDisk *_Nonnull disk, int rule);

/* How many calls a rule has matched, with the bytes that they wrote, and how many it has picked. */
int64_t FaultyDisk_matched(FaultyDisk *_Nonnull disk, int rule);
int64_t FaultyDisk_matchedBytes(FaultyDisk *_Nonnull disk, int rule);
int64_t FaultyDisk_picked(FaultyDisk *_Nonnull disk, int rule);
/* What the last of those was about: the path, as patterns match it. */
const char *_Nonnull FaultyDisk_pickedLast(FaultyDisk *_Nonnull disk, int rule);

int64_t FaultyDisk_count(FaultyDisk *_Nonnull disk, enum FaultyDisk_Counter counter);
void FaultyDisk_set(FaultyDisk *_Nonnull disk, enum FaultyDisk_Trait trait, int64_t value);
int64_t FaultyDisk_trait(FaultyDisk *_Nonnull disk, enum FaultyDisk_Trait trait);

/* The first complaint, or an empty text. */
const char *_Nonnull FaultyDisk_complaint(FaultyDisk *_Nonnull disk);

/* A number that grows with every sync and every call that a rule picks, and the wait for it to be another: false
 * when the time was up. */
uint32_t FaultyDisk_events(FaultyDisk *_Nonnull disk);
bool FaultyDisk_waitForEvent(FaultyDisk *_Nonnull disk, uint32_t seen, int milliseconds);

/* Takes the disk, so that the program is in the middle of no change; false when somebody has it. The program waits until
 * it is given back. */
bool FaultyDisk_take(FaultyDisk *_Nonnull disk);
void FaultyDisk_giveBack(FaultyDisk *_Nonnull disk);

/* The rest is for when no program has the disk. */

/* Cuts the power: the watched directory becomes what is on the platter. Before that each dirty sector, size and name
 * that is still due reaches it with a chance of `permille`. */
int FaultyDisk_cutPower(FaultyDisk *_Nonnull disk, int permille);

/* Puts all that is below the watched directory on the platter, whoever wrote it. */
int FaultyDisk_syncAll(FaultyDisk *_Nonnull disk);

/* Holds page cache against platter: what is neither dirty nor forgotten must be the same on both. Returns how many
 * sectors are not, with the first in `text`. More than 0 means that the library missed a write. */
int64_t FaultyDisk_audit(FaultyDisk *_Nonnull disk, char *_Nonnull text, size_t length);

/* How many sectors are dirty or forgotten: what a cut with a chance of 0 would undo. */
int64_t FaultyDisk_unsafeSectors(FaultyDisk *_Nonnull disk);
