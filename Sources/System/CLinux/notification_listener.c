#include "notification_listener.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

_Static_assert(sizeof(((struct sockaddr_un *)0)->sun_path) == CLINUX_SOCKET_PATH_MAX + 1, "sun_path");

static int address_of(const char *path, struct sockaddr_un *address) {
    size_t length = strlen(path);
    if (length > CLINUX_SOCKET_PATH_MAX)
        return ENAMETOOLONG;
    memset(address, 0, sizeof *address);
    address->sun_family = AF_UNIX;
    memcpy(address->sun_path, path, length);
    return 0;
}

int clinux_notify_socket_open(const char *path, int *error_number) {
    struct sockaddr_un address;
    *error_number = address_of(path, &address);
    if (*error_number)
        return -1;
    int descriptor = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    int on = 1;
    // The mode of the bound file comes from the socket's own mode, so nobody else can write in between.
    if (descriptor < 0 || setsockopt(descriptor, SOL_SOCKET, SO_PASSCRED, &on, sizeof on) != 0
        || fchmod(descriptor, 0600) != 0 || (unlink(path) != 0 && errno != ENOENT)
        || bind(descriptor, (struct sockaddr *)&address, sizeof address) != 0 || chmod(path, 0600) != 0) {
        *error_number = errno;
        if (descriptor >= 0)
            close(descriptor);
        return -1;
    }
    return descriptor;
}

int clinux_notify_socket_receive(int socket, char *buffer, size_t capacity, struct clinux_notification *result) {
    union {
        struct cmsghdr alignment;
        char bytes[CMSG_SPACE(sizeof(struct ucred))
                   + CMSG_SPACE(sizeof(int) * CLINUX_NOTIFICATION_MAX_DESCRIPTORS)];
    } control;
    struct iovec text = {.iov_base = buffer, .iov_len = capacity};
    struct msghdr message = {
        .msg_iov = &text, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control.bytes};
    memset(result, 0, sizeof *result);

    ssize_t length;
    do
        length = recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    while (length < 0 && errno == EINTR);
    if (length < 0)
        return errno;
    result->length = (size_t)length;
    result->truncated = (message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0;
    for (struct cmsghdr *part = CMSG_FIRSTHDR(&message); part; part = CMSG_NXTHDR(&message, part)) {
        if (part->cmsg_level == SOL_SOCKET && part->cmsg_type == SCM_CREDENTIALS) {
            struct ucred credentials;
            memcpy(&credentials, CMSG_DATA(part), sizeof credentials);
            result->pid = credentials.pid;
            result->uid = credentials.uid;
        } else if (part->cmsg_level == SOL_SOCKET && part->cmsg_type == SCM_RIGHTS) {
            size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
            memcpy(result->descriptors + result->descriptor_count, CMSG_DATA(part), count * sizeof(int));
            result->descriptor_count += count;
        } else {
            result->truncated = true;
        }
    }
    return 0;
}

int clinux_notify_send(const char *path, const char *text, const int *descriptors, size_t descriptor_count) {
    struct sockaddr_un address;
    int refusal = address_of(path, &address);
    if (refusal || descriptor_count > CLINUX_NOTIFICATION_MAX_DESCRIPTORS)
        return refusal ? refusal : EINVAL;
    int sender = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (sender < 0)
        return errno;
    union {
        struct cmsghdr alignment;
        char bytes[CMSG_SPACE(sizeof(int) * CLINUX_NOTIFICATION_MAX_DESCRIPTORS)];
    } control;
    memset(&control, 0, sizeof control);
    struct iovec part = {.iov_base = (void *)text, .iov_len = strlen(text)};
    struct msghdr message = {
        .msg_name = &address, .msg_namelen = sizeof address, .msg_iov = &part, .msg_iovlen = 1};
    if (descriptor_count > 0) {
        message.msg_control = control.bytes;
        message.msg_controllen = CMSG_SPACE(sizeof(int) * descriptor_count);
        struct cmsghdr *rights = CMSG_FIRSTHDR(&message);
        rights->cmsg_level = SOL_SOCKET;
        rights->cmsg_type = SCM_RIGHTS;
        rights->cmsg_len = CMSG_LEN(sizeof(int) * descriptor_count);
        memcpy(CMSG_DATA(rights), descriptors, sizeof(int) * descriptor_count);
    }
    ssize_t sent;
    do
        sent = sendmsg(sender, &message, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    refusal = sent < 0 ? errno : 0;
    close(sender);
    return refusal;
}

bool clinux_socket_accepts(const char *path) {
    struct sockaddr_un address;
    if (address_of(path, &address) != 0)
        return false;
    int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    bool accepts = descriptor >= 0 && connect(descriptor, (struct sockaddr *)&address, sizeof address) == 0;
    if (descriptor >= 0)
        close(descriptor);
    return accepts;
}
