#pragma once
// Processes by descriptor, which, unlike a number, never comes to mean another process: pidfd_open(2) (Linux 5.3),
// pidfd_send_signal(2) (Linux 5.1).
#include <errno.h>
#include <stdint.h>
#include <sys/ioctl.h>
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

// struct pidfd_info of <linux/pidfd.h> in its first size; the C library's header may be older.
typedef struct clinux_pidfd_facts {
    uint64_t mask; // in: what is asked for; out: what is there
    uint64_t control_group;
    uint32_t process, thread_group, parent;
    uint32_t real_user, real_group, effective_user, effective_group, saved_user, saved_group;
    uint32_t file_system_user, file_system_group;
    int32_t exit_code;
} clinux_pidfd_facts;

_Static_assert(sizeof(clinux_pidfd_facts) == 64, "the first version of struct pidfd_info is 64 bytes");

// Parent and users of a process, in the caller's namespaces, in one call that opens no file: PIDFD_GET_INFO (Linux 6.13).
// Returns 0 or an errno: ENOTTY or EINVAL from an older kernel, ESRCH where the process is gone.
static inline int clinux_pidfd_facts_of(int descriptor, clinux_pidfd_facts *facts) {
    const uint64_t process = 1, users = 2;
    facts->mask = process | users;
    if (ioctl(descriptor, _IOWR(0xFF, 11, clinux_pidfd_facts), facts) != 0)
        return errno;
    return (facts->mask & (process | users)) == (process | users) ? 0 : EINVAL;
}
