#pragma once
// Which file it is: statx(2) (Linux 4.11) with AT_STATX_DONT_SYNC, which asks no file server. A file system that a
// user serves (FUSE) or a network has lost must not keep the caller waiting. Each returns 0 or an errno.
#include <stdbool.h>
#include <stdint.h>

typedef struct {
    uint64_t device;
    uint64_t inode;
    uint32_t owner;
    uint32_t mode; // S_IFMT and permissions
    bool is_regular;
    bool is_directory;
} clinux_file;

// The file behind an open descriptor, O_PATH included.
int clinux_identify_descriptor(int descriptor, clinux_file *file);
// The file that `path` leads to, links followed.
int clinux_identify_path(const char *path, clinux_file *file);
// The file at `path`; a link is itself.
int clinux_identify_link(const char *path, clinux_file *file);
// The file called `name` in a directory; a link is itself.
int clinux_identify_name(int directory, const char *name, clinux_file *file);
