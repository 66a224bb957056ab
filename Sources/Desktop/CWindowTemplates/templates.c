#include "include/CWindowTemplates.h"

#include <adwaita.h>

// ui/ is generated from blueprints/ by Scripts/blueprints, and checked in: a build needs no blueprint-compiler.
static const char activity_head[] = {
#embed "ui/activity-head.ui"
    , 0};
static const char activity_page[] = {
#embed "ui/activity-page.ui"
    , 0};
static const char app_choice[] = {
#embed "ui/app-choice.ui"
    , 0};
static const char app_dialog[] = {
#embed "ui/app-dialog.ui"
    , 0};
static const char apps_page[] = {
#embed "ui/apps-page.ui"
    , 0};
static const char backup_page[] = {
#embed "ui/backup-page.ui"
    , 0};
static const char bar[] = {
#embed "ui/bar.ui"
    , 0};
static const char category_dialog[] = {
#embed "ui/category-dialog.ui"
    , 0};
static const char devices_page[] = {
#embed "ui/devices-page.ui"
    , 0};
static const char event_row[] = {
#embed "ui/event-row.ui"
    , 0};
static const char files_page[] = {
#embed "ui/files-page.ui"
    , 0};
static const char first_run[] = {
#embed "ui/first-run.ui"
    , 0};
static const char intruder_tile[] = {
#embed "ui/intruder-tile.ui"
    , 0};
static const char intruders_page[] = {
#embed "ui/intruders-page.ui"
    , 0};
static const char moment_statistics[] = {
#embed "ui/moment-statistics.ui"
    , 0};
static const char moment_trash[] = {
#embed "ui/moment-trash.ui"
    , 0};
static const char moments_page[] = {
#embed "ui/moments-page.ui"
    , 0};
static const char navigation_row[] = {
#embed "ui/navigation-row.ui"
    , 0};
static const char note_version[] = {
#embed "ui/note-version.ui"
    , 0};
static const char notes_page[] = {
#embed "ui/notes-page.ui"
    , 0};
static const char overview_page[] = {
#embed "ui/overview-page.ui"
    , 0};
static const char pairing_view[] = {
#embed "ui/pairing-view.ui"
    , 0};
static const char passcode_dialog[] = {
#embed "ui/passcode-dialog.ui"
    , 0};
static const char recovery_view[] = {
#embed "ui/recovery-view.ui"
    , 0};
static const char row[] = {
#embed "ui/row.ui"
    , 0};
static const char schedule_group[] = {
#embed "ui/schedule-group.ui"
    , 0};
static const char schedule_times[] = {
#embed "ui/schedule-times.ui"
    , 0};
static const char settings_page[] = {
#embed "ui/settings-page.ui"
    , 0};
static const char shortcuts[] = {
#embed "ui/shortcuts.ui"
    , 0};
static const char transfer_area[] = {
#embed "ui/transfer-area.ui"
    , 0};
static const char vault_lock[] = {
#embed "ui/vault-lock.ui"
    , 0};
static const char window[] = {
#embed "ui/window.ui"
    , 0};
static const char style[] = {
#embed "style.css"
    , 0};

static const struct {
    const char *name, *text;
} texts[] = {
    {"activity-head", activity_head},
    {"activity-page", activity_page},
    {"app-choice", app_choice},
    {"app-dialog", app_dialog},
    {"apps-page", apps_page},
    {"backup-page", backup_page},
    {"bar", bar},
    {"category-dialog", category_dialog},
    {"devices-page", devices_page},
    {"event-row", event_row},
    {"files-page", files_page},
    {"first-run", first_run},
    {"intruder-tile", intruder_tile},
    {"intruders-page", intruders_page},
    {"moment-statistics", moment_statistics},
    {"moment-trash", moment_trash},
    {"moments-page", moments_page},
    {"navigation-row", navigation_row},
    {"note-version", note_version},
    {"notes-page", notes_page},
    {"overview-page", overview_page},
    {"pairing-view", pairing_view},
    {"passcode-dialog", passcode_dialog},
    {"recovery-view", recovery_view},
    {"row", row},
    {"schedule-group", schedule_group},
    {"schedule-times", schedule_times},
    {"settings-page", settings_page},
    {"shortcuts", shortcuts},
    {"transfer-area", transfer_area},
    {"vault-lock", vault_lock},
    {"window", window},
    {"style.css", style},
};

const char *cwindow_text(const char *name) {
    for (size_t i = 0; i < G_N_ELEMENTS(texts); i++)
        if (strcmp(texts[i].name, name) == 0) return texts[i].text;
    return NULL;
}

struct screen {
    const char *text;
    char **children;
};

static void screen_dispose(GObject *object) {
    gtk_widget_dispose_template(GTK_WIDGET(object), G_OBJECT_TYPE(object));
    // No screen is a parent of another: the object's class is the one that was registered here.
    G_OBJECT_CLASS(g_type_class_peek_parent(G_OBJECT_GET_CLASS(object)))->dispose(object);
}

static void screen_class_init(gpointer class, gpointer data) {
    struct screen *screen = data;
    GBytes *bytes = g_bytes_new_static(screen->text, strlen(screen->text));
    gtk_widget_class_set_template(class, bytes);
    g_bytes_unref(bytes);
    for (char **child = screen->children; *child; child++)
        gtk_widget_class_bind_template_child_full(class, *child, FALSE, 0);
    G_OBJECT_CLASS(class)->dispose = screen_dispose;
}

static void screen_init(GTypeInstance *instance, gpointer class) {
    (void)class;
    gtk_widget_init_template((GtkWidget *)instance);
}

unsigned long cwindow_register(
    const char *name, const char *class_name, unsigned long parent, const char *const *children) {
    GTypeQuery query;
    g_type_query(parent, &query);
    // Kept as long as the class, which is never unloaded.
    struct screen *screen = g_new(struct screen, 1);
    screen->text = cwindow_text(name);
    screen->children = g_strdupv((char **)children);
    GTypeInfo info = {
        .class_size = (guint16)query.class_size,
        .class_init = screen_class_init,
        .class_data = screen,
        .instance_size = (guint16)query.instance_size,
        .instance_init = screen_init,
    };
    return g_type_register_static(parent, class_name, &info, 0);
}
