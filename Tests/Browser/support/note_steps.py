"""Steps of the tests of notes and intruder photos."""

from waiting import eventually_equals

# A note is saved so many milliseconds after the last key.
AUTOSAVE = 1_000

# Writes so many notes to the store as if the hub had sent them.
MANY = """
    const { device } = companion;
    const vault = await companion.household.mainVault();
    const words = "lorem ipsum dolor sit amet consectetur adipiscing elit sed do eiusmod tempor".split(" ");
    const rows = [];
    for (let index = 1; index <= arg; index += 1) {
        const id = index.toString(16).padStart(32, "0");
        const body = Array.from({ length: 40 }, (_, place) => words[(index * 7 + place * 5) % words.length]).join(" ");
        const name = { vault, collection: "notes", id, revision: 1 };
        const time = 1_600_000_000 + index * 1000;
        const { replaces, ...record } = await device.keys.sealContent(
            name, { title: `Note number ${index}`, body, created: time, modified: time }, 0);
        rows.push({ key: `notes/${id}`, collection: "notes", sequence: index, record, at: Date.now() });
    }
    await device.store.write({ records: rows });
"""
# Scrolls by about a screen in each frame.
SCROLL = """async () => {
    for (let frame = 0; frame < 240; frame += 1) {
        window.scrollBy(0, 400);
        await new Promise((done) => requestAnimationFrame(done));
    }
}"""
# In so many notes, for each search: how many rows it draws, what it reports, and how many milliseconds it takes.
SEARCH = """async (count) => {
    const field = document.querySelector(".search input");
    const found = [];
    for (const words of ["n", "note 49", `note ${count - 1}`, "ipsum amet", ""]) {
        const start = performance.now();
        field.value = words;
        field.dispatchEvent(new Event("input"));
        await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
        const status = document.querySelector(".notes-column > [role=status]").textContent;
        const milliseconds = Math.round(performance.now() - start);
        found.push([words, document.querySelectorAll(".notes-row").length, status, milliseconds]);
    }
    return found;
}"""


def opened(phone):
    """Opens the list of notes and enters the PIN again."""
    phone.go("notes")
    phone.confirm("Open your notes")
    return phone.page


def save_notes(phone, **notes):
    """Saves notes by their titles, and sends them to the hub."""
    phone.inside(
        "for (const [title, body] of Object.entries(arg)) await companion.notes.save(null, { title, body });", notes
    )


def reaches_computer(computer, title, body):
    eventually_equals(lambda: (computer.note(title) or {}).get("body"), body, f"{title} is at the computer")


def take_photos(phone, count):
    """Takes photos with the computer's camera, which is a test pattern."""
    phone.inside(
        """
        const [computer] = await companion.household.computers();
        for (let index = 0; index < arg; index += 1) {
            const reply = await companion.commands.send(computer.id, { takePhoto: {} });
            if (reply.state !== "done") throw new Error(reply.sentence);
        }""",
        count,
    )
