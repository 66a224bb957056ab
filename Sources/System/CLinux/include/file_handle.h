#pragma once
// A file by its file system's own name for it, which stays the same wherever the file is moved: name_to_handle_at(2),
// open_by_handle_at(2) (Linux 2.6.39).
#include <stdint.h>

#define CLINUX_HANDLE_BYTES 128

typedef struct {
    uint64_t file_system; // statfs(2), f_fsid; of ext4, btrfs and others the same after each mount
    int32_t type;
    uint32_t length;
    unsigned char bytes[CLINUX_HANDLE_BYTES];
} clinux_file_handle;

// The handle of the file that a descriptor refers to, O_PATH included. Returns 0 or an errno: EOPNOTSUPP where the file
// system has none.
int clinux_file_handle_of(int descriptor, clinux_file_handle *handle);

// The id of the file system that an open directory is on. Returns 0 or an errno.
int clinux_file_system_of(int directory, uint64_t *file_system);

// Opens (O_PATH) what a handle means; `directory` is an open directory of its file system, not O_PATH. Needs
// CAP_DAC_READ_SEARCH. Returns the descriptor or a negative errno: ESTALE where the file is gone.
int clinux_open_handle(int directory, const clinux_file_handle *handle);
