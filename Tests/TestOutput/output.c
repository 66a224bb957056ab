#include <stdio.h>

/// Each line of the tests leaves at once, so that a run that was stopped shows what it was at.
__attribute__((constructor)) static void prepare_tests(void) {
    setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
}
