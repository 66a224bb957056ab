/// Attempts of a program of the same user on another process; prints `NAME=ERRNO` for each, 0 if it succeeded.
let peekSource = #"""
    #define _GNU_SOURCE
    #include <errno.h>
    #include <fcntl.h>
    #include <signal.h>
    #include <stdio.h>
    #include <stdlib.h>
    #include <sys/ptrace.h>
    #include <sys/syscall.h>
    #include <sys/uio.h>
    #include <unistd.h>

    static void report(const char *name, long result) { printf("%s=%d\n", name, result < 0 ? errno : 0); }

    static void file(const char *name, pid_t pid, const char *entry, int flags) {
        char path[64];
        snprintf(path, sizeof path, "/proc/%d/%s", pid, entry);
        int file = open(path, flags);
        char byte;
        report(name, file < 0 ? -1 : read(file, &byte, 1) < 0 && errno != EIO ? -1 : 0);
    }

    int main(int count, char **words) {
        pid_t pid = atoi(words[1]);
        report("attach", ptrace(PTRACE_ATTACH, pid, 0, 0));
        report("seize", ptrace(PTRACE_SEIZE, pid, 0, 0));
        file("mem", pid, "mem", O_RDWR);
        file("maps", pid, "maps", O_RDONLY);
        file("environ", pid, "environ", O_RDONLY);
        char byte;
        struct iovec mine = {&byte, 1}, theirs = {(void *)main, 1};
        report("readv", process_vm_readv(pid, &mine, 1, &theirs, 1, 0));
        int handle = syscall(SYS_pidfd_open, pid, 0);
        report("fd", handle < 0 ? -1 : syscall(SYS_pidfd_getfd, handle, 0, 0));
        report("kill", count > 2 ? kill(pid, SIGKILL) : (errno = EPERM, -1));
        return 0;
    }
    """#

/// Starts a program as its tracer, continues it, and ends as it ends.
let tracerSource = #"""
    #include <signal.h>
    #include <sys/ptrace.h>
    #include <sys/wait.h>
    #include <unistd.h>

    int main(int count, char **words) {
        pid_t child = fork();
        if (child == 0) {
            ptrace(PTRACE_TRACEME, 0, 0, 0);
            execv(words[1], words + 1);
            _exit(127);
        }
        for (int status;;) {
            if (waitpid(child, &status, 0) < 0) return 126;
            if (WIFEXITED(status)) return WEXITSTATUS(status);
            if (WIFSIGNALED(status)) return 125;
            int signal = WSTOPSIG(status);
            ptrace(PTRACE_CONT, child, 0, signal == SIGTRAP ? 0 : signal);
        }
    }
    """#
