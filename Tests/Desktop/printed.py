#!/usr/bin/python3
"""Reads a page that cairo wrote as PDF: prints its texts, and with a second path draws its rectangles, which are those of
a QR code, as a picture (PBM).

    printed.py PDF [PICTURE]
"""

import re
import sys
import zlib


def streams(data):
    """The objects of the file by number, with their streams decompressed."""
    found = {}
    for match in re.finditer(rb"(\d+) 0 obj\s(.*?)endobj", data, re.S):
        head, _, rest = match[2].partition(b"stream\n")
        body = rest.rpartition(b"endstream")[0]
        found[int(match[1])] = head, zlib.decompress(body.rstrip(b"\r\n")) if b"FlateDecode" in head else body
    return found


def characters(table):
    """Of the codes of a font: its ToUnicode table, as "<01> <0041>" or "<01> <03> <0041>"."""
    known = {}
    for block in re.findall(rb"beginbfchar(.*?)endbfchar", table, re.S):
        for code, text in re.findall(rb"<(\w+)>\s*<(\w+)>", block):
            known[int(code, 16)] = bytes.fromhex(text.decode()).decode("utf-16-be")
    for block in re.findall(rb"beginbfrange(.*?)endbfrange", table, re.S):
        for first, last, text in re.findall(rb"<(\w+)>\s*<(\w+)>\s*<(\w+)>", block):
            for code in range(int(first, 16), int(last, 16) + 1):
                known[code] = chr(int(text, 16) + code - int(first, 16))
    return known


def fonts(objects):
    """The tables of the fonts by their names in the page."""
    found = {}
    for head, _ in objects.values():
        for names in re.findall(rb"/Font\s*<<(.*?)>>", head, re.S):
            for name, number in re.findall(rb"/([\w-]+) (\d+) 0 R", names):
                table = re.search(rb"/ToUnicode (\d+) 0 R", objects[int(number)][0])
                found[name] = characters(objects[int(table[1])][1])
    return found


def texts(page, tables):
    """The pieces of text of the page. Cairo writes the space at a line's end as an actual text."""
    table = {}
    tokens = rb"/ActualText <(\w+)>|/([\w-]+) \S+ Tf|\(((?:\\.|[^\\)])*)\)|<(\w+)>|\bET\b"
    for match in re.finditer(tokens, page.replace(b"\\\n", b""), re.S):
        actual, name, plain, codes = match.groups()
        if actual:
            yield bytes.fromhex(actual.decode()).decode("utf-16").lstrip("\ufeff")
        elif name:
            table = tables[name]
        elif plain is not None:
            yield "".join(table.get(code, "") for code in re.sub(rb"\\(.)", rb"\1", plain, flags=re.S))
        elif codes:
            yield "".join(table.get(code, "") for code in bytes.fromhex(codes.decode()))
        else:
            yield "\n"


def rectangles(page):
    """Of their first corner, width and height."""
    number = rb"(-?[\d.]+)"
    corners = rb"\s".join([number, number, b"m", number, number, b"l", number, number, b"l"])
    found = [tuple(float(part) for part in match.groups()) for match in re.finditer(corners, page)]
    return [(x, y, right - x, bottom - y) for x, y, right, _, _, bottom in found]


def draw(squares, path):
    """With eight dots for a module, and the margin that a reader of the code needs."""
    side = abs(squares[0][2])
    squares = [square for square in squares if abs(abs(square[2]) - side) < side / 8 > abs(abs(square[3]) - side)]
    left = min(x for x, *_ in squares)
    top = min(y for _, y, *_ in squares)
    dark = {(round((y - top) / side), round((x - left) / side)) for x, y, *_ in squares}
    count = max(max(place) for place in dark) + 1
    rows = [
        " ".join(str(int((row // 8 - 4, column // 8 - 4) in dark)) for column in range((count + 8) * 8))
        for row in range((count + 8) * 8)
    ]
    with open(path, "w") as file:
        file.write(f"P1\n{(count + 8) * 8} {(count + 8) * 8}\n" + "\n".join(rows) + "\n")


def main(path, picture=None):
    with open(path, "rb") as file:
        objects = streams(file.read())
    page = b"\n".join(body for head, body in objects.values() if b"/Type" not in head and b"\nBT\n" in body)
    print("".join(texts(page, fonts(objects))))
    if picture:
        draw(rectangles(page), picture)


main(*sys.argv[1:])
