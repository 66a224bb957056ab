"""Two people and their phones, without a computer anywhere: a hub is all there is."""

import pytest

from editor_steps import chosen, picture, saved, sealed, written
from founding_steps import (
    chooses_pin,
    code_in,
    names_itself,
    new_phone,
    recovers,
    shared_vault,
    titles,
    with_everline,
    words_on,
)
from vault_steps import CompanionTab
from waiting import eventually, eventually_equals

# In a request that writes a name of a device.
NAMED = '"collection":"devices"'
VAULT_TITLES = """
    for (const vault of await companion.vaults.list()) {
        const { moments } = await vault.companion.moments.list();
        return moments.map(({ title }) => title).sort();
    }
    return null;"""


def vault_titles(phone):
    return phone.inside(VAULT_TITLES)


@pytest.mark.parametrize("store", ["SQLite", "PostgreSQL"])
def test_two_phones_and_a_hub_are_enough_for_everline(request, new_context, phone_hub, store):
    server = request.getfixturevalue("postgres") if store == "PostgreSQL" else None
    hub = phone_hub(options=["--postgres", server.connection_file()] if server else [])
    anna, code, sheet = with_everline(new_context, hub)
    page = anna.page
    # Nothing of computers is shown.
    assert page.locator(".tab:visible .tab-name").all_text_contents() == ["Home", "Notes", "Everline", "Settings"]
    anna.go("moments/new", "New moment")
    chosen(page, picture(anna, 1))
    sealed(page, 1)
    written(page, "The first evening", "Rain, and the two of us.")
    moment = saved(page)
    anna.picture("founded-moment")

    # Ben scans the code on Anna's screen with a new phone, which gets a household of its own first.
    link = shared_vault(anna)
    assert code_in(page.locator("dialog .qr-code").screenshot()) == link
    anna.picture("founded-invitation")
    anna.check()
    ben = new_phone(new_context, hub, "Ben's phone")
    ben.page.goto(ben.address)
    ben.page.get_by_role("button", name="Join my partner").click()
    ben.page.get_by_role("button", name="Scan the code").click()
    ben.page.get_by_text("Hold the code in front of the camera").wait_for()
    ben.page.evaluate("(link) => { window.code = link; }", link)
    ben.page.get_by_text("This phone first gets a vault of its own").wait_for()
    assert "vault=" not in ben.page.url, "the secret remains in the address"
    ben.picture("founded-joining")
    ben.check()
    names_itself(ben)
    chooses_pin(ben)
    # The invitation is answered without another step: both show the same words.
    words = words_on(ben.page)
    ben.picture("founded-words")
    ben.check()
    page.get_by_text("“Ben's phone” asks to join").wait_for()
    assert words_on(page) == words
    anna.picture("founded-asks")
    anna.check()
    page.get_by_role("button", name="Admit").click()
    ben.page.get_by_role("heading", name="Members").wait_for()
    ben.picture("founded-members")
    ben.check()

    # Both write while they are offline.
    for one, title in ((anna, "By Anna, offline"), (ben, "By Ben, offline")):
        one.page.get_by_role("button", name="Show its moments").click()
        one.page.get_by_role("heading", name="Everline", level=1).wait_for()
        # These tests have no service worker, which would have the screen's files.
        one.go("moments/new", "New moment")
        one.context.set_offline(True)
        written(one.page, title)
        saved(one.page)
    for one in (anna, ben):
        one.context.set_offline(False)
        one.online_again()
    both = ["By Anna, offline", "By Ben, offline"]
    for one in (anna, ben):
        eventually_equals(lambda one=one: vault_titles(one), both, f"{one.name} has both moments")

    # Anna's phone is lost. Its owner has the sheet, and another phone.
    new = recovers(new_phone(new_context, hub, "Anna's new phone"), sheet)
    new.picture("recovered-devices")
    new.check()
    eventually_equals(lambda: titles(new), ["The first evening"], "her own moment")
    assert new.inside(
        "return (await companion.momentPhotos.thumbnail((await companion.moments.read(arg)).photos[0].id))"
        ".length > 500;",
        moment,
    ), "the photo opens"
    eventually_equals(lambda: vault_titles(new), both, "the shared vault")
    new.page.get_by_role("button", name="Anna's phone Phone or browser").click()
    new.page.get_by_role("button", name="Revoke it").click()
    new.confirm("Revoke Anna's phone?")
    new.page.get_by_text("Revoked. The household’s keys are replaced.").wait_for()
    new.picture("recovered-revoked")
    new.page.get_by_role("button", name="Close").click()
    page.get_by_role("heading", name="This device was revoked").wait_for()
    anna.picture("founded-revoked")
    anna.check()
    # What both write afterwards is under keys that the lost phone never had; its membership ended too.
    eventually_equals(
        lambda: ben.inside("""
            const [vault] = await companion.vaults.list();
            return (await vault.membership.members()).map(({ name }) => name).sort().join();"""),
        "Anna's new phone,Anna's new phone (recovery),Ben's phone,Ben's phone (recovery)",
        "the members",
    )
    new.inside("""
        await companion.moments.save(null, { title: "After the loss", words: "", date: 1700000000, photos: [] });
        const [vault] = await companion.vaults.list();
        await vault.companion.moments.save(null, { title: "Still ours", words: "", date: 1700000000, photos: [] });""")
    eventually_equals(lambda: vault_titles(ben), sorted([*both, "Still ours"]), "Ben reads on")
    # The sheet stays valid: nothing has to be printed again, and typing its code does the same.
    third = recovers(new_phone(new_context, hub, "Third"), code=code)
    eventually_equals(lambda: titles(third), ["After the loss", "The first evening"], "written after the revocation")
    eventually(lambda: vault_titles(third) == sorted([*both, "Still ours"]), "the shared vault, by a new spare member")
    for one in (anna, ben, new, third):
        one.quiet()
    if server:
        count = "SELECT count(*) > 0 FROM record"
        shown = server.run("psql", "-h", server.directory, "-U", "hub", "-d", "hub", "-Atc", count)
        assert shown == "t\n", "the hub stored its records there"
        assert not (hub.folder / "hub/hub.sqlite").exists()


def test_an_interrupted_spare_member_is_finished_and_not_made_twice(new_context, phone_hub):
    phone, *_ = with_everline(new_context, phone_hub())
    # The spare member is admitted; its name, which identifies it, is not written.
    phone.context.route(
        "**/v1/records", lambda route: route.abort() if NAMED in route.request.post_data else route.continue_()
    )
    tab = CompanionTab(phone)
    tab.do("async () => { await window.v.companion.vaults.create('Ours'); }")
    count = "async () => (await window.v.ours()).companion.device.roster.members.length"
    eventually_equals(lambda: tab.do(count), 2, "the spare member is admitted")
    tab.page.close()
    phone.context.unroute("**/v1/records")
    tab = CompanionTab(phone)
    spares = "async () => (await (await window.v.ours()).membership.members()).map(({ spareOf }) => spareOf !== null)"
    eventually_equals(lambda: tab.do(spares), [False, True], "the same member is recognised as the spare one")
    assert tab.do("async () => (await window.v.ours()).membership.countShown()") == 1
    phone.quiet()
