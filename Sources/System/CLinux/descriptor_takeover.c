#include "descriptor_takeover.h"

#include <errno.h>
#include <linux/kcmp.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

bool clinux_wait_for_pidfd(int pidfd, int milliseconds) {
    struct pollfd end = {.fd = pidfd, .events = POLLIN};
    int ready;
    do
        ready = poll(&end, 1, milliseconds);
    while (ready < 0 && errno == EINTR);
    return ready > 0;
}

int clinux_take_descriptor(int pidfd, int descriptor, int *error_number) {
    int taken = (int)syscall(SYS_pidfd_getfd, pidfd, descriptor, 0);
    *error_number = taken < 0 ? errno : 0;
    return taken;
}

bool clinux_same_open_file(int first, int second) {
    pid_t own = getpid();
    return syscall(SYS_kcmp, own, own, KCMP_FILE, first, second) == 0;
}
