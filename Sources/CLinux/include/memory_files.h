#pragma once
// Where files are kept in memory: tmpfs and ramfs (statfs(2), linux/magic.h).
#include <stdbool.h>

// Whether the files of this directory are in memory. False also where that can't be told.
bool clinux_is_in_memory(const char *path);
