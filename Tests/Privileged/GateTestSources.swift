// Sources that the tests compile at run time. C, because they make single system calls.

/// The locked app: see `TestProgram`.
let appSource = #"""
    #define _GNU_SOURCE
    #include <errno.h>
    #include <fcntl.h>
    #include <signal.h>
    #include <stdio.h>
    #include <stdlib.h>
    #include <string.h>
    #include <sys/wait.h>
    #include <unistd.h>

    // 200 bytes, replaced by the path of the record.
    volatile char record_path[201] =
        "@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@"
        "@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@"
        "@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@"
        "@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@";
    static char *text;
    static size_t length;

    static void field(const char *value) {
        size_t count = strlen(value) + 1;
        memcpy(text + length, value, count);
        length += count;
    }

    static void record(int argc, char **argv, char **envp) {
        char number[32], directory[4096] = "?";
        size_t room = 8192;
        for (char **entry = argv; *entry; entry++) room += strlen(*entry) + 1;
        for (char **entry = envp; *entry; entry++) room += strlen(*entry) + 1;
        text = malloc(room);
        snprintf(number, sizeof number, "%d", getpid());
        field(number);
        field(getcwd(directory, sizeof directory) ? directory : "?");
        snprintf(number, sizeof number, "%d", argc);
        field(number);
        for (int index = 0; index < argc; index++) field(argv[index]);
        for (char **entry = envp; *entry; entry++) field(*entry);
        text[length++] = 0x1e;
        int file = open((const char *)record_path, O_WRONLY | O_APPEND | O_CREAT, 0666);
        if (write(file, text, length) < 0) _exit(90);
        close(file);
    }

    // fork and execve of this program, as a browser starts its content processes.
    static void start_again(const char *self, int twice) {
        int report[2];
        if (pipe(report) != 0) _exit(91);
        pid_t child = fork();
        if (child == 0) {
            pid_t between = getpid();
            if (twice && fork() != 0) _exit(0);
            while (getpid() != between && getppid() == between) usleep(1000); // until it is reparented
            char *argv[] = {(char *)self, "one", NULL};
            char *envp[] = {NULL};
            fcntl(report[1], F_SETFD, FD_CLOEXEC);
            execve(self, argv, envp);
            int number = errno;
            if (write(report[1], &number, sizeof number) < 0) _exit(92);
            _exit(93);
        }
        close(report[1]);
        int number = 0;
        if (read(report[0], &number, sizeof number) <= 0) number = 0;
        close(report[0]);
        waitpid(child, NULL, 0);
        printf("started %d\n", number);
        fflush(stdout);
    }

    int main(int argc, char **argv, char **envp) {
        record(argc, argv, envp);
        if (argc < 2) return 0;
        if (strcmp(argv[1], "seven") == 0) return 7;
        if (strcmp(argv[1], "stay") == 0) for (;;) pause();
        if (strcmp(argv[1], "count") == 0) {
            // Its output shows that it continues.
            for (int number = 0;; number++) {
                printf("%d\n", number);
                fflush(stdout);
                usleep(10000);
            }
        }
        if (strcmp(argv[1], "obey") == 0) {
            // One command a line: "again" and "orphan" start this program once more, "read" reads its own file.
            char line[64];
            printf("ready\n");
            fflush(stdout);
            while (fgets(line, sizeof line, stdin)) {
                if (strcmp(line, "again\n") == 0) start_again(argv[0], 0);
                if (strcmp(line, "orphan\n") == 0) start_again(argv[0], 1);
                if (strcmp(line, "read\n") == 0) {
                    int file = open(argv[0], O_RDONLY);
                    printf("read %d\n", file < 0 ? errno : 0);
                    fflush(stdout);
                    if (file >= 0) close(file);
                }
            }
        }
        return 0;
    }
    """#

/// The evasions of the gate: see `GateTests+Evasions.swift`.
let evaderSource = #"""
    #define _GNU_SOURCE
    #include <errno.h>
    #include <fcntl.h>
    #include <linux/io_uring.h>
    #include <linux/userfaultfd.h>
    #include <sched.h>
    #include <signal.h>
    #include <spawn.h>
    #include <stdint.h>
    #include <stdio.h>
    #include <stdlib.h>
    #include <string.h>
    #include <sys/ioctl.h>
    #include <sys/mman.h>
    #include <sys/mount.h>
    #include <sys/stat.h>
    #include <sys/syscall.h>
    #include <sys/wait.h>
    #include <time.h>
    #include <unistd.h>

    // evade WAY FILE: tries to run FILE in this way. Exits with the errno of the failure; otherwise the program runs
    // (and leaves its record).
    static char *program;
    static char *no_environment[] = {NULL};

    static void write_text(const char *path, const char *text) {
        int file = open(path, O_WRONLY);
        if (file >= 0 && write(file, text, strlen(text)) < 0) perror(path);
        if (file >= 0) close(file);
    }

    static void enter_namespaces(void) {
        unsigned user = getuid(), group = getgid();
        char map[64];
        if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) { perror("unshare"); exit(200); }
        write_text("/proc/self/setgroups", "deny");
        snprintf(map, sizeof map, "0 %u 1", user);
        write_text("/proc/self/uid_map", map);
        snprintf(map, sizeof map, "0 %u 1", group);
        write_text("/proc/self/gid_map", map);
        if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0) { perror("private"); exit(201); }
    }

    static void run_copy_of(int file) {
        int memory = memfd_create("copy", MFD_CLOEXEC);
        char buffer[65536];
        ssize_t count;
        while ((count = read(file, buffer, sizeof buffer)) > 0) if (write(memory, buffer, count) != count) exit(202);
        if (count < 0) exit(errno);
        char *argv[] = {program, NULL};
        fexecve(memory, argv, no_environment);
        exit(errno);
    }

    static char *directory_of(const char *path) {
        char *copy = strdup(path);
        *strrchr(copy, '/') = 0;
        return copy;
    }

    // One openat through a ring, without liburing. Returns a descriptor or a negative errno.
    static int ring_open(const char *path, unsigned flags) {
        struct io_uring_params parameters = {.flags = flags, .sq_thread_idle = 1000};
        int ring = syscall(SYS_io_uring_setup, 4, &parameters);
        if (ring < 0) { perror("io_uring_setup"); exit(203); }
        size_t submission_bytes = parameters.sq_off.array + parameters.sq_entries * sizeof(unsigned);
        size_t completion_bytes = parameters.cq_off.cqes + parameters.cq_entries * sizeof(struct io_uring_cqe);
        char *submission = mmap(0, submission_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, ring, IORING_OFF_SQ_RING);
        char *completion = mmap(0, completion_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, ring, IORING_OFF_CQ_RING);
        struct io_uring_sqe *entries = mmap(0, parameters.sq_entries * sizeof(struct io_uring_sqe),
            PROT_READ | PROT_WRITE, MAP_SHARED, ring, IORING_OFF_SQES);
        memset(entries, 0, sizeof *entries);
        entries[0].opcode = IORING_OP_OPENAT;
        entries[0].fd = AT_FDCWD;
        entries[0].addr = (uintptr_t)path;
        entries[0].open_flags = O_RDONLY;
        ((unsigned *)(submission + parameters.sq_off.array))[0] = 0;
        __atomic_store_n((unsigned *)(submission + parameters.sq_off.tail), 1, __ATOMIC_RELEASE);
        unsigned *head = (unsigned *)(completion + parameters.cq_off.head);
        unsigned *tail = (unsigned *)(completion + parameters.cq_off.tail);
        unsigned enter = IORING_ENTER_GETEVENTS;
        if (flags & IORING_SETUP_SQPOLL) enter |= IORING_ENTER_SQ_WAKEUP;
        syscall(SYS_io_uring_enter, ring, 1, 1, enter, NULL, 0);
        while (__atomic_load_n(tail, __ATOMIC_ACQUIRE) == *head) usleep(1000);
        return ((struct io_uring_cqe *)(completion + parameters.cq_off.cqes))[0].res;
    }

    int main(int argc, char **argv) {
        if (argc < 3) return 250;
        const char *way = argv[1];
        program = argv[2];
        char *arguments[] = {program, NULL};
        if (strcmp(way, "execve") == 0) {
            execve(program, argv + 2, no_environment);
        } else if (strcmp(way, "opath") == 0) {
            int file = open(program, O_PATH);
            syscall(SYS_execveat, file, "", arguments, no_environment, AT_EMPTY_PATH);
        } else if (strcmp(way, "fexecve") == 0) {
            int file = open(program, O_RDONLY);
            if (file < 0) return errno;
            fexecve(file, arguments, no_environment);
        } else if (strcmp(way, "memfd") == 0) {
            int file = open(program, O_RDONLY);
            if (file < 0) return errno;
            run_copy_of(file);
        } else if (strcmp(way, "uring") == 0 || strcmp(way, "uring-sqpoll") == 0) {
            int file = ring_open(program, way[5] ? IORING_SETUP_SQPOLL : 0);
            if (file < 0) return -file;
            run_copy_of(file);
        } else if (strcmp(way, "handle") == 0) {
            struct { struct file_handle handle; char bytes[128]; } name = {.handle = {.handle_bytes = 128}};
            int mount_id;
            if (name_to_handle_at(AT_FDCWD, program, &name.handle, &mount_id, 0) != 0) return errno;
            int file = open_by_handle_at(open(directory_of(program), O_RDONLY), &name.handle, O_PATH);
            if (file < 0) return errno;
            syscall(SYS_execveat, file, "", arguments, no_environment, AT_EMPTY_PATH);
        } else if (strcmp(way, "mapped") == 0) {
            int file = open(program, O_RDONLY);
            if (file < 0) return errno;
            return mmap(0, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, file, 0) == MAP_FAILED ? errno : 0;
        } else if (strcmp(way, "proc") == 0) {
            // argv[2]: /proc/PID/exe of a running instance.
            execve(program, arguments, no_environment);
        } else if (strcmp(way, "read") == 0) {
            int file = open(program, O_RDONLY);
            return file < 0 ? errno : 0;
        } else if (strcmp(way, "namespace") == 0) {
            enter_namespaces();
            execve(program, arguments, no_environment);
        } else if (strcmp(way, "bind") == 0) {
            enter_namespaces();
            if (mount(program, "/bin/true", NULL, MS_BIND, NULL) != 0) { perror("bind"); return 204; }
            execve("/bin/true", arguments, no_environment);
        } else if (strcmp(way, "bind-directory") == 0) {
            enter_namespaces();
            char *inside;
            if (mount(directory_of(program), "/mnt", NULL, MS_BIND, NULL) != 0) { perror("bind"); return 204; }
            if (asprintf(&inside, "/mnt%s", strrchr(program, '/')) < 0) return 205;
            execve(inside, arguments, no_environment);
        } else if (strcmp(way, "overlay") == 0) {
            // argv[3]: a scratch directory of this user.
            enter_namespaces();
            char *options, *directory = directory_of(program);
            if (asprintf(&options, "lowerdir=%s,upperdir=%s/upper,workdir=%s/work", directory, argv[3], argv[3]) < 0)
                return 205;
            char *upper, *work;
            if (asprintf(&upper, "%s/upper", argv[3]) < 0 || asprintf(&work, "%s/work", argv[3]) < 0) return 205;
            mkdir(upper, 0755);
            mkdir(work, 0755);
            if (mount("overlay", directory, "overlay", 0, options) != 0) { perror("overlay"); return 206; }
            execve(program, arguments, no_environment);
        } else if (strcmp(way, "kept") == 0) {
            // Opens now, tries after a line on its input: "exec" or "copy".
            int file = open(program, O_RDONLY);
            if (file < 0) return errno;
            char line[64];
            printf("open\n");
            fflush(stdout);
            if (!fgets(line, sizeof line, stdin)) return 207;
            if (line[0] == 'c') run_copy_of(file);
            fexecve(file, arguments, no_environment);
        } else if (strcmp(way, "spawn") == 0) {
            // posix_spawn with the arguments given: blocks until the answer. Prints how long, in microseconds.
            struct timespec before, after;
            pid_t child;
            extern char **environ;
            printf("%d\n", getpid());
            fflush(stdout);
            char line[8];
            if (!fgets(line, sizeof line, stdin)) return 207;
            clock_gettime(CLOCK_MONOTONIC, &before);
            int failure = posix_spawn(&child, program, NULL, NULL, argv + 2, environ);
            clock_gettime(CLOCK_MONOTONIC, &after);
            printf("%d %ld\n", failure,
                (after.tv_sec - before.tv_sec) * 1000000 + (after.tv_nsec - before.tv_nsec) / 1000);
            fflush(stdout);
            if (failure == 0) waitpid(child, NULL, 0);
            return failure;
        } else if (strcmp(way, "stuck") == 0) {
            // The argument array is in memory whose page faults this process handles, and never does.
            int faults = syscall(SYS_userfaultfd, O_CLOEXEC);
            if (faults < 0) { perror("userfaultfd"); return 208; }
            struct uffdio_api api = {.api = UFFD_API};
            char *page = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            struct uffdio_register range = {
                .range = {.start = (uintptr_t)page, .len = 4096}, .mode = UFFDIO_REGISTER_MODE_MISSING};
            if (ioctl(faults, UFFDIO_API, &api) != 0 || ioctl(faults, UFFDIO_REGISTER, &range) != 0) return 209;
            char line[8];
            printf("ready\n");
            fflush(stdout);
            if (!fgets(line, sizeof line, stdin)) return 207;
            execve(program, (char **)page, no_environment);
        } else if (strcmp(way, "many") == 0) {
            // argv[3] times fork and execve one after the other; prints how many were refused and how many ended well.
            int refused = 0, ran = 0;
            for (int left = atoi(argv[3]); left > 0; left--) {
                pid_t child = vfork();
                if (child == 0) {
                    execve(program, arguments, no_environment);
                    _exit(99);
                }
                int status;
                waitpid(child, &status, 0);
                if (WIFEXITED(status) && WEXITSTATUS(status) == 99) refused++;
                else ran++;
            }
            printf("%d %d\n", refused, ran);
            return 0;
        } else {
            return 250;
        }
        return errno;
    }
    """#
