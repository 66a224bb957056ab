#include <stdio.h>
#include <stdlib.h>

/// Each line of the tests leaves at once, so that a run that was stopped shows what it was at. What `stdbuf` set for
/// that in SwiftPM's own process is not passed on: programs under test start as they do for a person.
__attribute__((constructor)) static void write_line_by_line(void) {
    setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
    unsetenv("LD_PRELOAD");
    unsetenv("_STDBUF_O");
}
