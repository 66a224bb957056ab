#pragma once
// Files in memory: one without a name, by memfd_create(2) (Linux 3.17), and the file systems that keep theirs there.
#include <errno.h>
#include <linux/memfd.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <unistd.h>

// Reads and writes like a file, and is gone with its last descriptor. `name` is for /proc alone. Returns a
// close-on-exec descriptor or a negative errno.
static inline int clinux_memory_file(const char *name) {
    long descriptor = syscall(SYS_memfd_create, name, MFD_CLOEXEC);
    return descriptor < 0 ? -errno : (int)descriptor;
}

// Whether the files of this directory are in memory, in a tmpfs or ramfs (statfs(2), linux/magic.h). False also where that
// can't be determined.
bool clinux_is_in_memory(const char *path);
