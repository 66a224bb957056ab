"""Accepted pictures of screens, in Tests/Browser/pictures. Another Chromium than the one that drew them may differ in
more pixels; the font is the same for every computer (fonts.conf)."""

import base64
import json
import os
import pathlib
import re
import socket

from waiting import eventually

FOLDER = pathlib.Path(__file__).parents[1] / "pictures"
MADE_WITH = FOLDER / "made-with.json"
# At most so many of 10,000 pixels may differ by more than DISTANCE of 255 in one of their colours.
MOST, MOST_OF_ANOTHER_CHROMIUM, DISTANCE = 10, 100, 32

# Whether each photo in sight is shown; a moving one and a sharper one are layers of another.
SHOWN = """() => !document.querySelector(".editor-tile:not(.editor-tile-drawn)")
    && [...document.querySelectorAll("img:not(.moment-sharp, .moment-view-moving)")].every((image) => {
        const { top, bottom, left, right, width } = image.getBoundingClientRect();
        const isInSight = width > 0 && bottom > 0 && top < innerHeight && right > 0 && left < innerWidth;
        return !isInSight || (image.hasAttribute("src") && image.complete);
    })"""
# Shows a copy, which nothing draws again, without what depends on the hour, on this computer and on its journal.
STILL = """async (computer) => {
    window.live = document.getElementById("app");
    const copy = live.cloneNode(true);
    const fields = copy.querySelectorAll("input, textarea");
    for (const [index, field] of live.querySelectorAll("input, textarea").entries()) fields[index].value = field.value;
    const year = String(new Date().getFullYear());
    for (const date of copy.querySelectorAll("input[type=date]")) {
        if (!date.value.startsWith(year)) continue;
        date.value = "2025-03-14";
        for (const time of copy.querySelectorAll("input[type=time]")) time.value = "10:09";
    }
    const canvases = copy.querySelectorAll("canvas");
    for (const [index, canvas] of live.querySelectorAll("canvas").entries()) {
        canvases[index].getContext("2d").drawImage(canvas, 0, 0);
    }
    live.replaceWith(copy);
    scrollTo(0, 0);
    await Promise.all([...copy.querySelectorAll("img[src]")].map((image) => image.decode().catch(() => {})));
    const others = ".connection, .home-banner, .moment-remembered, .moment-sharp";
    for (const other of copy.querySelectorAll(others)) other.remove();
    for (const one of copy.querySelectorAll(".alert")) {
        if (!/Kontoverwaltung|Firefox|مدير|degraded/.test(one.textContent)) one.remove();
    }
    copy.querySelector(".launch-ring-left")?.style.setProperty("stroke-dashoffset", "0.4");
    const words = [[new RegExp(`\\\\b${computer}\\\\b`, "g"), "study"],
        [/\\d{1,2}:\\d{2}(:\\d{2})? left/, "0:42 left"], [/\\d+ min left/, "14 min left"],
        [/\\d{1,2}:\\d{2}\\s[AP]M/g, "10:09 AM"], [/(just now|yesterday|\\d+ \\w+ ago)/g, "3 minutes ago"],
        [/(Yesterday|Today)/g, "Today"], [/\\d+ things? could be/, "3 things could be"],
        [new RegExp(`[A-Z][a-z]+ \\\\d{1,2}, ${year}`, "g"), "March 14, 2025"],
        [/^[0-9a-f]{8}$/, "0123abcd"], [/127\\.0\\.0\\.1:\\d+/, "hub.example"],
    ];
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
        for (const [before, after] of words) texts.currentNode.data = texts.currentNode.data.replace(before, after);
    }
}"""
# Parts with `content-visibility: auto`, such as the alerts of a day, are rendered a frame after they are inserted.
RENDERED = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done))))"
# Returns how many of 10,000 pixels differ.
COMPARE = """async ([one, other, distance]) => {
    const [first, second] = await Promise.all([one, other].map(async (data) => {
        const bitmap = await createImageBitmap(await (await fetch(`data:image/png;base64,${data}`)).blob());
        const canvas = new OffscreenCanvas(bitmap.width, bitmap.height);
        const draw = canvas.getContext("2d", { willReadFrequently: true });
        draw.drawImage(bitmap, 0, 0);
        return draw.getImageData(0, 0, bitmap.width, bitmap.height);
    }));
    if (first.width !== second.width || first.height !== second.height) return 10_000;
    let differing = 0;
    for (let index = 0; index < first.data.length; index += 4) {
        const away = [0, 1, 2].some((at) => Math.abs(first.data[index + at] - second.data[index + at]) > distance);
        differing += Number(away);
    }
    return Math.ceil((differing * 40_000) / first.data.length);
}"""


class Pictures:
    def __init__(self, browser, failures):
        self.failures = failures
        self.is_updating = os.environ.get("APPLOCKER_ACCEPT_PICTURES") == "1"
        self.differing = []
        now = {"chromium": browser.version}
        if self.is_updating:
            MADE_WITH.write_text(json.dumps(now, indent=2) + "\n")
        is_same = json.loads(MADE_WITH.read_text()) == now
        self.most = MOST if is_same else MOST_OF_ANOTHER_CHROMIUM
        self.page = browser.new_page()

    def look(self, page, name):
        eventually(lambda: page.evaluate(SHOWN), "every photo is shown")
        page.evaluate(STILL, socket.gethostname())
        page.evaluate(RENDERED)
        page.evaluate("() => Promise.all(document.getAnimations().map((one) => one.finished.catch(() => {})))")
        # What moved is a layer of its own until the next frame, and drawn at whole pixels.
        page.evaluate(RENDERED)
        taken = page.screenshot(animations="disabled", caret="hide", scale="css")
        page.evaluate("() => document.getElementById('app').replaceWith(live)")
        file = FOLDER / f"{re.sub('[^a-z0-9]+', '-', name.lower())}.png"
        if self.is_updating:
            file.write_bytes(taken)
            return
        accepted = file.read_bytes()
        if taken == accepted:
            return
        both = [base64.b64encode(data).decode() for data in (accepted, taken)]
        share = self.page.evaluate(COMPARE, [*both, DISTANCE])
        if share > self.most:
            self.failures.mkdir(parents=True, exist_ok=True)
            (self.failures / file.name).write_bytes(taken)
            self.differing.append(f"{name}: {share / 100} % of it")

    def end(self):
        self.page.close()
        assert not self.differing, (
            f"{len(self.differing)} screens differ from the accepted pictures: compare {self.failures} with {FOLDER}. "
            "If they are right, accept them: APPLOCKER_ACCEPT_PICTURES=1 .build/python/bin/pytest Tests/Browser -k "
            f"accepted_picture\n{chr(10).join(self.differing)}"
        )
