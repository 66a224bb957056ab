"""Content of every kind, and every screen of the companion with it: names of both directions, long words, photos."""

from collections.abc import Callable
from dataclasses import dataclass

from playwright.sync_api import Page

from moment_steps import PAINTER
from note_steps import take_photos
from overview_steps import SEAL_SHARED

# Writes records to this browser's store as if the hub had sent them. Times are relative to the page's clock.
CONTENT = (
    PAINTER
    + SEAL_SHARED
    + """
    const { randomID } = await import("/crypto/bytes.js");
    const { device } = companion;
    const { store, keys } = device;
    const [first] = await companion.household.computers();
    const vault = await companion.household.mainVault();
    const now = Date.now(), minute = 60_000, day = 86_400;
    const midnight = new Date(now).setHours(0, 0, 0, 0);
    let sequence = 100_000;
    const rows = [];
    const put = (collection, id, record) => rows.push(
        { key: `${collection}/${id}`, collection, sequence: sequence++, record, at: now });
    const shared = async (collection, id, body) =>
        put(collection, id, await sealShared(collection, id, body));
    const note = async (title, body, created, id = randomID()) => {
        const name = { vault, collection: "notes", id, revision: 1 };
        const { replaces, ...record } = await keys.sealContent(name, { title, body, created, modified: created }, 0);
        put("notes", id, record);
        return id;
    };
    // Shortly after midnight too the first three are of today, and the fourth is of yesterday.
    const event = (kind, appName, minutes, sentence, more = {}) => shared("events", randomID(), {
        kind, computer: first.id, computerName: first.name, app: appName, appName, sentence,
        time: Math.max(now - minutes * minute, midnight + 1_000 - minutes), ...more,
    });

    await shared("apps", first.id, { clock: now, categories: [{ name: "Games" }, { name: "Finanzbuchhaltung" }],
        apps: [
            ["diary", "diary", "locked", "block mon-fri 09:00-17:00, sat 10:00-12:30"],
            ["firefox", "Firefox Web Browser", "unlocked"], ["arabic", "مدير كلمات المرور", "locked"],
            ["impress", "LibreOffice Impress Presentation Editor", "outside_schedule"],
            ["bank", "Kontoverwaltungsprogramm", "monitoring_off"],
        ].map(([id, name, state, schedule]) => ({
            id, name, state, schedule, opensUntil: now + 14 * minute, categories: ["Games", "Finanzbuchhaltung"],
        })),
        others: [["mail", "Thunderbird"], ["files", "Files"]].map(([id, name]) => ({ id, name })) });
    await event("blocked", "Kontoverwaltungsprogramm", 3, "Kontoverwaltungsprogramm was denied.", { reason: "denied" });
    await event("unlocked", "Firefox Web Browser", 12, "Firefox Web Browser was unlocked for 15 minutes.");
    await event("failed", "مدير كلمات المرور", 70, "A wrong passcode was entered for مدير كلمات المرور.");
    await event("degraded", "diary", 1500, "Protection is degraded: launches are stopped after they start.");
    await shared("requests", arg.launch, {
        computer: first.id, computerName: "Anna’s study computer", prompt: "0".repeat(32), app: "impress",
        appName: "LibreOffice Impress Presentation Editor", path: "/usr/lib/libreoffice/program/soffice.bin",
        parentName: "gnome-shell", userName: "anna", clock: now, expires: now + 24 * 3600_000, defaultGrantSeconds: 300,
    });

    const seconds = arg.contentAt ?? now / 1000;
    const ids = { computer: first.id };
    ids.note = await note("Under the stair", "The blue envelope is under the third stair.\\n\\nThe key is with Marta. "
        + "Donaudampfschifffahrtsgesellschaft, Rindfleischetikettierung.", seconds - day);
    await note("قائمة التسوق", "خبز وحليب وزيت زيتون", seconds - 2 * day);
    ids.twice = await note("Packing list", "Tent, stove, map", seconds - 3 * day);
    await note("Packing list (conflict, Desk)", "Tent, stove, compass", seconds - 3 * day);
    await note("A rather long title of a note that does not fit on one line", "And little text.", seconds - 40 * day);
    await store.write({ records: rows });
    device.changed(rows.map(({ key }) => key));

    const moment = async (title, words, days, mood, place, sizes, favourite = false) => {
        const photos = [];
        for (const [width, height] of arg.hasMomentPhotos ? sizes : []) {
            photos.push(await companion.momentPhotos.seal(await paint(sequence++, width, height)));
        }
        const at = (seconds - days * day);
        const draft = { title, words, date: at, offset: 60, mood, place, photos, favourite };
        return companion.moments.save(null, draft);
    };
    const zurich = { name: "Zürich", latitude: 47.37, longitude: 8.54 };
    const lisbon = { name: "Lisbon", latitude: 38.72, longitude: -9.14 };
    ids.moment = (await moment("The little harbour", "We stayed until the lamps came on.", 4, "love", zurich,
        [[640, 480], [480, 640], [640, 360]], true)).id;
    const quiet = await moment("ليلة هادئة", "لم يكن هناك أحد غيرنا.", 33, "calm", lisbon, []);
    ids.words = quiet.id;
    const remarks = await companion.moments.remarks();
    await remarks.comment(quiet, "Donaudampfschifffahrtsgesellschaft!\\n\\nأتذكر البرد. We should go there again.");
    await remarks.react(quiet, "heart", true);
    await moment("Breakfast in bed", "Cold feet, hot tea.", 365, "joy", null, [[480, 480]]);
    await moment("", "Nobody else was there. Only the wind, and you humming.", 400, "", lisbon, []);
    const gone = await moment("Moving day", "", 420, "", null, [[480, 320]]);
    await companion.moments.remove(gone);
    return ids;
"""
)
LAUNCH = "1a" * 16


@dataclass
class Screen:
    """`address` after `#/`; `steps` lead from there to the part to look at."""

    name: str
    address: str
    steps: Callable[[Page], None] | None = None


def filled(phone, content_at=None, has_intruder_photos=True, has_moment_photos=True):
    """Fills the household; returns the identifiers that addresses name. `content_at`: the time of notes and moments,
    in seconds since 1970, if not now. Photos take most of the time: a test may leave out those that it doesn't show."""
    if has_intruder_photos:
        take_photos(phone, 2)
    arg = {"launch": LAUNCH, "contentAt": content_at, "hasMomentPhotos": has_moment_photos}
    return phone.inside(CONTENT, arg)


def opened(phone, screen):
    """Shows a screen, newly drawn."""
    page = phone.page
    page.evaluate("() => document.querySelectorAll('dialog').forEach((dialog) => dialog.close())")
    page.evaluate(
        """(address) => {
        document.getElementById("toasts").replaceChildren();
        document.querySelector(".screen-title").dataset.old = "";
        window.drawn = (window.drawn ?? 0) + 1;
        location.hash = `#/${address}?${window.drawn}`;
    }""",
        screen.address,
    )
    page.locator(".screen-title:not([data-old])").wait_for()
    if screen.steps:
        screen.steps(page)


def press(name):
    return lambda page: page.locator(".screen").get_by_role("button", name=name).first.click()


def sheet(name):
    def steps(page):
        press(name)(page)
        page.locator("dialog").wait_for()

    return steps


def shown(selector):
    return lambda page: page.locator(selector).first.wait_for()


def photo(page):
    page.locator(".photos-open, .moment-slide-open").first.click()
    page.locator("dialog img[src]").first.wait_for()


def answerable(page):
    page.locator(".launch").get_by_role("button", name="Approve", disabled=False).wait_for()


def toast(page):
    answerable(page)
    page.evaluate("""async () => (await import("/ui/toast.js")).toast(
        "“Under the stair” was moved to the trash.", { undo: () => {}, milliseconds: 1e9 })""")


def household_screens(ids):
    app = f"apps/{ids['computer']}/diary"
    return [
        Screen("home", "home", toast),
        Screen("home, duration", "home", sheet("Choose the duration")),
        Screen("home, PIN", "home", sheet("Take a photo")),
        Screen("launch", f"launch/{LAUNCH}", answerable),
        Screen("alerts", "alerts", shown(".alert")),
        Screen("alert", "alerts", lambda page: page.locator(".alert-main").first.click()),
        Screen("apps", "apps", shown(".apps-row")),
        Screen("apps, another", "apps", sheet("Lock another app")),
        Screen("app", app),
        Screen("schedule", f"{app}/schedule"),
        Screen("intruder photos", "photos", shown("[data-shown]")),
        Screen("intruder photo", "photos", photo),
    ]


def vault_screens(ids):
    moment = f"moments/{ids['moment']}"
    return [
        Screen("notes", "notes", shown(".notes-row")),
        Screen("note", f"notes/{ids['note']}"),
        Screen("new note", "notes/new"),
        Screen("two versions of a note", f"notes/{ids['twice']}", press("See both")),
        Screen("timeline", "moments", shown("[data-shown] > .moment-image")),
        Screen("timeline, filters", "moments", press("Filters")),
        Screen("timeline, menu", "moments", sheet("More of Everline")),
        Screen("moment", moment, shown(".moment-slide-large[data-shown]")),
        Screen("moment without photos", f"moments/{ids['words']}", shown(".remark")),
        Screen("photo of a moment", moment, photo),
        Screen("editor", f"{moment}/edit"),
        Screen("new moment", "moments/new"),
        Screen("map", "moments/map", shown(".map-mark")),
        Screen("statistics", "moments/statistics"),
        Screen("trash", "moments/trash", shown(".moment-trash-row")),
    ]


def settings_screens(pages):
    return [Screen("settings", "settings"), *(Screen(f"settings, {name}", f"settings/{name}") for name in pages)]


def addresses(phone):
    """The addresses of all routes, and those of all pages of the settings."""
    return phone.page.evaluate("""async () => {
        const { routes, untabbedRoutes } = await import("/shell/routes.js");
        const { groups, subpages } = await import("/shell/settings-pages.js");
        return [
            [...routes.map(({ address }) => address), ...Object.keys(untabbedRoutes)],
            [...groups.flatMap(({ pages }) => pages.map(({ name }) => name)), ...Object.keys(subpages)],
        ];
    }""")


# Two vaults besides the own one, of which one is only on this device.
VAULTS_OF_PHONES = """
    await companion.vaults.create("Donaudampfschifffahrtsgesellschaft");
    await companion.vaults.create("Rindfleischetikettierung", { isLocal: true });"""
# Until its record arrives it counts as a device.
HAS_SPARE = """
    const [{ membership }] = await companion.vaults.list();
    return (await membership.members()).some(({ spareOf }) => spareOf !== null);"""
# These show codes, which are others each time.
CHANGING_OF_PHONES = ["recovery sheet", "adding a phone", "connecting a computer"]


def screens_of_phones():
    """Of a household that a phone founded, with `VAULTS_OF_PHONES` and without a computer. The first one is the
    sheet."""

    def invitation(name):
        def steps(page):
            press(name)(page)
            page.locator("dialog .keypad").wait_for()
            page.keyboard.type("739184")
            page.keyboard.press("Enter")
            page.locator("dialog .qr-code").wait_for()

        return steps

    def vault(name):
        def steps(page):
            page.get_by_role("link", name=name).click()
            page.locator(".sharing-name", has_text=name).wait_for()

        return steps

    def explanation(page):
        vault("Donaudampf")(page)
        page.get_by_role("button", name="Set a PIN for this vault").click()
        page.get_by_role("heading", name="A PIN for this vault").wait_for()

    return [
        Screen("recovery sheet", "settings/recovery/new", shown(".recovery-paper")),
        Screen("recovery", "settings/recovery"),
        Screen("home of phones", "home", shown(".home-everline")),
        Screen("settings of phones", "settings"),
        Screen("devices of phones", "settings/devices", shown("button.row")),
        Screen("device of phones", "settings/devices", lambda page: page.locator("button.row").first.click()),
        Screen("adding a phone", "settings/devices", invitation("Add a phone")),
        Screen("connecting a computer", "settings/devices", invitation("Connect a computer")),
        Screen("leaving phones", "settings/remove"),
        Screen("vaults of phones", "settings/vaults", shown("a.row")),
        Screen("shared vault of phones", "settings/vaults", vault("Donaudampf")),
        Screen("explanation of a vault's PIN", "settings/vaults", explanation),
        Screen("vault only on this device", "settings/vaults", vault("Rindfleisch")),
        Screen("backup of a chosen vault", "settings/everline/copy", shown(".sharing-chip")),
    ]


# A page before unlocking, by its module and function, with this browser's own companion.
COVER = """async ([module, name]) => {
    const { Companion } = await import("/session/companion.js");
    const shown = (await import(module))[name];
    const page = ["calculatorPage", "notePadPage"].includes(name)
        ? shown({ offer() {}, other() {}, signal: new AbortController().signal })
        : shown(await Companion.open(), null, new AbortController().signal);
    document.getElementById("app").replaceChildren(page);
}"""


def opens_welcome(stranger):
    stranger.page.goto(stranger.address)
    stranger.page.get_by_role("heading", name="Welcome to AppLocker").wait_for()
    stranger.page.get_by_text("It needs a start link").wait_for()


def opens_pairing(stranger):
    stranger.page.goto(stranger.computer.pair())
    stranger.page.get_by_role("button", name="Pair this device").wait_for()


def entry_pages(stranger):
    """The pages before unlocking, one after another, of a browser that is not paired; yields their names."""
    page = stranger.page
    opens_welcome(stranger)
    yield "welcome"
    page.get_by_role("button", name="Type a code").click()
    page.get_by_role("textbox", name="Code").wait_for()
    yield "typing a code"
    page.get_by_role("button", name="Cancel").click()
    for way, heading in [
        ("Start Everline", "Start Everline"),
        ("Join my partner", "Join your partner"),
        ("Connect to my computer", "Connect to your computer"),
        ("Use a recovery sheet", "Use your recovery sheet"),
    ]:
        page.get_by_role("button", name=way).click()
        page.get_by_role("heading", name=heading).wait_for()
        yield heading
        page.get_by_role("button", name="Back").click()
    for kind, heading in [("vault", "Join your partner"), ("recover", "Use your recovery sheet")]:
        page.goto(f"{stranger.address}/#{kind}=AAAA")
        page.get_by_role("heading", name=heading).wait_for()
        page.get_by_label("Name of this device").wait_for()
        yield f"{heading}, with a link"
    opens_pairing(stranger)
    yield "pairing"
    page.get_by_role("button", name="Pair this device").click()
    page.get_by_role("heading", name="Choose a PIN").wait_for()
    yield "first PIN"
    for module, name in [
        ("/features/pairing/ended-page.js", "dataLost"),
        ("/features/pairing/ended-page.js", "revoked"),
        ("/features/disguise/calculator-page.js", "calculatorPage"),
        ("/features/disguise/note-pad-page.js", "notePadPage"),
    ]:
        page.evaluate(COVER, [module, name])
        yield name
