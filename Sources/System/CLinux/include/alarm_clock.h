#pragma once
// Time that continues while the machine sleeps (CLOCK_BOOTTIME, Linux 2.6.39): timerfd_create(2), clock_gettime(2).
#include <errno.h>
#include <stdint.h>
#include <sys/timerfd.h>
#include <time.h>

// Nanoseconds since boot, sleep included; no change of the wall clock moves it.
static inline uint64_t clinux_boottime(void) {
    struct timespec now;
    clock_gettime(CLOCK_BOOTTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

// Returns the descriptor (non-blocking, close-on-exec) or a negative errno.
static inline int clinux_alarm_create(void) {
    int descriptor = timerfd_create(CLOCK_BOOTTIME, TFD_NONBLOCK | TFD_CLOEXEC);
    return descriptor < 0 ? -errno : descriptor;
}

// Expires once when `boottime` (nanoseconds, as clinux_boottime counts) is reached; 0 disarms it.
static inline int clinux_alarm_set(int alarm, uint64_t boottime) {
    struct itimerspec when = {
        .it_value = {.tv_sec = (time_t)(boottime / 1000000000u), .tv_nsec = (long)(boottime % 1000000000u)}};
    return timerfd_settime(alarm, TFD_TIMER_ABSTIME, &when, (void *)0) == 0 ? 0 : errno;
}
