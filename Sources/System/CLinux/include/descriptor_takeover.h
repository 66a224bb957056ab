#pragma once
// Keeping a descriptor alive across the death of the process that made it.
#include <stdbool.h>
#include <sys/types.h>

/// Waits until the process of a pidfd has ended, `milliseconds` at most. Blocks. True when it has ended.
bool clinux_wait_for_pidfd(int pidfd, int milliseconds);

/// Duplicates a descriptor of another process into this one (pidfd_getfd, Linux 5.6; needs the right to trace it).
/// Returns a close-on-exec descriptor, or -1 with `*error_number` set.
int clinux_take_descriptor(int pidfd, int descriptor, int *error_number);

/// Whether two descriptors of this process share one open file description (kcmp, Linux 3.5). False also where the
/// kernel was built without kcmp.
bool clinux_same_open_file(int first, int second);
