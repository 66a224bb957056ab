#include "inode_storage.h"
#include "kernel_probe.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/fanotify.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { exit_refused_mount = 100, exit_refused_launch = 101, exit_broken = 102 };
static const uid_t ordinary_user = 65534;

static int write_text(const char *path, const char *text) {
    int file = open(path, O_WRONLY | O_CLOEXEC);
    if (file < 0)
        return -1;
    ssize_t written = write(file, text, strlen(text));
    close(file);
    return written < 0 ? -1 : 0;
}

/// Runs in the child: becomes an ordinary user with a namespace of its own, and starts the program through an overlay.
__attribute__((noreturn)) static void start_through_overlay(const char *directory) {
    char layers[256], merged[256], options[900], path[300];
    snprintf(layers, sizeof layers, "%s/layers", directory);
    snprintf(merged, sizeof merged, "%s/merged", directory);
    if (setgroups(0, NULL) != 0 || setresgid(ordinary_user, ordinary_user, ordinary_user) != 0
        || setresuid(ordinary_user, ordinary_user, ordinary_user) != 0)
        _exit(exit_broken);
    prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);  // or /proc/self/uid_map belongs to root
    if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0)
        _exit(exit_refused_mount);
    if (write_text("/proc/self/setgroups", "deny") != 0 || write_text("/proc/self/uid_map", "0 65534 1") != 0
        || write_text("/proc/self/gid_map", "0 65534 1") != 0)
        _exit(exit_refused_mount);
    if (mount("tmpfs", layers, "tmpfs", 0, NULL) != 0)
        _exit(exit_refused_mount);
    snprintf(path, sizeof path, "%s/upper", layers);
    if (mkdir(path, 0755) != 0)
        _exit(exit_broken);
    snprintf(path, sizeof path, "%s/work", layers);
    if (mkdir(path, 0755) != 0)
        _exit(exit_broken);
    snprintf(options, sizeof options, "lowerdir=%s/lower,upperdir=%s/upper,workdir=%s/work,userxattr", directory, layers,
             layers);
    if (mount("overlay", merged, "overlay", 0, options) != 0)
        _exit(exit_refused_mount);
    snprintf(path, sizeof path, "%s/program", merged);
    char *arguments[] = {path, NULL}, *environment[] = {NULL};
    execve(path, arguments, environment);
    _exit(errno == EPERM ? exit_refused_launch : exit_broken);
}

/// Denies everything that the group asks until the child has ended, two seconds at most. Returns whether it asked.
static bool deny_until_end(int group, pid_t child, int *status) {
    bool asked = false;
    for (int waited = 0; waited < 2000;) {
        struct pollfd events = {.fd = group, .events = POLLIN};
        if (poll(&events, 1, 10) > 0) {
            struct fanotify_event_metadata event;
            while (read(group, &event, sizeof event) >= (ssize_t)FAN_EVENT_METADATA_LEN) {
                struct fanotify_response answer = {.fd = event.fd, .response = FAN_DENY};
                asked = write(group, &answer, sizeof answer) == sizeof answer || asked;
                close(event.fd);
            }
        } else {
            waited += 10;
        }
        if (waitpid(child, status, WNOHANG) == child)
            return asked;
    }
    kill(child, SIGKILL);
    waitpid(child, status, 0);
    *status = exit_broken << 8;
    return asked;
}

/// Whether the file is now one of those of a pinned overlay guard. Its entry ends with the file.
static bool add_to_guard(const char *guard, const char *program) {
    int storage = clinux_open_inode_storage(guard);
    if (storage < 0)
        return false;
    int file = open(program, O_PATH | O_CLOEXEC);
    bool is_added = file >= 0 && clinux_add_inode(storage, file) == 0;
    close(file);
    close(storage);
    return is_added;
}

enum clinux_overlay_trial clinux_try_overlay_escape(const char *directory, const char *guard, int *error_number) {
    char program[300];
    snprintf(program, sizeof program, "%s/lower/program", directory);
    *error_number = 0;
    int group = fanotify_init(FAN_CLASS_CONTENT | FAN_CLOEXEC | FAN_NONBLOCK, O_RDONLY | O_CLOEXEC);
    if (group < 0 || fanotify_mark(group, FAN_MARK_ADD, FAN_OPEN_EXEC_PERM, AT_FDCWD, program) != 0) {
        *error_number = errno;
        if (group >= 0)
            close(group);
        return CLINUX_OVERLAY_NOT_TRIED;
    }
    bool is_guarded = guard != NULL && add_to_guard(guard, program);
    pid_t child = fork();
    if (child == 0) {
        close(group);
        start_through_overlay(directory);
    }
    if (child < 0) {
        *error_number = errno;
        close(group);
        return CLINUX_OVERLAY_NOT_TRIED;
    }
    int status = 0;
    bool asked = deny_until_end(group, child, &status);
    close(group);
    int code = WIFEXITED(status) ? WEXITSTATUS(status) : exit_broken;
    if (code == 0)
        return CLINUX_OVERLAY_ESCAPED;
    if (code == exit_refused_launch && asked)
        return CLINUX_OVERLAY_HELD;
    if (code == exit_refused_launch && is_guarded)
        return CLINUX_OVERLAY_DENIED;
    if (code == exit_refused_mount)
        return CLINUX_OVERLAY_REFUSED;
    *error_number = ECHILD;
    return CLINUX_OVERLAY_NOT_TRIED;
}
