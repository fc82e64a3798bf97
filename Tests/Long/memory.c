/* Preloaded into a program: allocations of SQLite and of nghttp2 fail when the file NO_MEMORY says so, by the libraries' own
 * hooks (SQLITE_CONFIG_MALLOC, nghttp2_mem). The file has the number of allocations that succeed still, the number that then
 * fail, and how many were asked for and failed. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <nghttp2/nghttp2.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

struct plan {
    _Atomic int64_t passing, failing, asked, failed;
};
static struct plan nothing = {INT64_MAX, 0, 0, 0}, *plan = &nothing;
static sqlite3_mem_methods sqlite;

static int fails(void) {
    atomic_fetch_add(&plan->asked, 1);
    if (atomic_fetch_sub(&plan->passing, 1) > 0) return 0;
    if (atomic_fetch_sub(&plan->failing, 1) <= 0) return 0;
    atomic_fetch_add(&plan->failed, 1);
    return 1;
}

static void *sqlite_allocate(int size) { return fails() ? NULL : sqlite.xMalloc(size); }
static void *sqlite_resize(void *memory, int size) { return fails() ? NULL : sqlite.xRealloc(memory, size); }

static void *allocate(size_t size, void *unused) { (void)unused; return fails() ? NULL : malloc(size); }
static void *clear(size_t count, size_t size, void *unused) { (void)unused; return fails() ? NULL : calloc(count, size); }
static void *resize(void *memory, size_t size, void *unused) {
    (void)unused;
    return fails() ? NULL : realloc(memory, size);
}
static void release(void *memory, void *unused) { (void)unused; free(memory); }
static nghttp2_mem http2 = {NULL, allocate, release, clear, resize};

int nghttp2_session_server_new3(
    nghttp2_session **session, const nghttp2_session_callbacks *callbacks, void *user, const nghttp2_option *option,
    nghttp2_mem *memory) {
    int (*create)(nghttp2_session **, const nghttp2_session_callbacks *, void *, const nghttp2_option *, nghttp2_mem *) =
        dlsym(RTLD_NEXT, "nghttp2_session_server_new3");
    return create(session, callbacks, user, option, memory ? memory : &http2);
}

__attribute__((constructor)) static void begin(void) {
    const char *path = getenv("NO_MEMORY");
    int file = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    if (file < 0) return;
    void *memory = mmap(NULL, sizeof *plan, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (memory == MAP_FAILED) return;
    plan = memory;
    int (*configure)(int, ...) = dlsym(RTLD_DEFAULT, "sqlite3_config");
    if (!configure || configure(SQLITE_CONFIG_GETMALLOC, &sqlite) != SQLITE_OK) return;
    sqlite3_mem_methods failing = sqlite;
    failing.xMalloc = sqlite_allocate;
    failing.xRealloc = sqlite_resize;
    configure(SQLITE_CONFIG_MALLOC, &failing);
}
