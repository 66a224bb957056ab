#pragma once
// What a process can give up for good: prctl(2). None of it can be taken back.
#include <errno.h>
#include <sys/prctl.h>

// No core file, no tracer of the same user, /proc/PID owned by root (Linux 2.3.20). Returns 0 or an errno.
static inline int clinux_forbid_dumping(void) {
    return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0 ? 0 : errno;
}

// What this process starts gets none of the capabilities that it was given itself (Linux 4.3). Returns 0 or an errno.
static inline int clinux_keep_capabilities_from_children(void) {
    return prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) == 0 ? 0 : errno;
}

// No execve gains privileges any more (Linux 3.5). Returns 0 or an errno.
static inline int clinux_forbid_new_privileges(void) {
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 ? 0 : errno;
}
