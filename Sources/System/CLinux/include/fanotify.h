#pragma once
// Permission events: fanotify(7), fanotify_init(2), fanotify_mark(2).
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/fanotify.h>
#include <unistd.h>

#ifndef FAN_REPORT_PIDFD // Linux 5.15; the C library's header may be older.
#define FAN_REPORT_PIDFD 0x00000080
#endif
#ifndef FAN_EVENT_INFO_TYPE_PIDFD
#define FAN_EVENT_INFO_TYPE_PIDFD 4
#endif

// The kernel's O_LARGEFILE. The C library defines it as 0 where every open is one, but fanotify_init takes the flag as it is:
// without it the kernel can't open a file of more than 2 GiB for the reader, and denies on its own.
#if defined(__aarch64__)
#define CLINUX_LARGE_FILE 0400000
#else
#define CLINUX_LARGE_FILE 0100000
#endif

_Static_assert(sizeof(struct fanotify_event_metadata) == 24, "the metadata of an event is 24 bytes");
_Static_assert(sizeof(struct fanotify_response) == 8, "an answer is a descriptor number and a verdict");

// A group of permission events that reports each process as a pidfd (Linux 5.15), never drops an event for lack of
// room, and never blocks its reader. Returns the descriptor or a negative errno.
int clinux_fanotify_group(void);

// Adds or removes (`operation`: FAN_MARK_ADD, FAN_MARK_REMOVE) an inode mark. `path` NULL: the file that
// `directory`, an open descriptor, refers to. FAN_OPEN_EXEC_PERM needs Linux 5.0. Returns 0 or an errno.
static inline int clinux_fanotify_mark(int group, unsigned operation, uint64_t mask, int directory, const char *path) {
    return fanotify_mark(group, operation, mask, directory, path) == 0 ? 0 : errno;
}

// Answers the event that handed out descriptor number `file`. Returns 0 or an errno: ENOENT where no event with this
// number waits.
static inline int clinux_fanotify_answer(int group, int file, uint32_t verdict) {
    struct fanotify_response response = {.fd = file, .response = verdict};
    return write(group, &response, sizeof response) == sizeof response ? 0 : errno;
}
