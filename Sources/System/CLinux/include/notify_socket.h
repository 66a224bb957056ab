#pragma once
// A datagram with one descriptor attached, as sd_notify(3) sends it: sendmsg(2), unix(7).
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

// Sends `count` bytes and, unless it is -1, `descriptor` to the socket that `name` (at most 107 bytes; a leading '@'
// means the abstract namespace) names. Returns 0 or an errno.
static inline int clinux_notify(int socket, const char *name, const void *bytes, size_t count, int descriptor) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t length = strlen(name);
    if (length == 0 || length >= sizeof address.sun_path) return ENAMETOOLONG;
    memcpy(address.sun_path, name, length);
    if (name[0] == '@') address.sun_path[0] = 0;
    struct iovec part = {.iov_base = (void *)bytes, .iov_len = count};
    union {
        char bytes[CMSG_SPACE(sizeof(int))];
        struct cmsghdr header;
    } control = {{0}};
    struct msghdr message = {
        .msg_name = &address,
        .msg_namelen = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length),
        .msg_iov = &part,
        .msg_iovlen = 1};
    if (descriptor >= 0) {
        message.msg_control = control.bytes;
        message.msg_controllen = sizeof control.bytes;
        struct cmsghdr *header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(sizeof(int));
        memcpy(CMSG_DATA(header), &descriptor, sizeof(int));
    }
    return sendmsg(socket, &message, MSG_NOSIGNAL) < 0 ? errno : 0;
}
