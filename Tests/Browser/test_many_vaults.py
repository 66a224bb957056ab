"""A device in eight shared vaults: each is open, and receives what another member writes, within few connections."""

import time

import pytest

from phone import PIN
from vault_steps import OPEN, Person, joins
from waiting import eventually, eventually_equals

COUNT = 8
# At most this many streams at once: of the companion itself and of three vaults.
STREAMS = 4
# How long a stream stays open while another vault waits for its place, in milliseconds.
TURN = 10_000
# Counts the open streams of this page from now on, the most of them so far, and those that received everything.
WATCH = """() => {
    window.streams = { now: 0, most: 0, begun: 0, complete: 0, start: Date.now() };
    const follow = async ({ body }) => {
        let text = "";
        for await (const part of body.pipeThrough(new TextDecoderStream())) {
            text += part;
            if (/^event: ?live$/m.test(text)) break;
        }
        streams.complete += 1;
    };
    const ask = window.fetch;
    window.fetch = async (url, options) => {
        const isStream = String(url).includes("/v1/stream");
        if (!isStream) return ask(url, options);
        streams.begun += 1;
        streams.now += 1;
        streams.most = Math.max(streams.most, streams.now);
        options.signal.addEventListener("abort", () => (streams.now -= 1), { once: true });
        const response = await ask(url, options);
        follow(response.clone()).catch(() => {});
        return response;
    };
}"""
LIST = "async () => (await window.v.companion.vaults.list()).map(({ name }) => name)"
LIVE = """async () => (await window.v.companion.vaults.list())
    .every(({ companion }) => companion.syncLoop.connection === "live")"""
SAVE = """async ([index, title]) => {
    const { companion } = (await window.v.companion.vaults.list())[index];
    await companion.moments.save(null, { title, words: "", date: 1715961600, photos: [] });
}"""
TITLES = """async () => (await Promise.all((await window.v.companion.vaults.list()).map(async ({ companion }) =>
    (await companion.moments.list()).moments.map(({ title }) => title)))).flat().sort()"""


def join(anna, ben, index):
    """Ben joins Anna's vault of this index."""
    anna.do(f"() => {{ window.v.ours = async () => (await window.v.companion.vaults.list())[{index}]; }}")
    outcome = joins(anna, ben)[1]
    assert "id" in outcome, outcome


def next_turn(ben):
    """Moves the clock until other vaults have streams, and those have received what the hub has."""
    complete = ben.do("() => streams.complete")
    ben.page.clock.fast_forward(TURN)
    eventually(lambda: ben.do("() => streams.complete") >= complete + STREAMS - 1, "the next streams are complete")


@pytest.fixture
def ben(new_context, neighbours, hub):
    """The test moves the clock, by which the vaults' streams take turns."""
    ben = Person(new_context, hub, neighbours.ben, has_clock=True)
    yield ben
    ben.phone.quiet()


def test_eight_vaults_are_open_and_receive_changes_with_few_streams(anna, ben):
    create = "async (name) => { await window.v.companion.vaults.create(name); }"
    names = []
    # Ben's own ones and Anna's, alternately: the hub accepts 20 arrivals at once from one address.
    for index in range(COUNT // 2):
        ben.do(create, f"Ben's {index}")
        anna.do(create, f"Anna's {index}")
        join(anna, ben, index)
        names += [f"Ben's {index}", f"Anna's {index}"]
    full = ben.do("() => window.v.companion.vaults.create('One more').catch(({ code, message }) => [code, message])")
    assert full == ["full", "A device can have at most 8 vaults besides its own. Leave or delete one first."]
    # Ben unlocks again: all of them are opened, in the order of joining.
    eventually_equals(lambda: ben.do(LIST), names)
    ben.page.reload()
    ben.do(WATCH)
    start = time.monotonic()
    ben.do(OPEN, PIN)
    unlocked = time.monotonic() - start
    assert ben.do(LIST) == names
    opened = time.monotonic() - start
    ben.until(LIVE, "all vaults are connected")
    live = time.monotonic() - start
    # What Anna writes in each of hers arrives by the streams alone.
    for index in range(COUNT // 2):
        anna.do(SAVE, [index, f"Moment {index}"])
    written = time.monotonic()
    expected = [f"Moment {index}" for index in range(COUNT // 2)]
    # In the third turn all have had one; what is stored at its end is read in the next.
    for _ in range(4):
        if ben.do(TITLES) == expected:
            break
        next_turn(ben)
    eventually_equals(lambda: ben.do(TITLES), expected)
    arrived = time.monotonic() - written
    streams = ben.do("() => streams")
    assert streams["most"] <= STREAMS, streams
    # A turn is ten seconds of the page's clock, which also runs by itself.
    turns = (ben.do("() => Date.now()") - streams["start"]) / 10_000
    assert streams["begun"] <= 5 + STREAMS * (turns + 2), streams
    print(
        f"\n{COUNT} vaults: unlocked in {unlocked:.1f} s, all open after {opened:.1f} s, connected after {live:.1f} s;"
        f" changes arrived in {arrived:.1f} s; {streams}"
    )
    ben.do("() => { window.v.companion.lock(); }")
    eventually(lambda: ben.do("() => streams.now") <= 1, "the vaults' streams have ended")
