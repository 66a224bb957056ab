#pragma once
// Starting a child process without waiting for its execve: the launch of a locked program is held inside execve,
// and the caller must not be blocked meanwhile (posix_spawn and vfork block it).
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/// One resource limit of a child, soft and hard alike; `resource` is a RLIMIT_ number of getrlimit(2).
struct clinux_spawn_limit {
    int resource;
    uint64_t value;
};

/// How many descriptors one child can be given.
#define CLINUX_SPAWN_MAX_DESCRIPTORS 128

/// Everything the child is to be; only read, never kept.
struct clinux_spawn_request {
    /// Absolute path handed to execve; no PATH search.
    const char *path;
    char *const *argv;
    /// NULL-terminated. An entry that starts with "LISTEN_PID=" is overwritten in the child with the child's own
    /// process number; it needs room for ten digits after the equals sign.
    char *const *envp;
    /// Directory to change to, or NULL.
    const char *working_directory;
    /// descriptors[i] of this process becomes targets[i] of the child. Every other descriptor from 3 up is closed.
    const int *descriptors;
    const int *targets;
    size_t descriptor_count;
    /// Signal that the child gets when the thread that started it ends, 0 for none (PR_SET_PDEATHSIG).
    int parent_death_signal;
    /// The child leads a process group of its own.
    bool new_process_group;
    /// The child leads a session of its own and has no controlling terminal (implies a new group).
    bool new_session;
    /// With `new_session`: descriptor 0 of the child becomes its controlling terminal.
    bool take_terminal;
    /// The child drops to this user and group before execve, with no further groups than `further_groups`.
    bool change_user;
    uid_t user;
    gid_t group;
    const gid_t *further_groups;
    size_t further_group_count;
    /// Neither the child nor anything it starts gains privileges by an execve (PR_SET_NO_NEW_PRIVS).
    bool forbid_new_privileges;
    /// Set right before execve.
    const struct clinux_spawn_limit *limits;
    size_t limit_count;
    /// This descriptor (close-on-exec) gets the errno, as 4 bytes in host order, of a child that could not start;
    /// end of file without a byte means that execve succeeded. -1 for none.
    int error_descriptor;
};

/// Starts a child by fork and execve (Linux 5.9 for close_range). Returns as soon as the child exists,
/// which may be long before its program runs. Returns the process number, or -1 with `*error_number` set.
/// Between fork and execve only async-signal-safe functions run.
pid_t clinux_spawn(const struct clinux_spawn_request *request, int *error_number);

/// Makes a pipe whose ends close on exec: ends[0] to read, ends[1] to write. Returns 0 or an errno.
int clinux_pipe(int ends[2]);

/// The exit state of a child, as waitid reports it.
struct clinux_exit {
    /// True when a signal ended it; `code` is then the signal's number, otherwise the exit code.
    bool signalled;
    int code;
};

/// Waits for a child to end and leaves it a zombie, so that its number stays its own until clinux_reap. Blocks:
/// call it on a thread of its own. Returns 0 or an errno.
int clinux_wait_for_exit(pid_t pid, struct clinux_exit *exit);

/// Collects a child that has ended. Never blocks. Returns 0 or an errno.
int clinux_reap(pid_t pid);
