#include "CTestProbe.h"

#include <errno.h>
#include <malloc.h>
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
int64_t CTestProbe_held_bytes(void) { return 0; }

#else

static __thread uint64_t allocations, allocated_bytes;
static __thread int64_t held_bytes;

bool CTestProbe_counts_allocations(void) { return true; }
uint64_t CTestProbe_allocations(void) { return allocations; }
uint64_t CTestProbe_allocated_bytes(void) { return allocated_bytes; }
int64_t CTestProbe_held_bytes(void) { return held_bytes; }

static void note(size_t size) {
    allocations++;
    allocated_bytes += size;
}

static void *held(void *memory) {
    if (memory) held_bytes += malloc_usable_size(memory);
    return memory;
}

/* glibc's own functions, under the names that it exports for replacements. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *memory, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void __libc_free(void *memory);

void *malloc(size_t size) {
    note(size);
    return held(__libc_malloc(size));
}

void *calloc(size_t count, size_t size) {
    note(count * size);
    return held(__libc_calloc(count, size));
}

void *realloc(void *memory, size_t size) {
    note(size);
    size_t before = memory ? malloc_usable_size(memory) : 0;
    void *result = __libc_realloc(memory, size);
    /* If the reallocation fails, the old memory stays. */
    if (result || size == 0) held_bytes -= before;
    return held(result);
}

void free(void *memory) {
    if (memory) held_bytes -= malloc_usable_size(memory);
    __libc_free(memory);
}

void *memalign(size_t alignment, size_t size) {
    note(size);
    return held(__libc_memalign(alignment, size));
}

void *aligned_alloc(size_t alignment, size_t size) {
    note(size);
    return held(__libc_memalign(alignment, size));
}

int posix_memalign(void **memory, size_t alignment, size_t size) {
    note(size);
    void *result = __libc_memalign(alignment, size);
    if (!result) return ENOMEM;
    *memory = held(result);
    return 0;
}

#endif
