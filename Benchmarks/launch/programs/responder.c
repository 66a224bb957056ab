// The minimal program that refuses launches: one process that reads fanotify's permission events for one file and denies
// each. The additional time of AppLocker's gate and daemon is the cost of deciding.
//
//   responder PROGRAM      prints READY when the file is marked; ends with its parent
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/fanotify.h>
#include <sys/prctl.h>
#include <unistd.h>

int main(int count, char **words) {
    if (count != 2)
        return 2;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    int group = fanotify_init(FAN_CLASS_CONTENT | FAN_CLOEXEC | FAN_UNLIMITED_QUEUE, O_RDONLY | O_CLOEXEC);
    if (group < 0 || fanotify_mark(group, FAN_MARK_ADD, FAN_OPEN_EXEC_PERM | FAN_OPEN_PERM, AT_FDCWD, words[1]) != 0) {
        fprintf(stderr, "responder: %s: %s\n", words[1], strerror(errno));
        return 1;
    }
    puts("READY");
    fflush(stdout);
    char buffer[8192] __attribute__((aligned(8)));
    for (;;) {
        ssize_t length = read(group, buffer, sizeof buffer);
        if (length < 0 && errno == EINTR)
            continue;
        if (length <= 0)
            return 1;
        struct fanotify_event_metadata *event = (void *)buffer;
        for (; FAN_EVENT_OK(event, length); event = FAN_EVENT_NEXT(event, length)) {
            struct fanotify_response answer = {.fd = event->fd, .response = FAN_DENY};
            if (write(group, &answer, sizeof answer) != sizeof answer)
                return 1;
            close(event->fd);
        }
    }
}
