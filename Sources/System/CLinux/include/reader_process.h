#pragma once
// A child for work that somebody else could keep waiting.
#include <sys/types.h>

// fork(2) (close_range: Linux 5.9). The child keeps descriptors 0 to 2 and `kept` as number 3, nothing else, and is
// killed when the calling thread ends; the caller must be the only thread of its process, so that the child may do
// what it likes. Returns 0 in the child, its number in the parent, or a negative errno.
pid_t clinux_fork_keeping(int kept);
