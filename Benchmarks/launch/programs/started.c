// Prints when its main began, in milliseconds since 1970.
#include <stdio.h>
#include <time.h>

int main(void) {
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    return printf("%.3f\n", (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6) < 0;
}
