#pragma once
// Processes by descriptor, which, unlike a number, never comes to mean another process: pidfd_open(2) (Linux 5.3),
// pidfd_send_signal(2) (Linux 5.1).
#include <errno.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

// Returns the descriptor (close-on-exec) or a negative errno.
static inline int clinux_pidfd_open(pid_t process) {
    long descriptor = syscall(SYS_pidfd_open, process, 0);
    return descriptor < 0 ? -errno : (int)descriptor;
}

// Signal 0 asks whether the process still lives. Returns 0 or an errno.
static inline int clinux_pidfd_signal(int descriptor, int signal) {
    return syscall(SYS_pidfd_send_signal, descriptor, signal, (void *)0, 0) == 0 ? 0 : errno;
}
