// Reports when windows appear on the display and disappear, as the X server reports it (MapNotify, UnmapNotify on the
// root window): "map NANOSECONDS WINDOW WIDTH HEIGHT" and "unmap NANOSECONDS WINDOW", on the monotonic clock. Compiled
// with FRAMES also "frame NANOSECONDS WINDOW" when a window's content changes (X Damage); changes within 4 ms are one.
//
//   window-watch           prints READY when it listens; ends with its parent
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <time.h>
#include <X11/Xlib.h>
#ifdef FRAMES
#include <X11/extensions/Xdamage.h>
#endif

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
#ifdef FRAMES
    int damages, errors;
    unsigned long long last = 0;
    if (!XDamageQueryExtension(display, &damages, &errors)) {
        fprintf(stderr, "window-watch: the display has no Damage extension\n");
        return 1;
    }
#endif
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
            printf("map %llu %lu %d %d\n", time, event.xmap.window, attributes.width, attributes.height);
#ifdef FRAMES
            XDamageCreate(display, event.xmap.window, XDamageReportNonEmpty);
#endif
        } else if (event.type == UnmapNotify) {
            printf("unmap %llu %lu\n", time, event.xunmap.window);
#ifdef FRAMES
        } else if (event.type == damages + XDamageNotify) {
            XDamageNotifyEvent *damage = (XDamageNotifyEvent *)&event;
            XDamageSubtract(display, damage->damage, None, None);
            if (time - last < 4000000u)
                continue;
            last = time;
            printf("frame %llu %lu\n", time, damage->drawable);
#endif
        }
        fflush(stdout);
    }
}
