#pragma once
// The X11 requests that GTK 4 no longer makes: a window's type, its place, staying above the others. EWMH is the
// "Extended Window Manager Hints" specification of freedesktop.org. Debian's GTK is always built with X11.
#include <X11/Xatom.h>
#include <gdk/x11/gdkx.h>
#include <gtk/gtk.h>

static inline gboolean cgtk_is_x11(GdkDisplay *display) { return GDK_IS_X11_DISPLAY(display); }

static inline unsigned long cgtk_x11_property_window(Display *display, Window window, const char *name, Atom type) {
    Atom actual = None;
    int format = 0;
    unsigned long count = 0, rest = 0, value = 0;
    unsigned char *data = NULL;
    int failed = XGetWindowProperty(
        display, window, XInternAtom(display, name, False), 0, 1, False, type, &actual, &format, &count, &rest, &data);
    // A property of format 32 is handed over as an array of long.
    if (failed == Success && actual == type && format == 32 && count == 1) value = *(unsigned long *)data;
    if (data) XFree(data);
    return value;
}

// The window by which a window manager shows that it runs (EWMH, "_NET_SUPPORTING_WM_CHECK"), 0 without one.
static inline unsigned long cgtk_x11_manager_window(GdkDisplay *gdk) {
    Display *display = gdk_x11_display_get_xdisplay(gdk);
    gdk_x11_display_error_trap_push(gdk);
    Window root = DefaultRootWindow(display);
    Window check = cgtk_x11_property_window(display, root, "_NET_SUPPORTING_WM_CHECK", XA_WINDOW);
    // The property may outlive its manager; a living one repeats it on its own window.
    if (check && cgtk_x11_property_window(display, check, "_NET_SUPPORTING_WM_CHECK", XA_WINDOW) != check) check = 0;
    gdk_x11_display_error_trap_pop_ignored(gdk);
    return check;
}

// The window manager's process (EWMH, "_NET_WM_PID"), 0 where it does not say.
static inline unsigned long cgtk_x11_manager_process(GdkDisplay *gdk) {
    Window check = cgtk_x11_manager_window(gdk);
    if (!check) return 0;
    gdk_x11_display_error_trap_push(gdk);
    unsigned long process =
        cgtk_x11_property_window(gdk_x11_display_get_xdisplay(gdk), check, "_NET_WM_PID", XA_CARDINAL);
    gdk_x11_display_error_trap_pop_ignored(gdk);
    return process;
}

// Makes a realized window a dialog (EWMH, "_NET_WM_WINDOW_TYPE"), which window managers put in the middle.
static inline void cgtk_x11_be_dialog(GdkSurface *surface) {
    Display *display = gdk_x11_display_get_xdisplay(gdk_surface_get_display(surface));
    Atom type = XInternAtom(display, "_NET_WM_WINDOW_TYPE_DIALOG", False);
    XChangeProperty(
        display, gdk_x11_surface_get_xid(surface), XInternAtom(display, "_NET_WM_WINDOW_TYPE", False), XA_ATOM, 32,
        PropModeReplace, (unsigned char *)&type, 1);
}

static inline void cgtk_x11_tell_manager(GdkSurface *surface, const char *message, long a, long b, long c, long d) {
    Display *display = gdk_x11_display_get_xdisplay(gdk_surface_get_display(surface));
    XEvent event = {0};
    event.xclient.type = ClientMessage;
    event.xclient.window = gdk_x11_surface_get_xid(surface);
    event.xclient.message_type = XInternAtom(display, message, False);
    event.xclient.format = 32;
    event.xclient.data.l[0] = a;
    event.xclient.data.l[1] = b;
    event.xclient.data.l[2] = c;
    event.xclient.data.l[3] = d;
    XSendEvent(
        display, DefaultRootWindow(display), False, SubstructureRedirectMask | SubstructureNotifyMask, &event);
}

// Asks for a place above all other windows, on every desktop, and for the keyboard. To be sent when the window has been
// mapped (EWMH, "_NET_WM_STATE" and "_NET_ACTIVE_WINDOW" with source 2, which focus-stealing prevention lets through).
static inline void cgtk_x11_come_forward(GdkSurface *surface) {
    GdkDisplay *gdk = gdk_surface_get_display(surface);
    Display *display = gdk_x11_display_get_xdisplay(gdk);
    gdk_x11_display_error_trap_push(gdk);
    if (cgtk_x11_manager_window(gdk)) {
        cgtk_x11_tell_manager(
            surface, "_NET_WM_STATE", 1, (long)XInternAtom(display, "_NET_WM_STATE_ABOVE", False),
            (long)XInternAtom(display, "_NET_WM_STATE_STICKY", False), 2);
        cgtk_x11_tell_manager(surface, "_NET_ACTIVE_WINDOW", 2, (long)gdk_x11_get_server_time(surface), 0, 0);
    } else {
        Window window = gdk_x11_surface_get_xid(surface);
        XRaiseWindow(display, window);
        XSetInputFocus(display, window, RevertToPointerRoot, CurrentTime);
    }
    XFlush(display);
    gdk_x11_display_error_trap_pop_ignored(gdk);
}

// Puts the window, width by height pixels of the device, into the middle of a screen that has no window manager.
static inline void cgtk_x11_center_unmanaged(GdkSurface *surface, int width, int height) {
    GdkDisplay *gdk = gdk_surface_get_display(surface);
    Display *display = gdk_x11_display_get_xdisplay(gdk);
    if (cgtk_x11_manager_window(gdk)) return;
    int screen = DefaultScreen(display);
    gdk_x11_display_error_trap_push(gdk);
    XMoveWindow(
        display, gdk_x11_surface_get_xid(surface), (DisplayWidth(display, screen) - width) / 2,
        (DisplayHeight(display, screen) - height) / 2);
    gdk_x11_display_error_trap_pop_ignored(gdk);
}
