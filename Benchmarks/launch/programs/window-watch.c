// Reports when windows appear on the display and disappear, as the X server reports it (MapNotify, UnmapNotify on the
// root window): "map NANOSECONDS WIDTH HEIGHT" and "unmap NANOSECONDS", on the monotonic clock.
//
//   window-watch           prints READY when it listens; ends with its parent
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <time.h>
#include <X11/Xlib.h>

static unsigned long long now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (unsigned long long)time.tv_sec * 1000000000u + (unsigned long long)time.tv_nsec;
}

// A window may be closed before its size is read.
static int ignore(Display *display, XErrorEvent *error) {
    (void)display;
    (void)error;
    return 0;
}

int main(void) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    Display *display = XOpenDisplay(NULL);
    if (!display) {
        fprintf(stderr, "window-watch: no display\n");
        return 1;
    }
    XSetErrorHandler(ignore);
    XSelectInput(display, DefaultRootWindow(display), SubstructureNotifyMask);
    XSync(display, False);
    puts("READY");
    fflush(stdout);
    for (;;) {
        XEvent event;
        XNextEvent(display, &event);
        unsigned long long time = now();
        if (event.type == MapNotify) {
            XWindowAttributes attributes;
            if (!XGetWindowAttributes(display, event.xmap.window, &attributes))
                continue;
            printf("map %llu %d %d\n", time, attributes.width, attributes.height);
        } else if (event.type == UnmapNotify) {
            printf("unmap %llu\n", time);
        }
        fflush(stdout);
    }
}
