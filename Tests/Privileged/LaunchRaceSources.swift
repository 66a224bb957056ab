/// launcher WORKERS LAUNCHES PROGRAM: each worker starts PROGRAM that often, by fork and execve and by posix_spawn in
/// turn, and waits for it. Prints how many were refused with EPERM, failed otherwise, or ran.
let launcherSource = #"""
    #define _GNU_SOURCE
    #include <errno.h>
    #include <fcntl.h>
    #include <spawn.h>
    #include <stdio.h>
    #include <stdlib.h>
    #include <sys/wait.h>
    #include <unistd.h>

    extern char **environ;

    static int by_fork(char *program, char **arguments) {
        int report[2], error = 0;
        if (pipe2(report, O_CLOEXEC) != 0) return errno;
        pid_t child = fork();
        if (child == 0) {
            execve(program, arguments, environ);
            error = errno;
            if (write(report[1], &error, sizeof error) != sizeof error) abort();
            _exit(127);
        }
        close(report[1]);
        if (read(report[0], &error, sizeof error) != sizeof error) error = 0;
        close(report[0]);
        waitpid(child, NULL, 0);
        return error;
    }

    static int by_spawn(char *program, char **arguments) {
        pid_t child;
        int error = posix_spawn(&child, program, NULL, NULL, arguments, environ);
        if (error == 0) waitpid(child, NULL, 0);
        return error;
    }

    int main(int count, char **words) {
        if (count != 4) return 2;
        int workers = atoi(words[1]), launches = atoi(words[2]), results[2];
        char *arguments[] = {words[3], NULL};
        if (pipe(results) != 0) return 1;
        for (int worker = 0; worker < workers; worker++) {
            if (fork() != 0) continue;
            int counted[3] = {0, 0, 0};
            for (int launch = 0; launch < launches; launch++) {
                int error = launch % 2 ? by_spawn(words[3], arguments) : by_fork(words[3], arguments);
                counted[error == EPERM ? 0 : error != 0 ? 1 : 2]++;
            }
            _exit(write(results[1], counted, sizeof counted) == sizeof counted ? 0 : 1);
        }
        close(results[1]);
        int sum[3] = {0, 0, 0}, one[3];
        while (read(results[0], one, sizeof one) == sizeof one)
            for (int index = 0; index < 3; index++) sum[index] += one[index];
        while (wait(NULL) > 0) {}
        printf("%d %d %d\n", sum[0], sum[1], sum[2]);
        return 0;
    }
    """#
