// A stand-in for the gate with exactly what its parent can observe: it creates a fanotify group that holds the
// launches of one program, leaves a duplicate with its parent, reports that it is ready, and answers nothing. The
// tests of the whole of AppLocker run the real gate under the same parent.
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fanotify.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static void notify(const char *text, int descriptor) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    strncpy(address.sun_path, getenv("NOTIFY_SOCKET"), sizeof address.sun_path - 1);
    union {
        char bytes[CMSG_SPACE(sizeof(int))];
        struct cmsghdr alignment;
    } control = {{0}};
    struct iovec part = {(void *)text, strlen(text)};
    struct msghdr message = {
        .msg_name = &address, .msg_namelen = sizeof address, .msg_iov = &part, .msg_iovlen = 1};
    if (descriptor >= 0) {
        message.msg_control = control.bytes;
        message.msg_controllen = sizeof control.bytes;
        struct cmsghdr *rights = CMSG_FIRSTHDR(&message);
        *rights = (struct cmsghdr){.cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
        memcpy(CMSG_DATA(rights), &descriptor, sizeof descriptor);
    }
    int sender = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (sendmsg(sender, &message, 0) < 0) exit(10);
    close(sender);
}

int main(int count, char **arguments) {
    if (count < 3 || strcmp(arguments[1], "--socket") != 0) return 11;
    if (count == 4 && strcmp(arguments[3], "--only-wait") == 0) pause();
    char directory[256], path[300];
    snprintf(directory, sizeof directory, "%.*s", (int)(strrchr(arguments[2], '/') - arguments[2]), arguments[2]);
    snprintf(path, sizeof path, "%s/starts", directory);
    FILE *log = fopen(path, "a");
    snprintf(path, sizeof path, "%s/locked", directory);

    int group = 3;
    const char *listen_pid = getenv("LISTEN_PID");
    if (listen_pid) {
        char target[64] = "";
        readlink("/proc/self/fd/3", target, sizeof target - 1);
        fprintf(log, "%d inherited %s %s %s %s\n", getpid(), getenv("LISTEN_FDS"), getenv("LISTEN_FDNAMES"),
                atoi(listen_pid) == getpid() ? "own" : "foreign", target);
    } else {
        group = fanotify_init(FAN_CLASS_CONTENT | FAN_UNLIMITED_QUEUE | FAN_CLOEXEC, O_RDONLY | O_CLOEXEC);
        if (group < 0 || fanotify_mark(group, FAN_MARK_ADD, FAN_OPEN_EXEC_PERM, AT_FDCWD, path) != 0) return 12;
        fprintf(log, "%d made\n", getpid());
    }
    fclose(log);
    notify("FDSTORE=1\nFDNAME=fanotify\nFDPOLL=0", group);
    notify("READY=1", -1);
    snprintf(path, sizeof path, "%s/hang", directory);
    if (access(path, F_OK) == 0) notify("WATCHDOG=1", -1);
    for (;;) pause();
}
