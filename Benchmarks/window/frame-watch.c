// Reports windows and frames on the display, on the monotonic clock: "map NANOSECONDS WINDOW WIDTH HEIGHT" when a window
// appears, "frame NANOSECONDS WINDOW" when its content changes (X Damage). Changes within 4 ms are one frame.
//
//   frame-watch            prints READY when it listens; ends with its parent
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <time.h>
#include <X11/Xlib.h>
#include <X11/extensions/Xdamage.h>

static unsigned long long now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (unsigned long long)time.tv_sec * 1000000000u + (unsigned long long)time.tv_nsec;
}

// A window may be closed before it is watched.
static int ignore(Display *display, XErrorEvent *error) {
    (void)display;
    (void)error;
    return 0;
}

int main(void) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    Display *display = XOpenDisplay(NULL);
    int damages, errors;
    if (!display || !XDamageQueryExtension(display, &damages, &errors)) {
        fprintf(stderr, "frame-watch: no display, or one without the Damage extension\n");
        return 1;
    }
    XSetErrorHandler(ignore);
    XSelectInput(display, DefaultRootWindow(display), SubstructureNotifyMask);
    XSync(display, False);
    puts("READY");
    fflush(stdout);
    unsigned long long last = 0;
    for (;;) {
        XEvent event;
        XNextEvent(display, &event);
        unsigned long long time = now();
        if (event.type == MapNotify) {
            XWindowAttributes attributes;
            if (!XGetWindowAttributes(display, event.xmap.window, &attributes))
                continue;
            XDamageCreate(display, event.xmap.window, XDamageReportNonEmpty);
            printf("map %llu %lu %d %d\n", time, event.xmap.window, attributes.width, attributes.height);
        } else if (event.type == damages + XDamageNotify) {
            XDamageNotifyEvent *damage = (XDamageNotifyEvent *)&event;
            XDamageSubtract(display, damage->damage, None, None);
            if (time - last < 4000000u)
                continue;
            last = time;
            printf("frame %llu %lu\n", time, damage->drawable);
        } else {
            continue;
        }
        fflush(stdout);
    }
}
