// The shims are static inline functions in their headers, one system call each. Here is what glibc declares for
// _GNU_SOURCE alone: this file is compiled with it, a Swift module that imports the headers is not.
#include "alarm_clock.h"
#include "descriptor_takeover.h"
#include "epoll.h"
#include "executable_format.h"
#include "fanotify.h"
#include "file_handle.h"
#include "file_identity.h"
#include "file_names.h"
#include "file_status.h"
#include "file_traits.h"
#include "heap_limits.h"
#include "inode_storage.h"
#include "kernel_probe.h"
#include "notification_listener.h"
#include "notify_socket.h"
#include "path_descriptor.h"
#include "peer.h"
#include "pidfd.h"
#include "process_hardening.h"
#include "process_memory.h"
#include "reader_process.h"
#include "signal_descriptor.h"
#include "spawn.h"

#include <linux/fs.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>

int clinux_fanotify_group(void) {
    int group = fanotify_init(
        FAN_CLASS_CONTENT | FAN_UNLIMITED_QUEUE | FAN_UNLIMITED_MARKS | FAN_REPORT_PIDFD | FAN_CLOEXEC | FAN_NONBLOCK,
        O_RDONLY | O_CLOEXEC | CLINUX_LARGE_FILE);
    return group < 0 ? -errno : group;
}

int clinux_open_path(const char *path) {
    struct open_how how = {
        .flags = O_PATH | O_CLOEXEC | O_NOFOLLOW, .resolve = RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS};
    long descriptor = syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof how);
    return descriptor < 0 ? -errno : (int)descriptor;
}

long clinux_read_memory(pid_t process, uint64_t address, void *into, size_t count) {
    struct iovec local = {.iov_base = into, .iov_len = count};
    struct iovec remote = {.iov_base = (void *)(uintptr_t)address, .iov_len = count};
    ssize_t copied = process_vm_readv(process, &local, 1, &remote, 1, 0);
    return copied < 0 ? -errno : (long)copied;
}

int clinux_open_directory_path(const char *path) {
    int descriptor = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    return descriptor < 0 ? -errno : descriptor;
}

int clinux_accept(int listener) {
    int connection = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    return connection < 0 ? -errno : connection;
}

static int identify(int directory, const char *path, int flags, clinux_file *file) {
    struct statx status;
    if (statx(directory, path, flags | AT_STATX_DONT_SYNC, STATX_INO | STATX_TYPE | STATX_MODE | STATX_UID, &status) != 0)
        return errno;
    file->device = (uint64_t)status.stx_dev_major << 32 | status.stx_dev_minor;
    file->inode = status.stx_ino;
    file->owner = status.stx_uid;
    file->mode = status.stx_mode;
    file->is_regular = S_ISREG(status.stx_mode);
    file->is_directory = S_ISDIR(status.stx_mode);
    return 0;
}

int clinux_identify_descriptor(int descriptor, clinux_file *file) {
    return identify(descriptor, "", AT_EMPTY_PATH, file);
}

int clinux_identify_path(const char *path, clinux_file *file) { return identify(AT_FDCWD, path, 0, file); }

int clinux_identify_link(const char *path, clinux_file *file) {
    return identify(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW, file);
}

int clinux_identify_name(int directory, const char *name, clinux_file *file) {
    return identify(directory, name, AT_SYMLINK_NOFOLLOW, file);
}

pid_t clinux_fork_keeping(int kept) {
    pid_t child = fork();
    if (child < 0) return -errno;
    if (child > 0) return child;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (kept != 3) dup2(kept, 3);
    close_range(4, ~0u, 0);
    return 0;
}

int clinux_rename_keeping(int old_directory, const char *old_name, int new_directory, const char *new_name) {
    if (renameat2(old_directory, old_name, new_directory, new_name, RENAME_NOREPLACE) == 0) return 0;
    if (errno != EINVAL && errno != ENOSYS) return errno;
    // A second link never replaces a file either.
    if (linkat(old_directory, old_name, new_directory, new_name, 0) != 0) return errno;
    unlinkat(old_directory, old_name, 0);
    return 0;
}

bool clinux_is_immutable(int descriptor) {
    int flags = 0;
    return ioctl(descriptor, FS_IOC_GETFLAGS, &flags) == 0 && (flags & (FS_IMMUTABLE_FL | FS_APPEND_FL)) != 0;
}

int clinux_is_being_written(int descriptor) {
    // If another process opens the file in between, the kernel sends SIGIO, which ends a process; SIGURG does not.
    fcntl(descriptor, F_SETSIG, SIGURG);
    if (fcntl(descriptor, F_SETLEASE, F_RDLCK) != 0) return errno;
    fcntl(descriptor, F_SETLEASE, F_UNLCK);
    return 0;
}

int clinux_reserve(int descriptor, int64_t size) {
    int result;
    do result = fallocate(descriptor, 0, 0, size);
    while (result != 0 && errno == EINTR);
    return result == 0 ? 0 : errno;
}

void clinux_start_writing(int descriptor, int64_t offset, int64_t count) {
    sync_file_range(descriptor, offset, count, SYNC_FILE_RANGE_WRITE);
}

int clinux_file_system_of(int directory, uint64_t *file_system) {
    struct statfs status;
    if (fstatfs(directory, &status) != 0) return errno;
    memcpy(file_system, &status.f_fsid, sizeof *file_system);
    return 0;
}

typedef union {
    struct file_handle handle;
    char room[sizeof(struct file_handle) + CLINUX_HANDLE_BYTES];
} handle_buffer;

int clinux_file_handle_of(int descriptor, clinux_file_handle *handle) {
    handle_buffer buffer = {.handle = {.handle_bytes = CLINUX_HANDLE_BYTES}};
    int mount;
    if (name_to_handle_at(descriptor, "", &buffer.handle, &mount, AT_EMPTY_PATH) != 0) return errno;
    handle->type = buffer.handle.handle_type;
    handle->length = buffer.handle.handle_bytes;
    memcpy(handle->bytes, buffer.handle.f_handle, handle->length);
    return clinux_file_system_of(descriptor, &handle->file_system);
}

int clinux_open_handle(int directory, const clinux_file_handle *handle) {
    if (handle->length > CLINUX_HANDLE_BYTES) return -EINVAL;
    handle_buffer buffer = {.handle = {.handle_bytes = handle->length, .handle_type = handle->type}};
    memcpy(buffer.handle.f_handle, handle->bytes, handle->length);
    int descriptor = open_by_handle_at(directory, &buffer.handle, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    return descriptor < 0 ? -errno : descriptor;
}
