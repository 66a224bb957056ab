#include <stdio.h>
#include <stdlib.h>

/// Each line of the tests leaves at once, so that a run that was stopped shows what it was at. The daemons that they start derive
/// passcodes at the smallest cost of the format.
__attribute__((constructor)) static void prepare_tests(void) {
    setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
    setenv("APPLOCKER_SMALLEST_PASSCODE_COST", "1", 0);
}
