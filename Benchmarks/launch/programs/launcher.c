// Starts a program many times and prints how long each start took, one number of nanoseconds a line.
//
//   launcher run COUNT PROGRAM              fork + execve + wait, for a program that may run and returns 0
//   launcher refused COUNT PAUSE PROGRAM    the execve alone, for a program that may not: it has to return EPERM.
//                                           It waits PAUSE microseconds between two launches
//   launcher stamp PROGRAM                  prints the monotonic clock and becomes the program
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char *no_environment[] = {NULL};

static uint64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void fail(const char *what, const char *program) {
    fprintf(stderr, "launcher: %s: %s\n", program, what);
    exit(1);
}

static int wait_for(pid_t child) {
    int status;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return -1;
    return status;
}

static void run(long count, char *program) {
    char *arguments[] = {program, NULL};
    uint64_t *times = calloc((size_t)count, sizeof *times);
    for (long index = 0; index < count; index++) {
        uint64_t start = now();
        pid_t child = fork();
        if (child == 0) {
            execve(program, arguments, no_environment);
            _exit(127);
        }
        if (child < 0)
            fail(strerror(errno), program);
        int status = wait_for(child);
        times[index] = now() - start;
        if (status != 0)
            fail("it did not run, or did not return 0", program);
    }
    for (long index = 0; index < count; index++)
        printf("%llu\n", (unsigned long long)times[index]);
}

static void refused(long count, long pause, char *program) {
    char *arguments[] = {program, NULL};
    // Written by the child, and read after it has ended.
    struct { uint64_t time; int error; } *shared =
        mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        fail(strerror(errno), program);
    uint64_t *times = calloc((size_t)count, sizeof *times);
    for (long index = 0; index < count; index++) {
        memset(shared, 0, sizeof *shared);
        pid_t child = fork();
        if (child == 0) {
            uint64_t start = now();
            execve(program, arguments, no_environment);
            shared->error = errno;
            shared->time = now() - start;
            _exit(0);
        }
        if (child < 0)
            fail(strerror(errno), program);
        wait_for(child);
        if (shared->error != EPERM)
            fail(shared->error ? strerror(shared->error) : "it ran, it should have been refused", program);
        times[index] = shared->time;
        usleep((useconds_t)pause);
    }
    for (long index = 0; index < count; index++)
        printf("%llu\n", (unsigned long long)times[index]);
}

int main(int count, char **words) {
    if (count == 4 && strcmp(words[1], "run") == 0)
        run(atol(words[2]), words[3]);
    else if (count == 5 && strcmp(words[1], "refused") == 0)
        refused(atol(words[2]), atol(words[3]), words[4]);
    else if (count == 3 && strcmp(words[1], "stamp") == 0) {
        char *arguments[] = {words[2], NULL};
        printf("%llu\n", (unsigned long long)now());
        fflush(stdout);
        execve(words[2], arguments, no_environment);
        return 126;
    } else {
        fprintf(stderr, "launcher: see launcher.c for its command lines\n");
        return 2;
    }
    return 0;
}
