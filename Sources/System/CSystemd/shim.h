#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <systemd/sd-bus.h>

/// Names the calling thread, as /proc shows it; 15 bytes at most.
static inline void csystemd_name_thread(const char *name) { prctl(PR_SET_NAME, name, 0, 0, 0); }
