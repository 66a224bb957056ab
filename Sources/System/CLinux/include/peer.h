#pragma once
#include <errno.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>

// Who is at the other end of a connected Unix socket: SO_PEERCRED (Linux 2.2), as unix(7) has it.
typedef struct {
    int32_t process;
    uint32_t user;
    uint32_t group;
} clinux_peer;

// Returns 0, or the errno of getsockopt(2).
static inline int clinux_peer_of(int socket, clinux_peer *peer) {
    struct { pid_t pid; uid_t uid; gid_t gid; } credentials;
    _Static_assert(sizeof credentials == 12, "struct ucred is three 32-bit numbers");
    socklen_t length = sizeof credentials;
    if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &length) != 0) return errno;
    peer->process = credentials.pid;
    peer->user = credentials.uid;
    peer->group = credentials.gid;
    return 0;
}

// Takes a connection, non-blocking and close-on-exec: accept4(2) (Linux 2.6.28). Returns it or a negative errno.
int clinux_accept(int listener);
