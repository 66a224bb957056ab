#!/usr/bin/python3
"""Watches a part of the screen of an X server, which moves for less time than a program takes to start.

    movement.py X Y WIDTH HEIGHT

Prints "watching" once it has seen the part, then "moved" whenever the part differs from what it was at first.
"""

import ctypes
import sys


def main(x, y, width, height):
    xlib = ctypes.CDLL("libX11.so.6")
    pointer, number, long = ctypes.c_void_p, ctypes.c_int, ctypes.c_ulong
    xlib.XOpenDisplay.argtypes, xlib.XOpenDisplay.restype = [ctypes.c_char_p], pointer
    xlib.XDefaultRootWindow.argtypes, xlib.XDefaultRootWindow.restype = [pointer], long
    xlib.XGetImage.argtypes = [pointer, long, number, number, number, number, long, number]
    xlib.XGetImage.restype = pointer
    xlib.XDestroyImage.argtypes = [pointer]
    display = xlib.XOpenDisplay(None)
    if not display:
        sys.exit("there is no X server")
    root = xlib.XDefaultRootWindow(display)

    class Image(ctypes.Structure):
        """The first fields of an XImage."""

        _fields_ = [
            *((name, number) for name in ("width", "height", "xoffset", "format")),
            ("data", pointer),
            *((name, number) for name in ("byte_order", "bitmap_unit", "bitmap_bit_order", "bitmap_pad", "depth")),
            ("bytes_per_line", number),
        ]

    def shown():
        # All planes, each pixel's bits together (ZPixmap).
        image = xlib.XGetImage(display, root, x, y, width, height, ~0 & 0xFFFFFFFF, 2)
        if not image:
            sys.exit("the screen has no such part")
        fields = Image.from_address(image)
        content = ctypes.string_at(fields.data, fields.bytes_per_line * height)
        xlib.XDestroyImage(image)
        return content

    first = shown()
    print("watching", flush=True)
    while True:
        if shown() != first:
            print("moved", flush=True)


main(*map(int, sys.argv[1:]))
