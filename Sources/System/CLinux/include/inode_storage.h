#pragma once
// A pinned BPF map with an entry for each of some inodes (BPF_MAP_TYPE_INODE_STORAGE, Linux 5.10): bpf(2). An entry
// is lost when the kernel forgets the inode, so one for each marked inode remains. `file` is any open descriptor,
// O_PATH included. No command here needs a capability.
#include <stdint.h>

// Returns a descriptor or a negative errno.
int clinux_open_inode_storage(const char *pinned);
// Adding an entry twice has no effect. Returns 0 or an errno.
int clinux_add_inode(int storage, int file);
// Returns 0 or an errno: ENOENT where the inode has no entry.
int clinux_remove_inode(int storage, int file);
