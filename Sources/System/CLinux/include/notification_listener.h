#pragma once
// The receiving side of the service notification protocol (sd_notify(3)): datagrams of KEY=VALUE lines that may carry
// descriptors, each with the sender's credentials as the kernel vouches for them.
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/// The most descriptors that one datagram can carry (SCM_MAX_FD of the kernel).
#define CLINUX_NOTIFICATION_MAX_DESCRIPTORS 253

/// The longest path of a Unix socket in bytes, without the ending zero.
#define CLINUX_SOCKET_PATH_MAX 107

/// Binds a close-on-exec datagram socket at `path`, replacing a stale one there, readable and writable by the owner
/// alone from its first moment, with SO_PASSCRED set. Returns the descriptor, or -1 with `*error_number` set.
int clinux_notify_socket_open(const char *path, int *error_number);

/// One received datagram.
struct clinux_notification {
    /// Bytes of text placed in the caller's buffer.
    size_t length;
    /// The sender at the time of sending; `pid` is 0 when the kernel gave no credentials.
    pid_t pid;
    uid_t uid;
    /// The datagram or its descriptors did not fit, or it carried something unknown. Its text must not be trusted.
    bool truncated;
    /// Received descriptors, close-on-exec. They are the caller's to close.
    size_t descriptor_count;
    int descriptors[CLINUX_NOTIFICATION_MAX_DESCRIPTORS];
};

/// Takes the next datagram without waiting. Returns 0, EAGAIN when there is none, or another errno.
int clinux_notify_socket_receive(int socket, char *buffer, size_t capacity, struct clinux_notification *result);

/// Sends one datagram with descriptors to the notification socket at `path`. Returns 0 or an errno.
int clinux_notify_send(const char *path, const char *text, const int *descriptors, size_t descriptor_count);

/// Whether somebody accepts connections at the stream socket at `path`. Connects and hangs up at once.
bool clinux_socket_accepts(const char *path);
