#include "inode_storage.h"

#include <errno.h>
#include <linux/bpf.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static int call(enum bpf_cmd command, union bpf_attr *attributes) {
    long result = syscall(SYS_bpf, command, attributes, sizeof *attributes);
    return result < 0 ? -errno : (int)result;
}

int clinux_open_inode_storage(const char *pinned) {
    union bpf_attr attributes;
    memset(&attributes, 0, sizeof attributes);  // the kernel refuses any other byte that it doesn't know
    attributes.pathname = (uintptr_t)pinned;
    return call(BPF_OBJ_GET, &attributes);
}

int clinux_add_inode(int storage, int file) {
    uint32_t value = 1;
    union bpf_attr attributes;
    memset(&attributes, 0, sizeof attributes);
    attributes.map_fd = (uint32_t)storage;
    attributes.key = (uintptr_t)&file;
    attributes.value = (uintptr_t)&value;
    return -call(BPF_MAP_UPDATE_ELEM, &attributes);
}

int clinux_remove_inode(int storage, int file) {
    union bpf_attr attributes;
    memset(&attributes, 0, sizeof attributes);
    attributes.map_fd = (uint32_t)storage;
    attributes.key = (uintptr_t)&file;
    return -call(BPF_MAP_DELETE_ELEM, &attributes);
}
