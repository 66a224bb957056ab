"""A shared vault is exported, backed up, restored, reset and imported into, as one's own moments are."""

import zipfile

from settings_steps import page_of
from test_moments_backup import SHOWN, STRETCH_LITTLE, chosen, seals_two_moments
from test_moments_import import CHRISTMAS, create_photos, import_page, on_disk
from vault_steps import share
from waiting import eventually_equals

NAME = "MARKER-OURS"
OURS = """async () => {
    const { companion } = await window.v.ours();
    BODY
}"""
# A photo's record may arrive after its moment's.
SHOWN_IF_COMPLETE = OURS.replace("BODY", f"try {{ {SHOWN} }} catch (error) {{ return error.message; }}")
KINDS = OURS.replace("BODY", "return (await companion.audit.list()).lines.map(({ kind }) => kind);")


def screens_of(person):
    """Another tab of this person's browser, with the screens and the vault chosen."""
    phone = person.phone
    phone.page = phone.open_page()
    phone.page.goto(phone.address)
    phone.unlock()
    phone.page.evaluate("() => { navigator.canShare = () => false; }")
    return phone


def choose(phone, name=NAME):
    chip = phone.page.get_by_role("button", name=name, exact=True)
    chip.click()
    eventually_equals(lambda: chip.get_attribute("aria-pressed"), "true", name)


def test_a_shared_vault_is_backed_up_reset_for_all_and_restored(anna, ben):
    share(anna, ben)
    before = anna.do(OURS.replace("BODY", SHOWN))
    assert ben.do(OURS.replace("BODY", SHOWN)) == before
    assert sorted(title for title, *_ in before) == ["MARKER-by-anna", "MARKER-by-ben"]
    anna.do("""async () => {
        await window.v.companion.moments.save(null, { title: "MARKER-own", words: "", date: 1715961600, photos: [] });
    }""")
    phone = screens_of(anna)
    page = page_of(phone, "everline/copy", "Backup of Everline")
    choose(phone)
    page.evaluate(STRETCH_LITTLE)
    seals_two_moments(phone)
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save the backup").click()
    path = saved.value.path()

    page_of(phone, "everline/reset", "Reset Everline")
    page.get_by_text("the devices of all members").wait_for()
    phone.check()
    phone.picture("shared-vault-reset")
    page.get_by_role("button", name=f"Reset “{NAME}”…").click()
    page.get_by_text("It is erased for all members.").wait_for()
    phone.confirm(f"Reset “{NAME}”?")
    page.get_by_label("Type “erase”").fill("erase")
    page.get_by_role("button", name="Erase everything").click()
    page.get_by_text("2 moments and 2 photos erased here. On the other members’ devices").wait_for()
    ben.sees([])
    assert anna.do("async () => (await window.v.companion.moments.list()).moments.length") == 1, "an own one is erased"

    chosen(phone, path)
    page.get_by_role("button", name="Restore", exact=True).click()
    page.get_by_text("2 moments with 2 photos restored.").wait_for()
    ben.sees(["MARKER-by-anna", "MARKER-by-ben"])
    eventually_equals(lambda: ben.do(SHOWN_IF_COMPLETE), before, "photos too")
    for kind in ("backedUp", "reset", "restored"):
        eventually_equals(lambda kind=kind: kind in ben.do(KINDS), True, kind)
    page_of(phone, "audit", "Activity")
    page.get_by_text("Everline was reset").first.wait_for()
    assert page.get_by_role("heading", name="Notify my other devices when").count() == 0
    phone.check()
    choose(phone, "Mine")
    page.get_by_role("heading", name="Notify my other devices when").wait_for()
    assert page.get_by_text("Everline was reset").count() == 0


def test_photos_are_imported_into_a_shared_vault_and_exported_from_it(anna, ben, tmp_path):
    share(anna, ben)
    phone = screens_of(anna)
    folder = on_disk(create_photos(phone, {"c.jpg": CHRISTMAS}), tmp_path / "card")
    page = import_page(phone)
    choose(phone)
    page.evaluate("() => { delete window.showDirectoryPicker; window.showDirectoryPicker = undefined; }")
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Choose photos").click()
    chooser.value.set_files(folder / "c.jpg")
    page.get_by_role("button", name="Add 1 photo").click()
    ben.until("async () => (await (await window.v.ours()).companion.moments.list()).moments.length === 3", "it arrives")
    page_of(phone, "everline/export", "Export Everline")
    assert page.get_by_role("button", name=NAME, exact=True).get_attribute("aria-pressed") == "true"
    page.evaluate("() => { window.showDirectoryPicker = undefined; }")
    page.get_by_role("button", name="Export…").click()
    phone.confirm("Export 3 moments unsealed?")
    page.get_by_role("button", name="Create a ZIP").click()
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save the ZIP").click()
    with zipfile.ZipFile(saved.value.path()) as archive:
        names = archive.namelist()
        words = archive.read(next(name for name in names if name.endswith("moments.json"))).decode()
    assert len([name for name in names if name.endswith((".jpg", ".png"))]) == 3, names
    assert "MARKER-by-ben" in words
