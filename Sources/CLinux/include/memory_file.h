#pragma once
// A file without a name, in memory: memfd_create(2) (Linux 3.17).
#include <errno.h>
#include <linux/memfd.h>
#include <sys/syscall.h>
#include <unistd.h>

// Reads and writes like a file, and is gone with its last descriptor. `name` is for /proc alone. Returns a
// close-on-exec descriptor or a negative errno.
static inline int clinux_memory_file(const char *name) {
    long descriptor = syscall(SYS_memfd_create, name, MFD_CLOEXEC);
    return descriptor < 0 ? -errno : (int)descriptor;
}
