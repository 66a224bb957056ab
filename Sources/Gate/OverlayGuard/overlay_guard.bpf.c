// SPDX-License-Identifier: MIT OR GPL-2.0-only
// Denies opening a locked file through an overlay mount that was made in a user namespace. Before Linux 6.5, overlayfs
// opens the file below without a permission event, so the gate can't hold such a launch.
#include <linux/bpf.h>
#include <linux/errno.h>

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

// The kernel's fields that are used; their offsets are taken from the running kernel's BTF when the program is loaded.
#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
struct user_namespace {
    int level;
};
struct super_block {
    struct user_namespace *s_user_ns;
};
struct inode {
    struct super_block *i_sb;
};
struct dentry {
    struct super_block *d_sb;
};
struct path {
    struct dentry *dentry;
};
struct file {
    struct path f_path;
    struct inode *f_inode;
};
#pragma clang attribute pop

// The locked files, filled by the gate. An entry belongs to the inode itself, which the gate's mark keeps in memory.
struct {
    __uint(type, BPF_MAP_TYPE_INODE_STORAGE);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __type(key, int);
    __type(value, __u32);
} locked_files SEC(".maps");

SEC("lsm/file_open")
int BPF_PROG(overlay_guard, struct file *file, int result) {
    if (result != 0) return result;
    // Overlayfs opens the real inode under the overlay's path.
    struct super_block *mounted = file->f_path.dentry->d_sb;
    if (mounted == file->f_inode->i_sb) return 0;
    // Only root can make an overlay in the initial user namespace.
    if (mounted->s_user_ns->level == 0) return 0;
    return bpf_inode_storage_get(&locked_files, file->f_inode, 0, 0) ? -EPERM : 0;
}

// The kernel accepts only programs of the security hooks with a GPL-compatible licence, in one of its own wordings.
char LICENSE[] SEC("license") = "Dual MIT/GPL";
