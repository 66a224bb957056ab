"""What the tests of notes and intruder photos have in common."""


def opened(phone):
    """The list of notes, after the gate was asked once more."""
    phone.go("notes")
    phone.confirm("Open your notes")
    return phone.page


def made(phone, **notes):
    """Notes by their titles, sent to the hub."""
    phone.inside("for (const [title, body] of Object.entries(given)) await companion.notes.save(null, { title, body });", notes)


def taken(phone, count):
    """Photos of the computer's camera, which films nobody."""
    phone.inside("""
        const [computer] = await companion.household.computers();
        for (let index = 0; index < given; index += 1) {
            const reply = await companion.commands.send(computer.id, { takePhoto: {} });
            if (reply.state !== "done") throw new Error(reply.sentence);
        }""", count)
