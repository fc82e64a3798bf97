/* Preloaded into a node: one call of libpq, chosen by its name, its session and its turn, fails, loses its connection
 * before or after it, or stops the process. The file FLEET_CALLS has the choice: see calls.py. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

typedef struct PGconn PGconn;
typedef struct PGresult PGresult;

/* The same order as in calls.py. A result has a name of its own if its moment matters. */
enum call { NONE, START, POLL, PREPARE, SEND, SYNC, FLUSH, CONSUME, RESULT, COMPLETE, READY, CLONE };
enum action { CUT_BEFORE = 1, CUT_AFTER, FAIL, STOP_BEFORE, STOP_AFTER };

static struct choice {
    volatile int32_t call, action, turn, is_done;
    char role[16]; /* of the session: log, lease, read; empty: any */
} nothing, *choice = &nothing;

static struct { PGconn *connection; char role[16]; } sessions[64];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

__attribute__((constructor)) static void begin(void) {
    const char *path = getenv("FLEET_CALLS");
    int file = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    if (file < 0) return;
    void *memory = mmap(NULL, sizeof *choice, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (memory != MAP_FAILED) choice = memory;
    close(file);
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

/* The action, if it is this call's turn. */
static int turn_of(enum call call, const char *role) {
    if (choice->call != (int32_t)call || (choice->role[0] && strcmp(role, choice->role))) return 0;
    return __sync_sub_and_fetch(&choice->turn, 1) == 0 ? choice->action : 0;
}

static int turn(enum call call, PGconn *connection) {
    char role[16] = "";
    pthread_mutex_lock(&lock);
    for (unsigned place = 0; connection && place < sizeof sessions / sizeof *sessions; place++)
        if (sessions[place].connection == connection) memcpy(role, sessions[place].role, sizeof role);
    pthread_mutex_unlock(&lock);
    return turn_of(call, role);
}

static void finish(void) {
    choice->call = NONE;
    __sync_synchronize();
    choice->is_done = 1;
}

static void cut(PGconn *connection) {
    extern int PQsocket(const PGconn *);
    int socket = connection ? REAL(PQsocket)(connection) : -1;
    if (socket >= 0) shutdown(socket, SHUT_RDWR);
    finish();
}

/* Stops this thread at once, and all others with it. */
static void stop(void) {
    finish();
    syscall(SYS_tgkill, getpid(), gettid(), SIGSTOP);
}

static int before(int action, PGconn *connection) {
    if (action == CUT_BEFORE) cut(connection);
    if (action == STOP_BEFORE) stop();
    if (action == FAIL) finish();
    return action == FAIL;
}

static void after(int action, PGconn *connection) {
    if (action == CUT_AFTER) cut(connection);
    if (action == STOP_AFTER) stop();
}

#define WRAP(type, name, parameters, words, call, failure) \
    type name parameters { \
        int action = turn(call, connection); \
        if (before(action, connection)) return failure; \
        type result = REAL(name) words; \
        after(action, connection); \
        return result; \
    }

WRAP(int, PQconnectPoll, (PGconn *connection), (connection), POLL, 0)
WRAP(int, PQsendPrepare,
    (PGconn *connection, const char *name, const char *text, int count, const unsigned *types),
    (connection, name, text, count, types), PREPARE, 0)
WRAP(int, PQsendQueryPrepared,
    (PGconn *connection, const char *name, int count, const char *const *values, const int *lengths, const int *formats,
        int form),
    (connection, name, count, values, lengths, formats, form), SEND, 0)
WRAP(int, PQpipelineSync, (PGconn *connection), (connection), SYNC, 0)
WRAP(int, PQflush, (PGconn *connection), (connection), FLUSH, -1)
WRAP(int, PQconsumeInput, (PGconn *connection), (connection), CONSUME, 0)

/* The result is known after the call: COMPLETE is that of a statement, READY that of the end of a commit. */
PGresult *PQgetResult(PGconn *connection) {
    extern int PQresultStatus(const PGresult *);
    extern void PQclear(PGresult *);
    enum { COMMAND_OK = 1, TUPLES_OK = 2, PIPELINE_SYNC = 10 };
    int action = turn(RESULT, connection);
    if (before(action, connection)) return NULL;
    PGresult *result = REAL(PQgetResult)(connection);
    after(action, connection);
    int status = result ? REAL(PQresultStatus)(result) : -1;
    if (status == COMMAND_OK || status == TUPLES_OK) action = turn(COMPLETE, connection);
    else action = status == PIPELINE_SYNC ? turn(READY, connection) : 0;
    if (before(action, connection)) {
        REAL(PQclear)(result);
        return NULL;
    }
    after(action, connection);
    return result;
}

PGconn *PQconnectStartParams(const char *const *keywords, const char *const *values, int expand) {
    char role[16] = "";
    for (int word = 0; keywords[word]; word++)
        if (!strcmp(keywords[word], "application_name")) sscanf(values[word], "pushrouterd-%15[a-z]", role);
    int action = turn_of(START, role);
    if (before(action, NULL)) return NULL;
    PGconn *connection = REAL(PQconnectStartParams)(keywords, values, expand);
    pthread_mutex_lock(&lock);
    for (unsigned place = 0; connection && place < sizeof sessions / sizeof *sessions; place++) {
        if (sessions[place].connection) continue;
        sessions[place].connection = connection;
        memcpy(sessions[place].role, role, sizeof role);
        break;
    }
    pthread_mutex_unlock(&lock);
    after(action, connection);
    return connection;
}

void PQfinish(PGconn *connection) {
    pthread_mutex_lock(&lock);
    for (unsigned place = 0; place < sizeof sessions / sizeof *sessions; place++)
        if (sessions[place].connection == connection) memset(&sessions[place], 0, sizeof *sessions);
    pthread_mutex_unlock(&lock);
    REAL(PQfinish)(connection);
}

/* The call starts a handler's program. */
int clone(int (*function)(void *), void *stack, int flags, void *argument, ...) {
    va_list rest;
    va_start(rest, argument);
    void *one = va_arg(rest, void *), *two = va_arg(rest, void *), *three = va_arg(rest, void *);
    va_end(rest);
    if (before(turn(CLONE, NULL), NULL)) return -1;
    return REAL(clone)(function, stack, flags, argument, one, two, three);
}
