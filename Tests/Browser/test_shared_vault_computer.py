"""A computer is a member of a vault that people share from their phones."""

import contextlib
import json
import socket
import subprocess

import pytest

from computer import Computer
from moment_devices import files_below
from test_moments_computer import added, digests, noise
from vault_steps import ADMIT, ASKING, HAS_PHOTOS, INVITE, NAMES, NEWEST, share
from waiting import eventually, eventually_equals

MARKER, NAME = "MARKER", "MARKER-OURS"
HOST = socket.gethostname()
ANNA, BEN = "Anna's phone", "Ben's phone"
WAKE = "async () => { (await window.v.ours()).companion.wake(); }"
# Width, height and SHA-256 of each photo of a moment.
PHOTOS = """async (title) => {
    const { companion } = await window.v.ours();
    const { moments: [moment] } = await companion.moments.list({ search: title });
    return Promise.all(moment.photos.map(async ({ id }) => {
        const { bytes } = await companion.momentPhotos.original(id);
        const { width, height } = await createImageBitmap(new Blob([bytes]));
        const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
        return [width, height, Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("")];
    }));
}"""
# Of the moment's record: its id, and the epoch of the keys under which it is sealed.
RECORD = """async (title) => {
    const { companion } = await window.v.ours();
    const { moments: [{ id }] } = await companion.moments.list({ search: title });
    return [id, (await companion.device.stored("moments", id)).record.epoch];
}"""
CHANGE_TITLE = """async ([from, title]) => {
    const { companion } = await window.v.ours();
    const { moments: [moment] } = await companion.moments.list({ search: from });
    await companion.moments.save(moment, { ...moment, title });
}"""
REMOVE = """async (name) => {
    const { membership } = await window.v.ours();
    await membership.remove((await membership.members()).find((member) => member.name === name).id);
}"""
CREATE = f"async () => {{ await window.v.companion.vaults.create('{NAME}'); }}"
LEAVE = "async () => { await window.v.companion.vaults.leave((await window.v.ours()).id); }"


@contextlib.contextmanager
def computer_without_household(programs, folder, port):
    """A computer with an open vault: it is connected to the hub only by a vault that it joins."""
    computer = Computer(programs, folder, port)
    computer.folder.mkdir()
    try:
        computer.start_applocker()
        computer.expect("setup", passcode=True)
        computer.open_vault()
        yield computer
    finally:
        computer.end()


@pytest.fixture
def computer(programs, hub, tmp_path):
    with computer_without_household(programs, tmp_path / "den", hub.port) as computer:
        yield computer


@pytest.fixture
def member(anna, ben, computer):
    """The computer, in a vault of Anna and Ben with a moment of each."""
    share(anna, ben)
    joined(anna, computer)
    lists(computer, ["MARKER-by-anna", "MARKER-by-ben"])
    has_members(anna, ANNA, BEN, HOST)
    return computer


def joined(inviter, computer, *by_code):
    """The computer joins by the inviter's link, or by its code with these further words. Returns name and words that
    the inviter sees, the words that the computer shows, and its last report."""
    link = inviter.do(INVITE)
    invitation = [inviter.do("() => window.v.invited.code"), *by_code] if by_code else [link]
    joining = computer.start("moments", "join", *invitation, "--insecure", "--json", stdin=subprocess.DEVNULL)
    with joining, contextlib.ExitStack() as stack:
        stack.callback(joining.kill)
        reports = map(json.loads, joining.stdout)
        waiting = next((report for report in reports if report.get("words")), None)
        assert waiting, joining.stderr.read()
        assert waiting["state"] == "waiting", waiting
        inviter.until(ASKING, "the computer's request arrives")
        assert joining.poll() is None, "the command ended before the inviter confirmed"
        inviter.do(ADMIT)
        rest = list(reports)
        assert joining.wait(60) == 0, joining.stderr.read()
    asking = inviter.do("() => ({ name: window.v.asking.name, words: window.v.asking.words })")
    return asking, waiting["words"], rest[-1]


def titles(computer, *words):
    """Of the moments of a vault, or the reason why they are not listed."""
    listed = computer.run("moments", "list", "--json", *words)
    return computer.errors if listed is None else sorted(one["title"] for one in json.loads(listed)["moments"])


def lists(computer, expected):
    eventually_equals(lambda: titles(computer, "--vault", NAME), sorted(expected), "the moments of the shared vault")


def vaults(computer):
    return json.loads(computer.expect("moments", "vaults", "--json"))["vaults"]


def has_members(person, *names):
    eventually_equals(lambda: sorted(person.do(NAMES).split(",")), sorted(names), "the members of the vault")


def refusal(computer, *command):
    """Why the command failed. In a session of its own, without a terminal, it can't prompt for the passcode."""
    refused = computer.start(*command, stdin=subprocess.DEVNULL, start_new_session=True)
    output, reason = refused.communicate(timeout=60)
    assert refused.returncode > 0, f"{command} is not refused: {output}"
    return reason


def files_with(folder, *contents):
    """The files that contain one of the byte strings."""
    found = []
    for path in files_below(folder):
        # A socket has no content.
        with contextlib.suppress(FileNotFoundError):
            if path.is_file() and any(one in path.read_bytes() for one in contents):
                found.append(path)
    return found


def test_a_computer_joins_by_a_phones_invitation_and_both_show_the_same_words(anna, computer):
    anna.do(CREATE)
    assert vaults(computer) == []
    asking, words, last = joined(anna, computer)
    assert asking == {"name": HOST, "words": words}
    assert last["state"] == "member", last
    has_members(anna, ANNA, HOST)
    eventually_equals(
        lambda: [(one["name"], one["state"], one["members"]) for one in vaults(computer)],
        [(NAME, "member", [HOST, ANNA])],
        "the computer's report about the vault",
    )


def test_a_computer_joins_by_the_code_that_a_phone_shows(anna, computer, hub):
    anna.do(CREATE)
    reason = refusal(computer, "moments", "join", "7KQ2F-9D3MX-0V7TB-AAZ4C")
    assert "typing mistake" in reason, reason
    anna.do(INVITE)
    code = anna.do("() => window.v.invited.code")
    reason = refusal(computer, "moments", "join", code)
    assert "--hub" in reason, reason
    asking, words, last = joined(anna, computer, "--hub", f"http://127.0.0.1:{hub.port}")
    assert asking == {"name": HOST, "words": words}
    assert last["state"] == "member", last
    has_members(anna, ANNA, HOST)


def test_a_computer_and_phones_exchange_moments_and_photos_sealed(anna, ben, hub, member, tmp_path):
    ben.add("MARKER-after-joining", 3, (1200, 900))
    large = noise(tmp_path / "large.jpg", "1600x1200", 30)
    added(member, "MARKER-by-computer", [large], "--vault", NAME)
    everything = ["MARKER-by-anna", "MARKER-by-ben", "MARKER-after-joining", "MARKER-by-computer"]
    lists(member, everything)
    for one in (anna, ben):
        one.sees(everything)
        one.until(HAS_PHOTOS, "every photo arrives")
    assert titles(member) == [], "a moment of the shared vault is in the computer's own vault"

    # Written before it joined, and afterwards, by a phone and by the computer.
    sizes = {"MARKER-by-anna": [320, 240], "MARKER-after-joining": [1200, 900], "MARKER-by-computer": [1600, 1200]}
    for title, size in sizes.items():
        [photo] = anna.do(PHOTOS, title)
        assert photo[:2] == size, title
        files = member.saved(title, tmp_path / title, "--vault", NAME)
        assert digests(files) == photo[2:], title

    # The state directory has the records; neither it nor the hub has what is in them.
    moment, _ = anna.do(RECORD, "MARKER-by-anna")
    assert files_with(member.state / "vaults", bytes.fromhex(moment))
    [saved] = (tmp_path / "MARKER-by-computer").iterdir()
    secrets = [MARKER.encode(), MARKER.encode("utf-16-le"), saved.read_bytes()[2000:2064]]
    for folder in (member.state, hub.folder / "hub"):
        assert files_with(folder, *secrets) == []


def test_edits_of_a_computer_without_connection_and_of_a_phone_are_both_kept(anna, ben, hub, member):
    for one in (anna, ben):
        one.sent()
    hub.stop_hub()
    member.expect("moments", "favourite", "MARKER-by-anna", "--vault", NAME)
    member.expect("moments", "add", "MARKER-added-offline", "--vault", NAME)
    member.turn_off()
    hub.start_hub()
    for one in (anna, ben):
        one.do(WAKE)
    anna.do(CHANGE_TITLE, ["MARKER-by-anna", "MARKER-edited"])
    anna.sent()
    ben.sees(["MARKER-edited", "MARKER-by-ben"])
    # `turn_on` waits for the hub of a household.
    member.start_applocker()
    member.open_vault()
    both = ["MARKER-edited", f"MARKER-by-anna (conflict, {HOST})", "MARKER-by-ben", "MARKER-added-offline"]
    lists(member, both)
    for one in (anna, ben):
        one.sees(both)
    favourites = anna.do("""async () => {
        const { moments } = await (await window.v.ours()).companion.moments.list();
        return moments.filter(({ favourite }) => favourite).map(({ title }) => title);
    }""")
    assert favourites == [f"MARKER-by-anna (conflict, {HOST})"]


def test_a_removed_computer_reports_its_removal_and_receives_nothing_written_later(anna, ben, member):
    known, _ = anna.do(RECORD, "MARKER-by-anna")
    assert files_with(member.state, bytes.fromhex(known)), "the search doesn't find records that the computer has"
    anna.do(REMOVE, HOST)
    eventually_equals(lambda: [one["state"] for one in vaults(member)], ["removed"], "the computer is removed")
    member.turn_off()
    anna.add("MARKER-after-removal", 3)
    anna.sent()
    ben.sees(["MARKER-by-anna", "MARKER-by-ben", "MARKER-after-removal"])
    has_members(ben, ANNA, BEN)
    later, _ = anna.do(RECORD, "MARKER-after-removal")

    member.start_applocker()
    member.open_vault()
    assert [one["state"] for one in vaults(member)] == ["removed"]
    assert titles(member, "--vault", NAME) == ["MARKER-by-anna", "MARKER-by-ben"], "what it had can still be read"
    reason = refusal(member, "moments", "add", "MARKER-by-removed", "--vault", NAME)
    assert "removed" in reason and "computer" in reason, reason
    assert files_with(member.state, bytes.fromhex(later), later.encode()) == []


def test_a_computer_writes_under_the_new_keys_after_a_member_left(anna, ben, member):
    ben.do(LEAVE)
    anna.until(f"async () => (await ({NEWEST})())[0] === 2", "the vault has new keys")
    anna.add("MARKER-new-keys", 3)
    lists(member, ["MARKER-by-anna", "MARKER-by-ben", "MARKER-new-keys"])
    member.expect("moments", "add", "MARKER-by-computer", "--vault", NAME)
    anna.sees(["MARKER-by-anna", "MARKER-by-ben", "MARKER-new-keys", "MARKER-by-computer"])
    assert anna.do(RECORD, "MARKER-by-computer")[1] == 2


def test_a_computer_that_leaves_is_no_member_and_keeps_nothing_of_the_vault(anna, member):
    assert files_below(member.state / "vaults")
    member.expect("moments", "leave", NAME, "--yes")
    has_members(anna, ANNA, BEN)
    assert vaults(member) == []
    eventually(lambda: not files_below(member.state / "vaults"), "the vault's files are removed")
    assert titles(member) == []
    refusal(member, "moments", "list", "--vault", NAME)
    # The phone continues with new keys.
    anna.until(f"async () => (await ({NEWEST})())[0] === 2", "the vault has new keys")


def test_a_locked_computer_needs_the_passcode_for_a_shared_vault(anna, member):
    member.expect("vault", "lock")
    anna.add("MARKER-while-locked", 3, None)
    anna.sent()
    for command in (["list", "--vault", NAME], ["add", "MARKER-by-computer", "--vault", NAME], ["vaults"]):
        reason = refusal(member, "moments", *command)
        assert "locked" in reason, reason
    member.expect("moments", "list", "--vault", NAME, passcode=True)
    lists(member, ["MARKER-by-anna", "MARKER-by-ben", "MARKER-while-locked"])


def test_a_computer_of_another_household_keeps_the_shared_vault_apart_from_its_own(anna, ben, computer_of_ben):
    """It sends its own vault to the phone of its household, and the shared one to Anna."""
    computer_of_ben.open_vault()
    anna.do(CREATE)
    joined(anna, computer_of_ben)
    eventually_equals(lambda: [one["name"] for one in vaults(computer_of_ben)], [NAME], "the vault's name arrives")
    computer_of_ben.expect("moments", "add", "MARKER-shared", "--vault", NAME)
    computer_of_ben.expect("moments", "add", "MARKER-own")
    anna.sees(["MARKER-shared"])
    own = "async () => (await window.v.companion.moments.list()).moments.map(({ title }) => title)"
    eventually_equals(lambda: ben.do(own), ["MARKER-own"], "the own moment at the phone")
    assert titles(computer_of_ben) == ["MARKER-own"]
    lists(computer_of_ben, ["MARKER-shared"])
