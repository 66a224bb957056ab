#pragma once
// GTK 4 for Swift, and what Swift cannot import from it: macros and variadic functions. Everything here runs on the
// thread that runs GTK.
#include <gio/gdesktopappinfo.h>
#include <glib-unix.h>
#include <gtk/gtk.h>
#include <sys/prctl.h>

#include "shim-x11.h"

// libdispatch's main queue as a descriptor, the pair that CoreFoundation's run loop is built on: readable when a block
// waits, and the call that runs pending blocks. With them Swift's main actor runs inside GLib's loop.
extern int _dispatch_get_main_queue_handle_4CF(void);
extern void _dispatch_main_queue_callback_4CF(void *message);

// prctl(2) is variadic. Returns 0, or -1 with errno.

// The accessible role is fixed when a widget is made, and g_object_new is variadic.
static inline GtkWidget *cgtk_label_new_with_role(GtkAccessibleRole role) {
    return GTK_WIDGET(g_object_new(GTK_TYPE_LABEL, "accessible-role", role, NULL));
}

static inline void cgtk_set_accessible_label(GtkWidget *widget, const char *text) {
    gtk_accessible_update_property(GTK_ACCESSIBLE(widget), GTK_ACCESSIBLE_PROPERTY_LABEL, text, -1);
}

static inline void cgtk_set_accessible_described_by(GtkWidget *widget, GtkWidget *description) {
    gtk_accessible_update_relation(GTK_ACCESSIBLE(widget), GTK_ACCESSIBLE_RELATION_DESCRIBED_BY, description, NULL, -1);
}

static inline void cgtk_set_accessible_invalid(GtkWidget *widget, gboolean invalid) {
    gtk_accessible_update_state(
        GTK_ACCESSIBLE(widget), GTK_ACCESSIBLE_STATE_INVALID,
        invalid ? GTK_ACCESSIBLE_INVALID_TRUE : GTK_ACCESSIBLE_INVALID_FALSE, -1);
}

static inline void cgtk_set_placeholder(GtkWidget *entry, const char *text) {
    g_object_set(entry, "placeholder-text", text, NULL);
}

static inline void cgtk_prefer_dark(gboolean dark) {
    g_object_set(gtk_settings_get_default(), "gtk-application-prefer-dark-theme", dark, NULL);
}

static inline gboolean cgtk_prefers_dark(void) {
    gboolean dark = FALSE;
    g_object_get(gtk_settings_get_default(), "gtk-application-prefer-dark-theme", &dark, NULL);
    return dark;
}

static inline gboolean cgtk_animates(void) {
    gboolean animates = TRUE;
    g_object_get(gtk_settings_get_default(), "gtk-enable-animations", &animates, NULL);
    return animates;
}

// The theme's name; free with g_free.
static inline char *cgtk_theme_name(void) {
    char *name = NULL;
    g_object_get(gtk_settings_get_default(), "gtk-theme-name", &name, NULL);
    return name;
}

// One string of the desktop's settings, NULL where this desktop has no such schema or key; free with g_free.
static inline char *cgtk_setting(GSettings *settings, const char *key) {
    return settings ? g_settings_get_string(settings, key) : NULL;
}

// The desktop-wide settings of GNOME and its relatives, NULL where they are not installed (g_settings_new would abort).
static inline GSettings *cgtk_interface_settings(void) {
    GSettingsSchemaSource *source = g_settings_schema_source_get_default();
    GSettingsSchema *schema =
        source ? g_settings_schema_source_lookup(source, "org.gnome.desktop.interface", TRUE) : NULL;
    if (!schema) return NULL;
    GSettings *settings =
        g_settings_schema_has_key(schema, "color-scheme") ? g_settings_new_full(schema, NULL, NULL) : NULL;
    g_settings_schema_unref(schema);
    return settings;
}
