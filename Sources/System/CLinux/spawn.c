#include "spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

_Static_assert(sizeof(pid_t) == 4, "ten digits hold every process number");

/// Overwrites the digits of "LISTEN_PID=" with this process' number.
static void write_own_pid(char *digits) {
    char reversed[10];
    int count = 0;
    for (pid_t rest = getpid(); rest > 0; rest /= 10)
        reversed[count++] = (char)('0' + rest % 10);
    for (int i = 0; i < count; i++)
        digits[i] = reversed[count - 1 - i];
    digits[count] = '\0';
}

static bool is_target(const struct clinux_spawn_request *request, int descriptor) {
    for (size_t i = 0; i < request->descriptor_count; i++)
        if (request->targets[i] == descriptor)
            return true;
    return false;
}

/// Puts the descriptors where the child expects them and closes every other from 3 up, now and not at execve: a child
/// that is held inside execve must not keep its parent's files open. The sources are first copied above every target,
/// because one child's target may be another's source. `*error_descriptor` changes to its new number. False with
/// errno set.
static bool place_descriptors(const struct clinux_spawn_request *request, int *error_descriptor) {
    int floor = 3;
    for (size_t i = 0; i < request->descriptor_count; i++)
        if (request->targets[i] >= floor)
            floor = request->targets[i] + 1;

    unsigned int kept = 0;
    if (*error_descriptor >= 0) {
        int copy = fcntl(*error_descriptor, F_DUPFD_CLOEXEC, floor);
        if (copy < 0)
            return false;
        *error_descriptor = copy;
        kept = (unsigned int)copy;
    }
    int copies[CLINUX_SPAWN_MAX_DESCRIPTORS];
    for (size_t i = 0; i < request->descriptor_count; i++) {
        copies[i] = fcntl(request->descriptors[i], F_DUPFD_CLOEXEC, floor);
        if (copies[i] < 0)
            return false;
    }
    for (size_t i = 0; i < request->descriptor_count; i++)
        if (dup2(copies[i], request->targets[i]) < 0)
            return false;

    for (int other = 3; other < floor; other++)
        if (!is_target(request, other))
            close(other);
    if (kept == 0)
        return close_range((unsigned int)floor, ~0U, 0) == 0;
    return (kept == (unsigned int)floor || close_range((unsigned int)floor, kept - 1, 0) == 0)
        && close_range(kept + 1, ~0U, 0) == 0;
}

static void reset_signals(void) {
    struct sigaction standard;
    memset(&standard, 0, sizeof standard);
    standard.sa_handler = SIG_DFL;
    for (int signal_number = 1; signal_number < NSIG; signal_number++)
        sigaction(signal_number, &standard, NULL);  // refused for SIGKILL, SIGSTOP and the two libc keeps
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

__attribute__((noreturn)) static void fail(int error_descriptor) {
    int error_number = errno;
    if (error_descriptor >= 0) {
        ssize_t written = write(error_descriptor, &error_number, sizeof error_number);
        (void)written;
    }
    _exit(127);
}

__attribute__((noreturn)) static void become(const struct clinux_spawn_request *request, pid_t parent) {
    int error_descriptor = request->error_descriptor;
    if (request->new_session) {
        if (setsid() < 0)
            fail(error_descriptor);
    } else if (request->new_process_group && setpgid(0, 0) != 0) {
        fail(error_descriptor);
    }
    if (!place_descriptors(request, &error_descriptor))
        fail(error_descriptor);
    if (request->new_session && request->take_terminal && ioctl(0, TIOCSCTTY, 0) != 0)
        fail(error_descriptor);
    if (request->change_user
        && (setgroups(request->further_group_count, request->further_groups) != 0
            || setresgid(request->group, request->group, request->group) != 0
            || setresuid(request->user, request->user, request->user) != 0))
        fail(error_descriptor);
    if (request->working_directory && chdir(request->working_directory) != 0)
        fail(error_descriptor);
    if (request->parent_death_signal) {
        // After the change of user, which clears it.
        if (prctl(PR_SET_PDEATHSIG, request->parent_death_signal) != 0)
            fail(error_descriptor);
        if (getppid() != parent)  // it ended before the request was in place
            _exit(127);
    }
    if (request->forbid_new_privileges && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        fail(error_descriptor);
    for (size_t i = 0; i < request->limit_count; i++) {
        rlim_t value = (rlim_t)request->limits[i].value;
        const struct rlimit limit = {.rlim_cur = value, .rlim_max = value};
        if (setrlimit((__rlimit_resource_t)request->limits[i].resource, &limit) != 0)
            fail(error_descriptor);
    }
    static const char listen_pid[] = "LISTEN_PID=";
    for (char *const *entry = request->envp; *entry; entry++)
        if (strncmp(*entry, listen_pid, sizeof listen_pid - 1) == 0)
            write_own_pid(*entry + sizeof listen_pid - 1);
    reset_signals();
    execve(request->path, request->argv, request->envp);
    fail(error_descriptor);
}

pid_t clinux_spawn(const struct clinux_spawn_request *request, int *error_number) {
    if (request->descriptor_count > CLINUX_SPAWN_MAX_DESCRIPTORS) {
        *error_number = EINVAL;
        return -1;
    }
    // No handler of this process may run in the child before its handlers are reset.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pid_t parent = getpid();
    pid_t child = fork();
    if (child == 0)
        become(request, parent);
    *error_number = child < 0 ? errno : 0;
    if (child > 0 && request->new_process_group && !request->new_session)
        setpgid(child, child);  // here too, so that the group exists when this returns
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return child;
}

int clinux_pipe(int ends[2]) {
    return pipe2(ends, O_CLOEXEC) == 0 ? 0 : errno;
}

int clinux_wait_for_exit(pid_t pid, struct clinux_exit *exit) {
    siginfo_t information;
    memset(&information, 0, sizeof information);
    while (waitid(P_PID, (id_t)pid, &information, WEXITED | WNOWAIT) != 0)
        if (errno != EINTR)
            return errno;
    exit->signalled = information.si_code != CLD_EXITED;
    exit->code = information.si_status;
    return 0;
}

int clinux_reap(pid_t pid) {
    siginfo_t information;
    return waitid(P_PID, (id_t)pid, &information, WEXITED | WNOHANG) == 0 ? 0 : errno;
}
