#pragma once
// What the kernel would execute a file with.
#include <linux/magic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#ifndef CIFS_SUPER_MAGIC // Linux 5.17
#define CIFS_SUPER_MAGIC 0xFF534D42
#endif
#ifndef SMB2_SUPER_MAGIC // Linux 5.17
#define SMB2_SUPER_MAGIC 0xFE534D42
#endif
#ifndef FUSE_SUPER_MAGIC // Linux 5.16
#define FUSE_SUPER_MAGIC 0x65735546
#endif
#ifndef CEPH_SUPER_MAGIC // Linux 5.17
#define CEPH_SUPER_MAGIC 0x00c36400
#endif

// Whether an open file may be executed by an interpreter ("#!", or binfmt_misc): false if it begins as an ELF file. Reading
// from a file server could block, so that of a file there is true.
static inline bool clinux_may_be_script(int file) {
    struct statfs system;
    if (fstatfs(file, &system) != 0) return true;
    switch ((unsigned)system.f_type) {
    case FUSE_SUPER_MAGIC: case NFS_SUPER_MAGIC: case CIFS_SUPER_MAGIC: case SMB2_SUPER_MAGIC: case SMB_SUPER_MAGIC:
    case V9FS_MAGIC: case AFS_SUPER_MAGIC: case AFS_FS_MAGIC: case CODA_SUPER_MAGIC: case CEPH_SUPER_MAGIC:
        return true;
    }
    char head[4];
    return pread(file, head, sizeof head, 0) != sizeof head || memcmp(head, "\177ELF", sizeof head) != 0;
}
