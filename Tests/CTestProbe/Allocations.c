#include "CTestProbe.h"

#include <errno.h>
#include <stddef.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define HAS_OWN_ALLOCATOR
#endif
#endif

#ifdef HAS_OWN_ALLOCATOR

bool CTestProbe_counts_allocations(void) { return false; }
uint64_t CTestProbe_allocations(void) { return 0; }
uint64_t CTestProbe_allocated_bytes(void) { return 0; }

#else

static __thread uint64_t allocations, allocated_bytes;

bool CTestProbe_counts_allocations(void) { return true; }
uint64_t CTestProbe_allocations(void) { return allocations; }
uint64_t CTestProbe_allocated_bytes(void) { return allocated_bytes; }

static void note(size_t size) {
    allocations++;
    allocated_bytes += size;
}

/* glibc's own, under the names that it has for who stands before it. What frees is glibc's. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *memory, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

void *malloc(size_t size) {
    note(size);
    return __libc_malloc(size);
}

void *calloc(size_t count, size_t size) {
    note(count * size);
    return __libc_calloc(count, size);
}

void *realloc(void *memory, size_t size) {
    note(size);
    return __libc_realloc(memory, size);
}

void *memalign(size_t alignment, size_t size) {
    note(size);
    return __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
    note(size);
    return __libc_memalign(alignment, size);
}

int posix_memalign(void **memory, size_t alignment, size_t size) {
    note(size);
    void *result = __libc_memalign(alignment, size);
    if (!result) return ENOMEM;
    *memory = result;
    return 0;
}

#endif
