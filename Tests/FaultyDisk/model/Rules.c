#include "Model.h"

#include <stdio.h>
#include <string.h>

int FaultyDisk_arm(FaultyDisk *disk, FaultyDisk_Rule rule) {
    for (int index = 0; index < FaultyDisk_rulesMax; index++) {
        struct FaultyDisk_RuleState *state = &disk->state->rules[index];
        if (state->isTaken) continue;
        state->isTaken = 1;
        state->subject = rule.subject;
        state->action = rule.action;
        state->value = rule.value;
        state->onlyAllocating = rule.onlyAllocating;
        state->countdown = rule.first;
        state->times = rule.times;
        atomic_store(&state->matched, 0);
        atomic_store(&state->matchedBytes, 0);
        atomic_store(&state->picked, 0);
        *state->label = 0;
        snprintf(state->pattern, sizeof state->pattern, "%s", rule.pattern);
        atomic_store(&state->isArmed, 1);
        return index;
    }
    return -1;
}

void FaultyDisk_disarm(FaultyDisk *disk, int rule) {
    atomic_store(&disk->state->rules[rule].isArmed, 0);
    /* Wakes every held call, which checks its rule again. */
    FaultyDisk_tell(disk);
}

void FaultyDisk_forgetRule(FaultyDisk *disk, int rule) {
    FaultyDisk_disarm(disk, rule);
    disk->state->rules[rule].isTaken = 0;
}

int64_t FaultyDisk_matched(FaultyDisk *disk, int rule) { return atomic_load(&disk->state->rules[rule].matched); }

int64_t FaultyDisk_matchedBytes(FaultyDisk *disk, int rule) {
    return atomic_load(&disk->state->rules[rule].matchedBytes);
}

int64_t FaultyDisk_picked(FaultyDisk *disk, int rule) { return atomic_load(&disk->state->rules[rule].picked); }

const char *FaultyDisk_pickedLast(FaultyDisk *disk, int rule) { return disk->state->rules[rule].label; }

bool FaultyDisk_matches(const char *pattern, const char *label) {
    size_t length = strlen(pattern);
    if (length == 0 || pattern[length - 1] != '$') return strstr(label, pattern) != NULL;
    size_t whole = strlen(label);
    return whole >= length - 1 && strncmp(label + whole - (length - 1), pattern, length - 1) == 0;
}

/* Counts the call, and returns whether the rule picks it. */
static bool picks(struct FaultyDisk_RuleState *rule, const char *label) {
    atomic_fetch_add(&rule->matched, 1);
    if (rule->action == FaultyDisk_counts) return false;
    if (rule->countdown > 1) {
        rule->countdown -= 1;
        return false;
    }
    if (rule->times <= 0) return false;
    rule->times -= 1;
    snprintf(rule->label, sizeof rule->label, "%s", label);
    atomic_fetch_add(&rule->picked, 1);
    return true;
}

struct FaultyDisk_Verdict FaultyDisk_judge(
    FaultyDisk *disk, enum FaultyDisk_Subject subject, const char *label, bool isAllocating) {
    struct FaultyDisk_Verdict verdict = {.heldBy = -1};
    bool isPicked = false;
    for (int index = 0; index < FaultyDisk_rulesMax; index++) {
        struct FaultyDisk_RuleState *rule = &disk->state->rules[index];
        if (!atomic_load(&rule->isArmed) || rule->subject != subject) continue;
        if (!FaultyDisk_matches(rule->pattern, label) || (rule->onlyAllocating && !isAllocating)) continue;
        if (!picks(rule, label)) continue;
        isPicked = true;
        switch (rule->action) {
        case FaultyDisk_counts: break;
        case FaultyDisk_fails: verdict.error = rule->value; break;
        case FaultyDisk_killsBefore: verdict.killsBefore = true; break;
        case FaultyDisk_killsAfter: verdict.killsAfter = true; break;
        case FaultyDisk_shortens: verdict.isShort = true; break;
        case FaultyDisk_delays: verdict.delay += rule->value; break;
        case FaultyDisk_holds: verdict.heldBy = index; break;
        }
    }
    if (isPicked) FaultyDisk_tell(disk);
    return verdict;
}

void FaultyDisk_noteBytes(FaultyDisk *disk, const char *label, int64_t bytes) {
    for (int index = 0; index < FaultyDisk_rulesMax; index++) {
        struct FaultyDisk_RuleState *rule = &disk->state->rules[index];
        bool isAbout = atomic_load(&rule->isArmed) && rule->subject == FaultyDisk_writes;
        if (isAbout && FaultyDisk_matches(rule->pattern, label)) atomic_fetch_add(&rule->matchedBytes, bytes);
    }
}
