"""Steps of the tests of Everline's screens: photos painted in the page, moments with them, and thousands of moments."""

import time

from phone import PIN
from waiting import eventually

DAY = 86_400
# A GIF of one pixel and two pictures.
FRAME = b"\x2c\0\0\0\0\1\0\1\0\0\2\2\x44\1\0"
ANIMATION = b"GIF89a\1\0\1\0\x80\0\0\xb0\x40\x5a\0\0\0" + FRAME + FRAME + b"\x3b"

# Paints a landscape that depends on the seed: `paint(seed, width, height)` returns a JPEG as a Blob.
PAINTER = """
const numbersOf = (seed) => {
    let state = (seed * 2654435761) >>> 0 || 1;
    return () => {
        state ^= state << 13; state >>>= 0;
        state ^= state >>> 17;
        state ^= state << 5; state >>>= 0;
        return state / 2 ** 32;
    };
};
const paint = async (seed, width, height, quality = 0.85, marker = null) => {
    const canvas = new OffscreenCanvas(width, height), draw = canvas.getContext("2d"), next = numbersOf(seed + 11);
    for (let warm = 0; warm < 20; warm += 1) next();
    const hue = [18, 205, 32, 340, 220, 45, 190, 275][seed % 8];
    const sky = draw.createLinearGradient(0, 0, 0, height * 0.75);
    sky.addColorStop(0, `hsl(${hue + 190} 55% ${28 + next() * 30}%)`);
    sky.addColorStop(0.6, `hsl(${hue + 20} 75% 72%)`);
    sky.addColorStop(1, `hsl(${hue} 85% 84%)`);
    draw.fillStyle = sky; draw.fillRect(0, 0, width, height);
    const [x, y] = [width * (0.2 + next() * 0.6), height * (0.25 + next() * 0.25)];
    const size = Math.min(width, height) * (0.05 + next() * 0.05);
    const glow = draw.createRadialGradient(x, y, size / 3, x, y, size * 5);
    glow.addColorStop(0, "hsl(48 100% 96% / 95%)");
    glow.addColorStop(0.2, "hsl(45 100% 88% / 60%)");
    glow.addColorStop(1, "hsl(45 100% 88% / 0%)");
    draw.fillStyle = glow; draw.fillRect(0, 0, width, height);
    for (let layer = 0; layer < 5; layer += 1) {
        const base = height * (0.5 + layer * 0.11), wave = [next() * 6, next() * 6, 0.5 + next() * 2, 2 + next() * 4];
        draw.fillStyle = `hsl(${hue + 150 + layer * 9} ${22 + layer * 6}% ${58 - layer * 11}%)`;
        draw.beginPath();
        draw.moveTo(0, height);
        for (let step = 0; step <= width; step += 3) {
            const at = (step / width) * 6;
            const hill = Math.sin(wave[0] + at * wave[2]) + 0.4 * Math.sin(wave[1] + at * wave[3]);
            draw.lineTo(step, base - height * 0.05 * hill);
        }
        draw.lineTo(width, height); draw.fill();
    }
    if (marker) { draw.fillStyle = marker; draw.fillRect(0, 0, width, height); }
    return canvas.convertToBlob({ type: "image/jpeg", quality });
};
"""

TITLES = [
    "First snow",
    "The little harbour",
    "Breakfast in bed",
    "Anna’s birthday",
    "Lost in the old town",
    "A very long walk",
    "The red umbrella",
    "Our kitchen, at last",
    "Midnight swim",
    "Moving day",
    "Under the chestnut tree",
    "The last train",
]
WORDS = [
    "We stayed until the lamps came on, and walked home along the water.",
    "You laughed so much that the waiter brought us another one.",
    "Nobody else was there. Only the wind, and you humming.",
    "I want to remember exactly how the light fell on the table that morning.",
    "Cold feet, hot tea.",
    "",
]

PLACES = [
    ["Zürich", 47.37, 8.54],
    ["Lisbon", 38.72, -9.14],
    ["Kyoto", 35.01, 135.77],
    ["Reykjavík", 64.15, -21.94],
    ["Cape Town", -33.92, 18.42],
    ["New York", 40.71, -74.01],
    ["Buenos Aires", -34.6, -58.38],
    ["Sydney", -33.87, 151.21],
    ["Bern", 46.95, 7.44],
]

# Moments that the page seals itself, one after another, as a person would save them. `arg.moments`: a list of
# [title, words, date, mood, place, sizes, favourite].
KEPT = (
    PAINTER
    + """
    let seed = arg.seed ?? 1;
    const made = [];
    for (const [title, words, date, mood, place, sizes, favourite] of arg.moments) {
        const photos = [];
        for (const [width, height] of sizes) {
            photos.push(await companion.momentPhotos.seal(await paint(seed++, width, height, 0.85, arg.marker)));
        }
        const draft = { title, words, date, mood, place: place ? { name: place } : null, photos, favourite };
        const moment = await companion.moments.save(null, draft);
        made.push(moment.id);
    }
    return made;
"""
)

# Thousands of moments, sealed under this browser's own key and written to its store as if the hub had sent them.
# `arg`: how many moments and photos, and the seconds between two moments.
MANY = (
    PAINTER
    + """
    const { recordKey } = await import("/formats/record-key.js");
    const { photoBody } = await import("/formats/moment-format.js");
    const { randomBytes, randomID, utf8 } = await import("/crypto/bytes.js");
    const { device } = companion;
    let vault;
    while (!(vault = await companion.household.mainVault())) await new Promise((done) => setTimeout(done, 100));
    const next = numbersOf(5);
    const shapes = [[320, 240], [240, 320], [320, 213], [320, 320], [213, 320]];
    const pictures = await Promise.all(Array.from({ length: 40 }, async (_, index) => {
        const [width, height] = shapes[index % shapes.length];
        const thumbnail = new Uint8Array(await (await paint(index, width, height, 0.8)).arrayBuffer());
        return { width: width * 12, height: height * 12, thumbnail };
    }));
    let sequence = 1;
    // Many at a time: sealing has threads of its own.
    const sealing = [];
    const seal = (collection, id, body, blobs = []) => {
        const number = sequence++;
        sealing.push(device.keys.sealBody({ vault, collection, id, revision: 1 }, body, 0, blobs)
            .then(({ replaces, ...record }) => record)
            .then((record) => ({ key: recordKey(collection, id), collection, sequence: number, record, at: 0 })));
    };
    const keep = async () => device.store.write({ records: await Promise.all(sealing.splice(0)) });
    let left = arg.photos;
    const now = Date.now() / 1000;
    for (let index = 0; index < arg.moments; index += 1) {
        const count = Math.min(left, [0, 1, 1, 1, 1, 1, 2, 2, 3, 5][index % 10]);
        left -= count;
        const photos = [];
        for (let at = 0; at < count; at += 1) {
            const { width, height, thumbnail } = pictures[Math.floor(next() * pictures.length)];
            const [id, blob] = [randomID(), randomID()];
            photos.push({ id, width, height, hash: `00000001${randomID()}` });
            const original = { type: "image/jpeg", size: 100_000, key: randomBytes(32), blob };
            seal("photos", id, photoBody({ width, height, original, thumbnail }), [blob]);
        }
        const content = {
            title: index % 7 === 3 ? "" : `${arg.titles[index % arg.titles.length]}, ${index}`,
            words: arg.words[index % arg.words.length],
            date: now - 86_400 - Math.floor(index * arg.apart * (1 + next() * 0.2)), offset: 60,
            mood: ["", "joy", "calm", "love"][index % 4], photos, favourite: index % 9 === 0,
            created: 1_000 + index, modified: 1_000 + index,
            ...(index % 3 ? { place: { name: ["Zürich", "Lisbon", "By the lake"][index % 3] } } : {}),
        };
        seal("moments", randomID(), utf8(JSON.stringify(content)));
        if (sealing.length > 500) await keep();
    }
    await keep();
    return arg.photos - left;
"""
)


# Resolves with the milliseconds from unlocking the moments to the painted timeline.
PAINTED = """() => {
    window.shown = new Promise((done) => {
        let start = 0;
        new MutationObserver((_, self) => {
            // The sheet disappears once the PIN was accepted.
            if (!start && !document.querySelector("dialog")) start = performance.now();
            if (start && document.querySelector(".moment-card")) {
                self.disconnect();
                requestAnimationFrame(() => setTimeout(() => done(Math.round(performance.now() - start))));
            }
        }).observe(document.body, { childList: true, subtree: true });
    });
}"""

# A second companion in the same page, which stays unlocked: unlocking needs the hub, so it unlocks while the hub is
# reachable.
SECOND = """async (pin) => {
    const { Companion } = await import("/session/companion.js");
    window.second = await Companion.open();
    await second.unlockWithPIN(pin);
}"""

# Whether the app's files, its workers among them, can be loaded without the hub; for `@pytest.mark.service_worker`.
KEPT_ON_THE_DEVICE = """async () => {
    const { offline } = await import("/workers/registration.js");
    return navigator.serviceWorker.controller !== null && offline.state === "ready";
}"""

# The object URLs that this page holds, and the largest number of them so far.
WATCH_URLS = """() => {
    window.urls = new Set();
    window.mostUrls = 0;
    const [make, revoke] = [URL.createObjectURL, URL.revokeObjectURL];
    URL.createObjectURL = (blob) => {
        const url = make.call(URL, blob);
        urls.add(url);
        window.mostUrls = Math.max(mostUrls, urls.size);
        return url;
    };
    URL.revokeObjectURL = (url) => { urls.delete(url); revoke.call(URL, url); };
}"""


def opened(phone, address="moments", heading=None):
    """Opens Everline and enters the PIN again."""
    phone.go(address)
    phone.confirm("Open your moments")
    if heading:
        phone.page.get_by_role("heading", name=heading, level=1).wait_for()
    return phone.page


def row(moment):
    """A row as KEPT expects it, from one with an age in days instead of a date."""
    title, words, days, *rest = moment
    return [title, words, time.time() - days * DAY, *rest]


def kept(phone, moments, seed=1, marker=None):
    """Saves moments that have an age in days instead of a date; returns their identifiers."""
    return phone.inside(KEPT, {"seed": seed, "marker": marker, "moments": [row(one) for one in moments]})


def open_second(phone):
    """To be called while the hub is reachable: `inside_second` works without it."""
    eventually(lambda: phone.page.evaluate(KEPT_ON_THE_DEVICE), "the app's files are cached")
    phone.page.evaluate("() => window.second?.close()")
    phone.page.evaluate(SECOND, PIN)


def inside_second(phone, body, arg=None):
    """As `phone.inside`, in the companion of `open_second`, without waiting for the hub."""
    return phone.page.evaluate("async (arg) => { const companion = second; BODY }".replace("BODY", body), arg)


def many(phone, moments, photos):
    """Writes so many moments and photos of ten years to this browser's store."""
    made = phone.inside(
        MANY, {"moments": moments, "photos": photos, "apart": 300_000_000 // moments, "titles": TITLES, "words": WORDS}
    )
    assert made == photos, made


def placed(phone, count):
    """Writes so many moments of three years to this browser's store, without photos, three of four at one of PLACES."""
    phone.inside(
        """
        const { device } = companion;
        const vault = await companion.household.mainVault();
        const { places, count } = arg;
        const { moods } = await import("/formats/moment-format.js");
        const near = (value, turn) => value + Math.sin(turn) * 0.05;
        const rows = Array.from({ length: count }, async (_, before) => {
            const index = before + 1;
            const id = `ee${index.toString(16).padStart(30, "0")}`;
            const [name, latitude, longitude] = places[(index * 5) % places.length];
            const date = 1_713_000_000 - index * 700_001 % 90_000_000;
            const place = { name, latitude: near(latitude, index * 3), longitude: near(longitude, index * 7) };
            const content = {
                title: `Moment ${index}`, words: "", date, offset: 60,
                mood: index % 3 ? moods[(index * 7) % 8] : "", favourite: index % 9 === 0,
                ...(index % 4 ? { place } : {}),
                photos: [], created: date, modified: date,
            };
            const title = { vault, collection: "moments", id, revision: 1 };
            const { replaces, ...record } = await device.keys.sealContent(title, content, 0);
            return { key: `moments/${id}`, collection: "moments", sequence: 1000 + index, record, at: Date.now() };
        });
        const records = await Promise.all(rows);
        await device.store.write({ records });
        device.changed(records.map(({ key }) => key));""",
        {"places": PLACES, "count": count},
    )


def timeline(phone):
    """Opens the timeline and scrolls to its top; the app restores the last scroll position."""
    phone.go("home", "Home")
    phone.go("moments", "Everline")
    phone.page.locator(".moment-card").first.wait_for()
    phone.page.evaluate("scrollTo(0, 0)")
    phone.page.locator("[aria-posinset='1']").wait_for()
    return phone.page


def named(page, text):
    """The card of a moment that contains this text."""
    return page.locator(".moment-card", has_text=text)


# Zooms and moves the map for a second. Returns the most marks at once and the longest task of 50 ms or more.
MOVE_MAP = """async () => {
    const surface = document.querySelector(".map-surface");
    const { left, top, width, height } = surface.getBoundingClientRect();
    let [most, longest] = [0, 0];
    const tasks = new PerformanceObserver((list) => {
        longest = Math.max(longest, ...list.getEntries().map(({ duration }) => duration));
    });
    tasks.observe({ type: "longtask" });
    const frame = () => new Promise((done) => requestAnimationFrame(done));
    const cancelable = { cancelable: true };
    const key = (name) =>
        surface.dispatchEvent(new KeyboardEvent("keydown", { key: name, bubbles: true, ...cancelable }));
    const place = { clientX: left + width * 0.42, clientY: top + height / 2 };
    for (let round = 0; round < 60; round += 1) {
        const deltaY = round < 16 ? -120 : round >= 44 ? 120 : 0;
        if (deltaY) surface.dispatchEvent(new WheelEvent("wheel", { deltaY, ...place, ...cancelable }));
        else key(["ArrowLeft", "ArrowUp", "ArrowRight", "ArrowDown"][round % 4]);
        await frame();
        most = Math.max(most, document.querySelectorAll(".map-mark").length);
    }
    tasks.disconnect();
    return [most, longest];
}"""


def settled(page):
    """Waits until the frame after the last event is drawn."""
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


def fits(page):
    """The cards that don't have the height of their layout: their content is clipped or overlaps."""
    return page.evaluate("""() => [...document.querySelectorAll(".moment-flow > article")].map((card) => {
        const text = card.querySelector(".moment-text");
        const left = card.getBoundingClientRect().height - (text.offsetTop + text.scrollHeight);
        return [card.getAttribute("aria-posinset"), Math.round(left)];
    }).filter(([, left]) => left < -1 || left > 30)""")
