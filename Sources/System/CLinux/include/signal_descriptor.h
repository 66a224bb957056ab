#pragma once
// Signals read like any other input: signalfd(2).
#include <errno.h>
#include <signal.h>
#include <sys/signalfd.h>

// Blocks SIGTERM and SIGINT for this thread and reports them on the returned descriptor (non-blocking,
// close-on-exec); a negative errno on failure.
static inline int clinux_signal_descriptor(void) {
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    if (sigprocmask(SIG_BLOCK, &signals, (void *)0) != 0) return -errno;
    int descriptor = signalfd(-1, &signals, SFD_NONBLOCK | SFD_CLOEXEC);
    return descriptor < 0 ? -errno : descriptor;
}
