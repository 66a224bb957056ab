#!/usr/bin/python3
"""Shows a window from which files can be dragged, as a file manager does, in the upper left corner of an X server with
openbox.

    drag.py FILE...

Prints "dragging" once they are dragged, "accepted" when they are above a window that accepts them, and "dropped".
"""

import sys

import gi

gi.require_version("Gdk", "4.0")
gi.require_version("Gtk", "4.0")
from gi.repository import Gdk, Gio, Gtk  # noqa: E402


def announce(word):
    print(word, flush=True)


def begin(_source, drag):
    announce("dragging")
    drag.connect("notify::selected-action", lambda drag, _: drag.get_selected_action() and announce("accepted"))
    drag.connect("drop-performed", lambda _: announce("dropped"))


def activate(application):
    window = Gtk.ApplicationWindow(
        application=application, title="files", decorated=False, default_width=120, default_height=120
    )
    source = Gtk.DragSource(actions=Gdk.DragAction.COPY)
    files = Gdk.FileList.new_from_list([Gio.File.new_for_path(path) for path in sys.argv[1:]])
    source.connect("prepare", lambda *_: Gdk.ContentProvider.new_for_value(files))
    source.connect("drag-begin", begin)
    label = Gtk.Label(label="files", hexpand=True, vexpand=True)
    label.add_controller(source)
    window.set_child(label)
    window.present()


application = Gtk.Application(application_id="org.example.Files")
application.connect("activate", activate)
application.run([])
