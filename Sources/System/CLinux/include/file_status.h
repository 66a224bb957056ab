#pragma once
// Kernel types that several shims need. Each header of this folder wraps one family of system calls, one call a
// function, and states the first kernel that has it.
#include <sys/types.h>
