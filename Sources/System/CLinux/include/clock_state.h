#pragma once
// Whether the clock follows another one: adjtimex(2), Linux 1.0; reading needs no privilege.
#include <string.h>
#include <sys/timex.h>

// Returns 1 where the clock is synchronised, 0 where it is not, -1 where the kernel does not say.
static inline int clinux_clock_is_synchronised(void) {
    struct timex state;
    memset(&state, 0, sizeof state);
    if (adjtimex(&state) < 0) return -1;
    return (state.status & STA_UNSYNC) == 0;
}
