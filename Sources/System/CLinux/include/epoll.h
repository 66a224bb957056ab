#pragma once
// Waiting for several descriptors: epoll(7).
#include <errno.h>
#include <stdint.h>
#include <sys/epoll.h>

typedef struct {
    uint64_t token;
    uint32_t events;
} clinux_ready;

// Returns the descriptor (close-on-exec) or a negative errno.
static inline int clinux_epoll_create(void) {
    int descriptor = epoll_create1(EPOLL_CLOEXEC);
    return descriptor < 0 ? -errno : descriptor;
}

// Reports `descriptor` as readable under `token`. Returns 0 or an errno.
static inline int clinux_epoll_add(int epoll, int descriptor, uint64_t token) {
    struct epoll_event event = {.events = EPOLLIN, .data.u64 = token};
    return epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &event) == 0 ? 0 : errno;
}

// Reports a change of the mounts that `mountinfo`, an open /proc/PID/mountinfo, lists: proc(5) (Linux 2.6.30). Returns
// 0 or an errno.
static inline int clinux_epoll_add_mounts(int epoll, int mountinfo, uint64_t token) {
    struct epoll_event event = {.events = EPOLLPRI, .data.u64 = token};
    return epoll_ctl(epoll, EPOLL_CTL_ADD, mountinfo, &event) == 0 ? 0 : errno;
}

static inline int clinux_epoll_remove(int epoll, int descriptor) {
    struct epoll_event event = {0};
    return epoll_ctl(epoll, EPOLL_CTL_DEL, descriptor, &event) == 0 ? 0 : errno;
}

// Waits for `milliseconds`; -1: without a limit, 0: not at all. Returns how many of `ready` (at most `capacity`, at most 64)
// were filled, or a negative errno.
static inline int clinux_epoll_wait(int epoll, clinux_ready *ready, int capacity, int milliseconds) {
    struct epoll_event events[64];
    int count = epoll_wait(epoll, events, capacity < 64 ? capacity : 64, milliseconds);
    if (count < 0) return -errno;
    for (int index = 0; index < count; index++) {
        ready[index].token = events[index].data.u64;
        ready[index].events = events[index].events;
    }
    return count;
}
