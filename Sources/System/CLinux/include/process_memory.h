#pragma once
// Another process' memory: process_vm_readv(2) (Linux 3.2). Needs the right to trace that process.
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

// Copies `count` bytes from `address` of `process`. Returns how many were copied or a negative errno.
long clinux_read_memory(pid_t process, uint64_t address, void *into, size_t count);
