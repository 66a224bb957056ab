#include <stdio.h>

/// Flushes each line at once, so that the output of a stopped run names the test that was running.
__attribute__((constructor)) static void prepare_tests(void) {
    setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
}
