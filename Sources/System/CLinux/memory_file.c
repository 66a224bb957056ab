#include "memory_file.h"

#include <linux/magic.h>
#include <sys/vfs.h>

bool clinux_is_in_memory(const char *path) {
    struct statfs system;
    if (statfs(path, &system) != 0) return false;
    return system.f_type == TMPFS_MAGIC || system.f_type == RAMFS_MAGIC;
}
