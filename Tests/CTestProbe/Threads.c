#define _GNU_SOURCE
#include "CTestProbe.h"

#include <errno.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

int CTestProbe_stop_thread(int thread) {
    if (ptrace(PTRACE_SEIZE, thread, 0, 0) != 0) return errno;
    if (ptrace(PTRACE_INTERRUPT, thread, 0, 0) != 0) return errno;
    int status;
    if (waitpid(thread, &status, __WALL) != thread) return errno;
    return 0;
}

int CTestProbe_resume_thread(int thread) { return ptrace(PTRACE_DETACH, thread, 0, 0) == 0 ? 0 : errno; }
