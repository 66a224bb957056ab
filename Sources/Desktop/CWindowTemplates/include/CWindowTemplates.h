#pragma once
// The window's screens: GtkBuilder's XML, which ui/ contains and blueprints/ describes, as classes of widgets. Free of GTK's
// headers, so that Swift sees GTK's types from one module alone. To be used on the thread that runs GTK.
#include <stddef.h>

// The XML of a screen, or the style sheet ("style.css"), as UTF-8 that ends with a zero byte; NULL for an unknown name.
const char *cwindow_text(const char *name);

// Registers a subclass of `parent` with the screen `name` as its template. `children`: the ids of the objects that
// gtk_widget_get_template_child finds, ended by NULL. Returns its GType. To be called once for each name.
unsigned long cwindow_register(const char *name, const char *class_name, unsigned long parent, const char *const *children);
