#pragma once
// A heap that releases unused memory: mallopt(3) of the GNU C library; without effect in another one.
#include <malloc.h>

// At most two arenas instead of eight for each core, and fixed thresholds, so that one large allocation does not teach
// the heap to keep as much for ever.
static inline void clinux_keep_heap_small(void) {
#ifdef M_ARENA_MAX
    mallopt(M_ARENA_MAX, 2);
    mallopt(M_MMAP_THRESHOLD, 128 * 1024);
    mallopt(M_TRIM_THRESHOLD, 128 * 1024);
#endif
}
