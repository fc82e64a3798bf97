#define _GNU_SOURCE
#include "Preload.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <time.h>

/* Kills the program as a power cut does: at once, whatever the other threads do. */
static void die(void) {
    syscall(SYS_kill, getpid(), SIGKILL);
    for (;;) pause();
}

/* Sleeps, and waits until the rule that holds the call is revoked. Others may use the disk meanwhile. */
static void wait(FaultyDisk *disk, const struct FaultyDisk_Verdict *verdict) {
    if (verdict->delay == 0 && verdict->heldBy < 0) return;
    FaultyDisk_unlock();
    struct timespec rest = {verdict->delay / 1000, verdict->delay % 1000 * 1000000L};
    while (clock_nanosleep(CLOCK_MONOTONIC, 0, &rest, &rest) == EINTR) {}
    while (verdict->heldBy >= 0) {
        uint32_t seen = FaultyDisk_events(disk);
        if (!atomic_load(&disk->state->rules[verdict->heldBy].isArmed)) break;
        FaultyDisk_waitForEvent(disk, seen, -1);
    }
    FaultyDisk_lock();
}

struct FaultyDisk_Verdict FaultyDisk_ask(enum FaultyDisk_Subject subject, int node, const char *label, bool allocates) {
    FaultyDisk *disk = FaultyDisk_preloaded();
    if (!label) label = disk->state->nodes[node].label;
    struct FaultyDisk_Verdict verdict = FaultyDisk_judge(disk, subject, label, allocates);
    wait(disk, &verdict);
    if (verdict.killsBefore) die();
    return verdict;
}

void FaultyDisk_finish(const struct FaultyDisk_Verdict *verdict, int node) {
    FaultyDisk *disk = FaultyDisk_preloaded();
    if (verdict->killsAfter) die();
    int64_t eagerness = FaultyDisk_trait(disk, FaultyDisk_eagerness);
    if (node >= 0 && disk->handles[node].isOpen) FaultyDisk_sprinkle(disk, node, eagerness);
    FaultyDisk_sprinkleNames(disk, eagerness);
}

bool FaultyDisk_isReadOnly(const char *label) {
    FaultyDisk *disk = FaultyDisk_preloaded();
    for (int index = 0; index < FaultyDisk_rulesMax; index++) {
        struct FaultyDisk_RuleState *rule = &disk->state->rules[index];
        bool fails = atomic_load(&rule->isArmed) && rule->subject == FaultyDisk_writes
                     && rule->action == FaultyDisk_fails && rule->value == EROFS && rule->countdown <= 1
                     && rule->times > 0;
        if (fails && FaultyDisk_matches(rule->pattern, label)) return true;
    }
    return false;
}
