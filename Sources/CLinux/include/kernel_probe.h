#pragma once
// Questions to the running kernel that can only be answered by trying.
#include <stdbool.h>

/// Whether this process may hold launches: a fanotify permission group (Linux 5.0 for FAN_OPEN_EXEC_PERM) can be
/// made and can mark `path`. Leaves nothing behind. Returns 0 or the errno of the refusal.
int clinux_try_launch_hold(const char *path);

/// Whether this process may make a user and a mount namespace. Tried in a child; this process stays where it is.
/// Returns 0 or the errno of the refusal.
int clinux_try_user_namespace(void);
