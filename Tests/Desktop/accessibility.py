#!/usr/bin/python3
"""Reads and operates the windows of a process by its accessibility tree (AT-SPI), as a screen reader does: one request
as JSON on each line of standard input, one reply on each line of standard output.

    {"do": "list", "process": PID}                                  every part that is shown
    {"do": "windows", "process": PID}                               every window that is shown
    {"do": "outside", "process": PID}                               every part that is beyond the sides of its window
    {"do": "press", "process": PID, "role": ROLE, "name": NAME}     a click, a toggle
    {"do": "type", "process": PID, "role": ROLE, "name": NAME, "text": TEXT}
"""

import faulthandler
import json
import sys
import warnings

import gi

gi.require_version("Atspi", "2.0")
from gi.repository import Atspi, GLib  # noqa: E402

# Where libatspi crashes, the test shows in what.
faulthandler.enable()
# Debian 12's names of the interfaces are deprecated in later versions.
warnings.simplefilter("ignore")
# While GTK draws it answers late. What was given up takes effect nevertheless, and the test would press it twice.
Atspi.set_timeout(60_000, 60_000)


def application(process):
    desktop = Atspi.get_desktop(0)
    for number in range(desktop.get_child_count()):
        found = desktop.get_child_at_index(number)
        if found is not None and found.get_process_id() == process:
            return found
    raise LookupError(f"no application of process {process}")


def text(node):
    interface = node.get_text_iface()
    return Atspi.Text.get_text(interface, 0, Atspi.Text.get_character_count(interface)) if interface else ""


def shown(node):
    """The node and its descendants, as far as they are shown: hidden pages have no size."""
    node.clear_cache()
    states = node.get_state_set()
    role = node.get_role_name()
    if role != "application":
        if not states.contains(Atspi.StateType.VISIBLE):
            return
        component = node.get_component_iface()
        if component is not None:
            size = component.get_size()
            if size.x == 0 or size.y == 0:
                return
        yield node
    for number in range(node.get_child_count()):
        child = node.get_child_at_index(number)
        if child is not None:
            yield from shown(child)


def described(node):
    states = node.get_state_set()
    component = node.get_component_iface()
    place = component.get_extents(Atspi.CoordType.WINDOW) if component is not None else None
    return {
        "x": place.x if place else 0,
        "width": place.width if place else 0,
        "height": place.height if place else 0,
        "role": node.get_role_name(),
        "name": node.get_name() or "",
        "text": text(node),
        "isOn": states.contains(Atspi.StateType.CHECKED) or states.contains(Atspi.StateType.PRESSED),
        "isActive": states.contains(Atspi.StateType.ACTIVE),
    }


def windows(process):
    root = application(process)
    children = [root.get_child_at_index(number) for number in range(root.get_child_count())]
    parts = [next(shown(child), None) for child in children if child is not None]
    return [described(part) for part in parts if part is not None]


def outside(process):
    """Parts of which a side is cut off. Above and below the visible part of a list is more of it."""
    root = application(process)
    for number in range(root.get_child_count()):
        window = root.get_child_at_index(number)
        if window is not None and any(shown(window)):
            yield from beyond_sides(window, window.get_component_iface().get_size().x)


def beyond_sides(node, width):
    # A page that is behind another one in a narrow window is visible, but not on the screen.
    if not node.get_state_set().contains(Atspi.StateType.SHOWING):
        return
    component = node.get_component_iface()
    if component is not None:
        place = component.get_extents(Atspi.CoordType.WINDOW)
        # A header bar covers the border of its window, which is one pixel wide.
        if place.width and place.height and (place.x < -1 or place.x + place.width > width + 1):
            yield described(node)
    # GTK reports the label in a field as wide as it is before it is drawn smaller.
    if node.get_role_name() == "text":
        return
    for number in range(node.get_child_count()):
        child = node.get_child_at_index(number)
        if child is not None:
            yield from beyond_sides(child, width)


def reread(read):
    """What it reads: again if a part vanished meanwhile, as a row does when the window shows something newer."""
    for _ in range(20):
        try:
            return read()
        except GLib.Error as error:
            failure = error
    raise failure


def named(request):
    nodes = [
        node
        for node in shown(application(request["process"]))
        if node.get_name() == request["name"] and request.get("role") in (None, node.get_role_name())
    ]
    if not nodes:
        raise LookupError(f"{request.get('role') or 'part'} {request['name']!r} is not shown")
    return nodes


def actions(node):
    interface = node.get_action_iface()
    count = Atspi.Action.get_n_actions(interface) if interface else 0
    # GTK counts actions that are turned off, and refuses their names.
    for number in range(count):
        try:
            name = Atspi.Action.get_action_name(interface, number)
        except GLib.Error:
            continue
        if name in ("click", "toggle"):
            yield interface, number


def perform(request):
    match request["do"]:
        case "list":
            return reread(lambda: [described(node) for node in shown(application(request["process"]))])
        case "windows":
            return reread(lambda: windows(request["process"]))
        case "outside":
            return reread(lambda: list(outside(request["process"])))
        case "press":
            # The last: the one in the dialog that was opened last.
            for node in reversed(named(request)):
                for interface, number in actions(node):
                    if node.get_state_set().contains(Atspi.StateType.SENSITIVE):
                        Atspi.Action.do_action(interface, number)
                        return []
            raise LookupError(f"{request['name']!r} can't be pressed")
        case "type":
            # An entry's name is that of the part around its text.
            fields = [part.get_editable_text_iface() for node in named(request) for part in shown(node)]
            field = ([field for field in fields if field is not None] or [None])[-1]
            if field is None or not Atspi.EditableText.set_text_contents(field, request["text"]):
                raise LookupError(f"{request['name']!r} can't be edited")
    return []


def main():
    for line in sys.stdin:
        try:
            reply = {"parts": perform(json.loads(line))}
        except (LookupError, GLib.Error) as error:
            reply = {"error": str(error)}
        print(json.dumps(reply), flush=True)


main()
