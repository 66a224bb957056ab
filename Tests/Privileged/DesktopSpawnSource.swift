/// A stand-in for a compositor: it starts the given program, blocks until the kernel has answered, and prints after how
/// many microseconds.
///
/// `labwc DIRECTORY PROGRAM ARGUMENT...`; each line of input names a way: posix_spawn, glib (GLib's own posix_spawn) or
/// glib-fork (with a directory GLib forks, and waits on a pipe for the child's execve).
let compositorSource = #"""
    #include <errno.h>
    #include <glib.h>
    #include <spawn.h>
    #include <stdio.h>
    #include <string.h>
    #include <unistd.h>

    int main(int argc, char **argv) {
        char line[64];
        if (argc < 3 || chdir(argv[1])) return 2;
        puts("ready");
        fflush(stdout);
        while (fgets(line, sizeof line, stdin)) {
            line[strcspn(line, "\n")] = 0;
            char way[80];
            snprintf(way, sizeof way, "WAY=%s", line);
            char *environment[] = {way, "GREETING=two words = one", "", NULL};
            int refused;
            gint64 start = g_get_monotonic_time();
            if (!strcmp(line, "posix_spawn")) {
                pid_t child;
                refused = posix_spawn(&child, argv[2], NULL, NULL, argv + 2, environment) == EPERM;
            } else {
                GPid child;
                GError *error = NULL;
                g_spawn_async(!strcmp(line, "glib-fork") ? argv[1] : NULL, argv + 2, environment,
                    G_SPAWN_DO_NOT_REAP_CHILD | G_SPAWN_LEAVE_DESCRIPTORS_OPEN, NULL, NULL, &child, &error);
                refused = error != NULL;
                g_clear_error(&error);
            }
            printf("%s %s %d\n", line, refused ? "refused" : "started", (int)(g_get_monotonic_time() - start));
            fflush(stdout);
        }
        return 0;
    }
    """#
