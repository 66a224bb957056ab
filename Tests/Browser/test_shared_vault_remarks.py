"""Comments and reactions of the members of a shared vault: at the same time, offline, and by a member that cheats."""

import json

from phone import PIN
from vault_steps import joins, share
from waiting import eventually_equals

# What a member sees on Anna's moment: comments as "author: text", reactions as "kind: authors", and the counts.
SHOWN = """async () => {
    const { companion } = await window.v.ours();
    const remarks = await companion.moments.remarks();
    const [index, nameOf] = [await remarks.index(), await remarks.authorNames()];
    const { moments: [moment] } = await companion.moments.list({ search: "MARKER-by-anna" });
    // It may not have arrived yet.
    if (!moment) return null;
    const { comments, reactions } = index.shown(moment);
    return [
        comments.map(({ author, text }) => `${nameOf(author)}: ${text.slice(0, 40)}`),
        [...reactions].map(([kind, by]) => `${kind}: ${[...by.keys()].map(nameOf).sort().join()}`).sort(),
        index.counts(moment),
    ];
}"""
# Runs `BODY` with the moment of Anna and the remarks of this member.
ON_MOMENT = """async (arg) => {
    const { companion } = await window.v.ours();
    const { device } = companion;
    const { moments: [moment] } = await companion.moments.list({ search: "MARKER-by-anna" });
    const remarks = await companion.moments.remarks();
    const of = async (text) => (await remarks.index()).all(moment).find((one) => one.text === text);
    BODY
}"""
# Signs a record of remarks as this member, under any id and with any content, and sends it past all checks.
FORGE = """
    const { keys } = device;
    const name = { vault: moment.vault, collection: "remarks", id: arg.id, revision: arg.revision };
    const bytes = typeof arg.body === "string" ? arg.body : JSON.stringify({ ...arg.body, moment: moment.id });
    const record = bytes === "null" ? await keys.tombstone(name, arg.revision - 1)
        : await keys.sealBody(name, new TextEncoder().encode(bytes), arg.revision - 1);
    const [outcome] = await device.hub.write([record]);
    return outcome.sequence === undefined ? JSON.stringify(outcome) : "stored";
"""


def on_moment(person, body, arg=None):
    return person.do(ON_MOMENT.replace("BODY", body), arg)


def comment(person, text):
    on_moment(person, "await remarks.comment(moment, arg);", text)


def react(person, kind, is_on=True):
    on_moment(person, "await remarks.react(moment, arg[0], arg[1]);", [kind, is_on])


def sees(person, comments, reactions):
    count = sum(one.count(",") + 1 for one in reactions)
    wanted = [comments, reactions, {"comments": len(comments), "reactions": count}]
    eventually_equals(lambda: person.do(SHOWN), wanted, "remarks")


def test_two_members_comment_and_react_offline_and_both_see_everything(anna, ben):
    share(anna, ben)
    for one in (anna, ben):
        # Loads the modules.
        sees(one, [], [])
        one.context.set_offline(True)
    comment(anna, "first of anna")
    comment(ben, "first of ben")
    comment(anna, "second of anna")
    for one in (anna, ben):
        react(one, "heart")
        # A second tap elsewhere, and one that is taken back.
        react(one, "heart")
        react(one, "wow")
        react(one, "wow", False)
    react(ben, "laugh")
    sees(anna, ["Anna's phone: first of anna", "Anna's phone: second of anna"], ["heart: Anna's phone"])
    for one in (anna, ben):
        one.context.set_offline(False)
        one.do("async () => { (await window.v.ours()).companion.wake(); }")
    everything = ["Anna's phone: first of anna", "Ben's phone: first of ben", "Anna's phone: second of anna"]
    for one in (anna, ben):
        sees(one, everything, ["heart: Anna's phone,Ben's phone", "laugh: Ben's phone"])
        one.sent()
    # Everybody removes only what is one's own.
    on_moment(ben, "await remarks.remove(await of('first of ben'));")
    react(ben, "heart", False)
    for one in (anna, ben):
        sees(one, [everything[0], everything[2]], ["heart: Anna's phone", "laugh: Ben's phone"])


def test_a_member_can_neither_write_nor_remove_remarks_of_another(anna, ben, cleo):
    share(anna, ben)
    comment(anna, "MARKER-own words")
    react(anna, "heart")
    own = ["Anna's phone: MARKER-own words"]
    sees(ben, own, ["heart: Anna's phone"])
    anna.sent()
    [victim, tag] = on_moment(
        anna,
        """const { id } = await of("MARKER-own words");
        const { remarkTag } = await import("/formats/remark-author.js");
        return [id, await remarkTag(moment.vault, device.keys.device)];""",
    )
    household = on_moment(
        ben,
        """const { remarkTag } = await import("/formats/remark-author.js");
        return remarkTag(moment.vault, device.keys.household);""",
    )
    own_tag = on_moment(
        ben,
        """const { remarkTag } = await import("/formats/remark-author.js");
        return remarkTag(moment.vault, device.keys.device);""",
    )
    text = {"kind": "comment", "text": "forged", "at": 1_800_000_000}

    def forge(id_, body, revision=1):
        outcome = on_moment(ben, FORGE, {"id": id_, "body": body, "revision": revision})
        assert outcome == "stored", f"the hub refuses it, so it proves nothing: {outcome}"

    # In another's name, in everybody's name, instead of another's, and the removal of another's.
    forge(tag + "01" * 8, text)
    forge(household + "02" * 8, text)
    forge(victim, text, 2)
    # Of invalid content, in his own name.
    malformed = [
        "null and more",
        json.dumps([1]),
        {**text, "text": "x" * 2001},
        {**text, "text": " \u200b"},
        {**text, "text": 5},
        {**text, "at": 1e300},
        {**text, "from": "y" * 65},
        {"kind": "applause", "at": 1},
        {**text, "text": "z" * 3_000_000},
    ]
    for index, body in enumerate(malformed):
        forge(f"{own_tag}{index:016x}", body)
    comment(ben, "after the attack")
    wanted = [*own, "Ben's phone: after the attack"]
    sees(anna, wanted, ["heart: Anna's phone"])
    # Anna's phone sent its comment again: a later member has it too.
    anna.sent()
    eventually_equals(
        lambda: anna.do("""async () => {
        const { device } = (await window.v.ours()).companion;
        return (await device.store.lost()).length;
    }"""),
        0,
        "records to be sent again",
    )
    assert "id" in joins(anna, cleo)[1]
    sees(cleo, wanted, ["heart: Anna's phone"])
    # Removed by Ben: Anna keeps it, and its phone restores it.
    revision = on_moment(cleo, "return (await of('MARKER-own words')).revision;")
    forge(victim, "null", revision + 1)
    cleo.until(
        f"""async () => {{
        const {{ device }} = (await window.v.ours()).companion;
        return (await device.store.record("remarks/{victim}")).record.revision === {revision + 2};
    }}""",
        "the comment is back",
    )
    for one in (anna, cleo):
        sees(one, wanted, ["heart: Anna's phone"])


def test_names_of_authors_are_what_their_devices_report(anna, ben, cleo):
    share(anna, ben)
    assert "id" in joins(anna, cleo)[1]
    comment(anna, "by anna")
    sees(cleo, ["Anna's phone: by anna"], [])
    # Ben calls Anna's phone by another name, and himself as hers.
    ben.do("""async () => {
        const { companion } = await window.v.ours();
        const { device, editor } = companion;
        const { nameRecord } = await import("/household/device-names.js");
        const other = (await companion.household.members()).find(({ isThis }) => !isThis);
        for (const [id, name] of [[other.id, "Mallory"], [device.keys.device, "Anna's phone"]]) {
            const record = await nameRecord(device, id, { name }, () => false);
            await editor.commit({ waiting: [record] });
        }
    }""")
    comment(ben, "by ben")
    ben.sent()
    cleo.until(
        "async () => (await window.v.ours()).companion.household.members().then((all) => "
        "all.every(({ name }) => !name.startsWith('Ben')))",
        "Ben's other name arrives",
    )
    # The comment is a record of its own, after the names.
    eventually_equals(lambda: len(cleo.do(SHOWN)[0]), 2, "comments")
    authors = [one.split(": ")[0] for one in cleo.do(SHOWN)[0]]
    assert len(set(authors)) == 2 and "Mallory" not in authors, authors


def test_remarks_of_a_former_member_stay_and_its_name_says_so(anna, ben):
    share(anna, ben)
    comment(ben, "by ben")
    react(ben, "sad")
    sees(anna, ["Ben's phone: by ben"], ["sad: Ben's phone"])
    ben.sent()
    anna.do(
        "async (id) => (await window.v.ours()).membership.remove(id)",
        ben.do("async () => (await window.v.ours()).companion.device.keys.device"),
    )
    comment(anna, "by anna")
    anna.sent()
    former = "Ben's phone, no longer a member"
    eventually_equals(
        lambda: anna.do(SHOWN)[:2], [[f"{former}: by ben", "Anna's phone: by anna"], [f"sad: {former}"]], "remarks"
    )


def test_an_erased_moment_takes_the_remarks_of_all_members_with_it(anna, ben):
    share(anna, ben)
    for one, text in ((anna, "by anna"), (ben, "by ben")):
        comment(one, text)
        one.sent()
    sees(anna, ["Anna's phone: by anna", "Ben's phone: by ben"], [])
    on_moment(anna, "await companion.moments.erase(moment);")
    anna.sent()
    left = """async () => (await (await window.v.ours()).companion.device.store.records("remarks"))
        .filter(({ record }) => record.sealed).length"""
    # Ben's device removes his after the next unlocking.
    ben.until("async () => (await (await window.v.ours()).companion.moments.list()).moments.length === 1", "erased")
    ben.do(
        """async (pin) => {
        const { companion } = window.v;
        companion.lock();
        await companion.unlockWithPIN(pin);
        await (await window.v.ours()).companion.moments.list();
    }""",
        PIN,
    )
    for one in (ben, anna):
        eventually_equals(lambda one=one: one.do(left), 0, "remarks")
