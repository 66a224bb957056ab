"""Two people, each with a household of their own at one hub, share a vault: what both write, locking, leaving, and
invalid invitations."""

import contextlib
import sqlite3

from moment_devices import files_below
from phone import PIN
from vault_steps import INVITE, NAMES, NEWEST, OPEN, SAVE, SEAL, joins, share
from waiting import eventually, eventually_equals


def test_members_of_two_households_see_each_others_moments(anna, ben):
    anna.do("async () => { await window.v.companion.vaults.create('MARKER-OURS'); }")
    asking, joined = joins(anna, ben)
    assert asking == "Ben's phone", asking
    assert "id" in joined, joined
    ben.until("async () => (await window.v.ours()).name === 'MARKER-OURS'", "the vault's name arrives")
    anna.add("MARKER-by-anna", 1, (1200, 900))
    ben.add("MARKER-by-ben", 2, (1200, 900))
    for one in (anna, ben):
        one.sees(["MARKER-by-anna", "MARKER-by-ben"])
        one.sent()
    # Each has the other's photo in full size.
    for one, title in ((anna, "MARKER-by-ben"), (ben, "MARKER-by-anna")):
        # Its record is one of its own, which may arrive after the moment's.
        one.until(
            f"""async () => {{
            const {{ companion }} = await window.v.ours();
            const {{ moments: [moment] }} = await companion.moments.list({{ search: "{title}" }});
            return Boolean((await companion.device.stored("photos", moment.photos[0].id)).record);
        }}""",
            "the photo arrives",
        )
        size = one.do(
            """async (title) => {
            const { companion } = await window.v.ours();
            const { moments: [moment] } = await companion.moments.list({ search: title });
            const { bytes } = await companion.momentPhotos.medium(moment.photos[0].id);
            const image = await createImageBitmap(new Blob([bytes]));
            return [image.width, image.height];
        }""",
            title,
        )
        assert size == [1200, 900], size
    for one in (anna, ben):
        own = one.do("async () => (await window.v.companion.moments.list()).moments.length")
        assert own == 0, "a moment of the shared vault is in the own vault"
    anna.until(f"async () => (await ({NAMES})()) === \"Anna's phone,Ben's phone\"", "every member has a name")


def test_two_offline_edits_of_one_moment_are_both_kept(anna, ben):
    share(anna, ben)
    for one in (anna, ben):
        one.do("""async () => {
            const { companion } = await window.v.ours();
            const { moments: [first] } = await companion.moments.list({ search: "MARKER-by-anna" });
            window.v.first = first;
        }""")
    ben.context.set_offline(True)
    for one, title in ((anna, "edit of anna"), (ben, "edit of ben")):
        one.do(
            """async (title) => {
            const { companion } = await window.v.ours();
            await companion.moments.save(window.v.first, { ...window.v.first, title });
        }""",
            title,
        )
    anna.sent()
    ben.context.set_offline(False)
    ben.do("async () => { (await window.v.ours()).companion.wake(); }")
    for one in (anna, ben):
        one.sees(["MARKER-by-ben", "edit of anna", "edit of ben (conflict, Ben's phone)"])


# Everything that this browser keeps of the companion, as text: strings as they are, bytes as Latin-1 and as UTF-16.
DUMP = """async () => {
    const parts = [];
    const walk = (value) => {
        if (typeof value === "string") parts.push(value);
        else if (value instanceof Uint8Array) {
            parts.push(Array.from(value, (byte) => String.fromCharCode(byte)).join(""));
        } else if (value && typeof value === "object") {
            for (const [key, inner] of Object.entries(value)) walk(key), walk(inner);
        }
    };
    const databases = await indexedDB.databases();
    for (const { name } of databases) {
        const database = await new Promise((resolve) => {
            indexedDB.open(name).onsuccess = ({ target }) => resolve(target.result);
        });
        for (const store of database.objectStoreNames) {
            const all = database.transaction(store).objectStore(store);
            for (const request of [all.getAll(), all.getAllKeys()]) {
                await new Promise((resolve) => { request.onsuccess = () => { walk(request.result); resolve(); }; });
            }
        }
        database.close();
    }
    walk({ ...localStorage });
    const base64 = parts.filter((part) => /^[A-Za-z0-9+/=]{40,}$/.test(part)).map((part) => atob(part));
    return { count: databases.length, text: parts.join("\\n"), base64: base64.join("\\n") };
}"""


def test_the_list_of_vaults_is_sealed_and_nothing_opens_while_locked(anna, ben):
    share(anna, ben)
    ben.add("edit of ben (conflict, Ben's phone)", 3, None)
    titles = ["MARKER-by-anna", "MARKER-by-ben", "edit of ben (conflict, Ben's phone)"]
    anna.sees(titles)
    other = anna.context.new_page()
    other.goto(anna.page.url)
    other.evaluate(OPEN, PIN)
    eventually(
        lambda: other.evaluate("async () => (await window.v.companion.vaults.list()).length === 1"),
        "the other tab opens the vault",
    )
    secrets = anna.do("""async () => {
        const { companion } = await window.v.ours();
        window.v.held = companion;
        const { facts, keys } = companion.device;
        const text = (bytes) => Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
        return [text(facts.token), text(keys.rootKey), ...keys.ring.entries.map(({ key }) => text(key))];
    }""")
    assert len(secrets) == 6, "not all secrets are searched for"
    anna.do("() => window.v.companion.lock()")
    for page in (anna.page, other):
        eventually_equals(
            lambda page=page: page.evaluate("() => window.v.companion.state"), "locked", "every tab is locked"
        )
        code = page.evaluate("() => window.v.companion.vaults.list().then(() => null, (error) => error.code)")
        assert code == "locked", code
    tried = anna.do("""async () => {
        const { held } = window.v;
        const tries = [held.moments.list(), held.momentPhotos.thumbnail("0".repeat(32)), held.household.devices()];
        return [held.device.unlocked, (await Promise.allSettled(tries)).map(({ status }) => status)];
    }""")
    assert tried == [None, ["rejected"] * 3], tried
    found = anna.do(DUMP)
    assert found["count"] == 2, "not both databases are searched"
    for word in ["MARKER", "edit of", "Ben's phone", *secrets]:
        for form in (word, word.encode("utf-16-le").decode("latin-1")):
            assert form not in found["text"] and form not in found["base64"], f"{word!r} is stored"
    anna.do("(pin) => window.v.companion.unlockWithPIN(pin)", PIN)
    anna.sees(titles)


def test_bad_invitations_are_refused_with_a_reason(anna, ben, cleo, hub):
    share(anna, ben)

    def link():
        return anna.do(INVITE)

    def tries(address, person=cleo):
        return person.do(
            """(address) => {
                const joined = window.v.companion.vaults.join(address);
                return joined.then(() => null, ({ code, message }) => [code, message]);
            }""",
            address,
        )

    whole = link()
    end = whole[-6:]
    tampered = tries(whole[:-6] + ("AAAAAA" if end != "AAAAAA" else "BBBBBB"))
    assert tampered[0] in ("refused", "malformed") and tampered[1].endswith("."), tampered
    assert tries(whole[:-20])[0] == "malformed", "a truncated link"
    assert tries("https://elsewhere.example/#vault=" + whole.split("#vault=")[1])[0] == "otherHub"
    assert tries(whole.replace("#vault=", "#pair="))[0] == "malformed"

    # Five minutes later.
    late = link()
    file = next(path for path in files_below(hub.folder / "hub") if path.suffix == ".sqlite")
    with contextlib.closing(sqlite3.connect(file, timeout=20)) as database, database:
        database.execute("UPDATE invitation SET expires = expires - 1000")
    assert tries(late) == ["refused", "This invitation was used or has expired; ask for another one."]

    # The inviter refuses.
    _, refused = joins(anna, cleo, link(), agrees=False)
    assert refused["code"] == "refused", refused

    # A malicious hub has the proof, but not the secret.
    link()
    error = anna.do("""async () => {
        const { proofOf } = await import("/crypto/invitation.js");
        const { HubClient } = await import("/hub/client.js");
        const { membership, companion } = await window.v.ours();
        const { invitation } = window.v.invited;
        const random = (count) => crypto.getRandomValues(new Uint8Array(count));
        const device = Array.from(random(16), (byte) => byte.toString(16).padStart(2, "0")).join("");
        await new HubClient(location.origin, null).join(invitation.id, {
            proof: await proofOf(invitation), device, tokenHash: random(32), sealed: random(300), role: "computer" });
        return membership.asking(invitation).then(() => null, ({ code }) => code);
    }""")
    assert error == "untrusted", error

    # A link works once.
    once = link()
    _, joined = joins(anna, cleo, once)
    assert "id" in joined, joined
    again = tries(once, ben)
    assert again[0] == "refused" and "used or has expired" in again[1], again
    cleo.sees(["MARKER-by-anna", "MARKER-by-ben"])


def test_a_member_who_leaves_reads_nothing_written_later(anna, ben, cleo):
    share(anna, ben, cleo)
    ben.add("words of ben", 3, None)
    ben.sent()
    anna.sees(["MARKER-by-anna", "MARKER-by-ben", "words of ben"])
    # The keys that Ben could have kept.
    known = ben.do("""async () => {
        const { companion } = await window.v.ours();
        const { facts, keys } = companion.device;
        const contentKeys = keys.ring.entries.filter(({ kind }) => kind === 1);
        return {
            token: Array.from(facts.token),
            keys: contentKeys.map(({ epoch, key }) => [epoch, Array.from(key)]),
        };
    }""")
    assert [epoch for epoch, _ in known["keys"]] == [1], known["keys"]
    # Written offline, before Cleo's device learns that Ben left. Without a service worker the sealing script needs the
    # hub.
    cleo.do(SEAL, [4, (320, 240)])
    cleo.context.set_offline(True)
    cleo.do(SAVE, ["written offline", 4])
    ben.do("async () => { await window.v.companion.vaults.leave((await window.v.ours()).id); }")
    left = ben.do(DUMP)
    assert left["count"] == 1, "the vault's database remains on the device that left"
    assert ben.do("async () => (await window.v.companion.vaults.list()).length") == 0
    cleo.context.set_offline(False)
    cleo.do("async () => { (await window.v.ours()).companion.wake(); }")
    for one in (anna, cleo):
        one.until(f"async () => (await ({NEWEST})())[0] === 2", "the vault has new keys")
    # Both created new keys at the same time; the hub accepted one.
    assert anna.do(NEWEST) == cleo.do(NEWEST)
    anna.add("written after", 5)
    for one in (anna, cleo):
        one.sent()
        one.sees(["MARKER-by-anna", "MARKER-by-ben", "words of ben", "written offline", "written after"])
    opened = anna.do(
        """async (known) => {
        const { openEnvelope } = await import("/crypto/envelope.js");
        const { unbase64 } = await import("/crypto/bytes.js");
        const { HubClient } = await import("/hub/client.js");
        const { companion } = await window.v.ours();
        const { records } = await companion.device.hub.records(0, 1000);
        const found = { before: [0, 0], after: [0, 0] };
        for (const record of records) {
            if (!["moments", "photos"].includes(record.collection) || !record.sealed) continue;
            const counts = found[record.epoch === 1 ? "before" : "after"];
            counts[0] += 1;
            for (const [, key] of known.keys) {
                const opened = openEnvelope(unbase64(record.sealed), record, Uint8Array.from(key));
                counts[1] += await opened.then(() => 1, () => 0);
            }
        }
        const hub = new HubClient(location.origin, Uint8Array.from(known.token));
        const token = await hub.records(0).then(() => "served", ({ code }) => code);
        return [found, token];
    }""",
        known,
    )
    # After: two moments with a photo each, one of them written before and sent later, and Ben's own two moments and a
    # photo, which a remaining member sealed again. Before: Anna's first moment and its photo, unchanged.
    assert opened[0] == {"before": [2, 2], "after": [7, 0]}, opened
    assert opened[1] == "unauthorized", opened


def test_keys_that_a_member_prepared_are_not_used_after_its_removal(anna, ben, cleo):
    share(anna, ben, cleo)
    ahead = ben.do("""async () => {
        const { keysRecord, sharedVaultID, withEpoch } = await import("/household/shared-keys.js");
        const { companion } = await window.v.ours();
        const { device } = companion;
        const { keys, roster } = device;
        const ring = withEpoch(keys.ring, keys.household, await sharedVaultID(keys.household), 2);
        const record = await keysRecord(
            { members: roster.members, keys, ring, epoch: 2, revision: 1, replaces: 0 });
        const [outcome] = await device.hub.write([record]);
        return [outcome.sequence !== undefined,
            ring.entries.filter(({ kind, epoch }) => kind === 1 && epoch === 2).map(({ key }) => Array.from(key))[0]];
    }""")
    assert ahead[0], "the hub refused the prepared keys"
    ben_id = ben.do("async () => (await window.v.ours()).companion.device.keys.device")
    anna.do("async (id) => (await window.v.ours()).membership.remove(id)", ben_id)
    for one in (anna, cleo):
        one.until(f"async () => (await ({NEWEST})())[0] === 2", "the vault has new keys")
    assert anna.do(NEWEST) == cleo.do(NEWEST)
    key = anna.do("""async () => {
        const { companion } = await window.v.ours();
        const { ring } = companion.device.keys;
        return Array.from(ring.entries.find(({ kind, epoch }) => kind === 1 && epoch === 2).key);
    }""")
    assert key != ahead[1], "the keys that Ben prepared are used"
    anna.add("written after", 5)
    anna.sent()
    cleo.sees(["MARKER-by-anna", "MARKER-by-ben", "written after"])


def test_a_removed_device_detects_its_removal_and_a_former_member_can_rejoin(anna, ben, cleo):
    share(anna, ben, cleo)
    # Ben leaves, and doesn't have the keys of what Anna writes then.
    ben.do("async () => { await window.v.companion.vaults.leave((await window.v.ours()).id); }")
    for one in (anna, cleo):
        one.until(f"async () => (await ({NEWEST})())[0] === 2", "the vault has new keys")
    anna.add("written after", 5)
    anna.sent()
    cleo_id = cleo.do("async () => (await window.v.ours()).companion.device.keys.device")
    anna.do("async (id) => (await window.v.ours()).membership.remove(id)", cleo_id)
    cleo.until("async () => (await window.v.ours()).isRevoked", "Anna's desk detects its removal")
    assert anna.do(NEWEST)[0] == 3
    _, joined = joins(anna, ben)
    assert "id" in joined, joined
    # Every record that was written, with a key of each epoch.
    ben.sees(["MARKER-by-anna", "MARKER-by-ben", "written after"])
    cleo.do("async () => { await window.v.companion.vaults.forget((await window.v.ours()).id); }")
    assert cleo.do("async () => (await window.v.companion.vaults.list()).length") == 0
    ben.until(f"async () => (await ({NAMES})()) === \"Ben's phone,Anna's phone\"", "every member has a name")
    # The last member who leaves removes the vault from the hub.
    ben.do("async () => { await window.v.companion.vaults.leave((await window.v.ours()).id); }")
    anna.do("""async () => {
        const { companion, id } = await window.v.ours();
        window.v.token = companion.device.facts.token;
        await window.v.companion.vaults.leave(id);
    }""")
    gone = anna.do("""async () => {
        const { HubClient } = await import("/hub/client.js");
        return new HubClient(location.origin, window.v.token).records(0).then(() => "served", ({ code }) => code);
    }""")
    assert gone == "unauthorized", gone
