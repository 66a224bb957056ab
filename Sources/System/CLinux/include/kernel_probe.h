#pragma once
// Questions to the running kernel that can only be answered by trying.
#include <stdbool.h>

/// Whether this process may hold launches: a fanotify permission group (Linux 5.0 for FAN_OPEN_EXEC_PERM) can be
/// made and can mark `path`. Leaves nothing behind. Returns 0 or the errno of the refusal.
int clinux_try_launch_hold(const char *path);

/// Whether this process may make a user and a mount namespace. Tried in a child; this process stays where it is.
/// Returns 0 or the errno of the refusal.
int clinux_try_user_namespace(void);

/// What came out of starting a held program through an overlay mount in a user namespace.
enum clinux_overlay_trial {
    /// The kernel asked before the program ran.
    CLINUX_OVERLAY_HELD = 0,
    /// The program ran unasked.
    CLINUX_OVERLAY_ESCAPED = 1,
    /// The kernel lets no ordinary user make such a mount.
    CLINUX_OVERLAY_REFUSED = 2,
    /// The trial could not be made; errno is in `*error_number`.
    CLINUX_OVERLAY_NOT_TRIED = 3,
    /// The overlay guard denied the launch without asking.
    CLINUX_OVERLAY_DENIED = 4,
};

/// Tries it in a child that drops to user 65534, for two seconds at most; blocks for as long. Needs root. `directory`
/// is this trial's own, may be entered by everybody, and holds `lower/program`, which exits with 0, and the empty
/// directories `layers` and `merged`. What is mounted ends with the child. `guard` is the pinned map of an overlay
/// guard, to which the program is added; NULL tries the kernel without one.
enum clinux_overlay_trial clinux_try_overlay_escape(const char *directory, const char *guard, int *error_number);
