#pragma once
// A path as a descriptor that neither reads the file nor waits for permission events: openat2(2) (Linux 5.6).
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

_Static_assert(sizeof(struct open_how) == 24, "struct open_how of Linux 5.6");

// O_PATH, and no symbolic link anywhere in `path`: the owner of a directory on the way must not be able to redirect
// it. Returns the descriptor or a negative errno (ELOOP for a link).
int clinux_open_path(const char *path);

// O_PATH on a directory, links followed (Linux 2.6.39). Returns the descriptor or a negative errno.
int clinux_open_directory_path(const char *path);
