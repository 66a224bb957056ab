#!/usr/bin/env python3
"""Writes remarks.json in this directory: comments, reactions and who may write them, written from docs/formats.md,
"Remarks", only. Random values are derived from names, so every run writes the same bytes."""

import json

from make_sealed_vectors import FOLDER, fixed, ident
from moments import remark_tag

COMMENT = {"moment": ident("moment"), "kind": "comment", "at": 1715970000.5, "text": "Kalt,\nund schön. 🌊"}


def bodies():
    def reaction(kind):
        return {"moment": ident("moment"), "kind": kind, "at": 1715970000}

    def without(key):
        return {name: value for name, value in COMMENT.items() if name != key}

    opens = [
        ("a comment", COMMENT),
        ("a restored comment", {**COMMENT, "from": "Anna’s phone"}),
        ("2,000 characters", {**COMMENT, "text": "x" * 2000}),
        *((kind, reaction(kind)) for kind in ("heart", "laugh", "wow", "sad", "thanks")),
    ]
    refused = [
        ("another kind", reaction("applause")),
        ("no kind", without("kind")),
        ("no moment", without("moment")),
        ("a moment that is no id", {**COMMENT, "moment": "moment"}),
        ("no time", without("at")),
        ("the year 10,000", {**COMMENT, "at": 253402300800}),
        ("no text", without("text")),
        ("text that is a number", {**COMMENT, "text": 7}),
        ("text without a visible character", {**COMMENT, "text": " \u200b\n"}),
        ("2,001 characters", {**COMMENT, "text": "x" * 2001}),
        ("1,001 characters of two UTF-16 units", {**COMMENT, "text": "🌊" * 1001}),
        ("a long name", {**COMMENT, "from": "x" * 65}),
        ("a name without a visible character", {**COMMENT, "from": " "}),
        ("a list", [COMMENT]),
    ]
    return {
        "opens": [{"name": name, "content": content} for name, content in opens],
        "refused": [{"name": name, "content": content} for name, content in refused],
    }


def ids():
    vault, household, author, other = (ident(name) for name in ("vault", "household", "author", "other author"))
    rest = fixed("remark", 8).hex()
    return [
        {"name": name, "vault": vault, "household": household, "author": author, "id": tag + rest, "mayWrite": may}
        for name, tag, may in [
            ("its author", remark_tag(vault, author), True),
            ("the household", remark_tag(vault, household), True),
            ("another member", remark_tag(vault, other), False),
            ("its author in another vault", remark_tag(ident("other vault"), author), False),
            ("a random id", fixed("random", 8).hex(), False),
        ]
    ]


if __name__ == "__main__":
    document = {"source": "make_remark_vectors.py, from docs/formats.md", "ids": ids(), "bodies": bodies()}
    (FOLDER / "remarks.json").write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n")
