#pragma once
// What else there is to a file than its bytes: inode flags (ioctl_iflags(2)), leases (fcntl(2)), extended attributes
// (xattr(7)), room that is taken for its bytes (fallocate(2), Linux 2.6.23), and when they go to the disk
// (sync_file_range(2), Linux 2.6.17).
#include <stdbool.h>
#include <stdint.h>
#include <sys/xattr.h>

// Whether the file may not be changed or removed (FS_IMMUTABLE_FL, FS_APPEND_FL). False also where the file system has no
// such flags.
bool clinux_is_immutable(int descriptor);

// Whether somebody has the file open for writing, determined by acquiring a read lease (Linux 2.4) and releasing it at
// once; `descriptor` must be open for reading only. Returns 0 where nobody has, EAGAIN where somebody has, another errno
// where it can't be determined (EACCES: not the caller's file; EINVAL, ENOLCK: the file system has no leases).
int clinux_is_being_written(int descriptor);

// Takes room on the disk for the first `size` bytes of a file and makes the file that long; what is not written yet reads
// as zeros. Returns 0 or an errno: ENOSPC, EDQUOT or EFBIG where there is no room, EOPNOTSUPP where the file system can't.
int clinux_reserve(int descriptor, int64_t size);

// Starts to write a range out and does not wait for it. Of no consequence where the file system can't.
void clinux_start_writing(int descriptor, int64_t offset, int64_t count);
