"""A computer revokes a phone: a real computer signs, and a real hub stores the roster."""

from disguise_steps import disguised, harmless, hold
from note_steps import save_notes
from waiting import eventually, eventually_equals

TITLE = "This device was revoked"
# The keys in each store of each database of this browser, without empty stores.
LEFT = """async () => {
    const left = {};
    for (const { name } of await indexedDB.databases()) {
        const database = await new Promise((resolve) => {
            indexedDB.open(name).onsuccess = ({ target }) => resolve(target.result);
        });
        for (const store of database.objectStoreNames) {
            const request = database.transaction(store).objectStore(store).getAllKeys();
            const keys = await new Promise((resolve) => { request.onsuccess = () => resolve(request.result); });
            if (keys.length > 0) left[`${name}: ${store}`] = keys;
        }
        database.close();
    }
    return left;
}"""


def revoke(phone, computer):
    computer.expect("devices", "revoke", phone.name, "--yes", passcode=True)


def test_a_revoked_phone_erases_everything_and_shows_why(phone, computer):
    page = phone.page
    save_notes(phone, **{"MARKER": "of MARKER"})
    phone.inside("await companion.vaults.create('MARKER-OURS');")
    eventually_equals(
        lambda: len(page.evaluate("async () => (await indexedDB.databases()).map(({ name }) => name)")),
        2,
        "the vault's database exists",
    )
    other = phone.open_page()
    other.goto(phone.address)
    other.get_by_role("heading", name="AppLocker is locked").wait_for()
    revoke(phone, computer)
    for one in (page, other):
        one.get_by_role("heading", name=TITLE).wait_for()
    page.get_by_text("changes that had not been sent yet").wait_for()
    phone.check()
    phone.picture("revoked")
    eventually_equals(lambda: page.evaluate(LEFT), {"applocker: facts": ["revoked"]}, "everything is erased")
    assert page.evaluate("() => localStorage.getItem('applocker-device/applocker')") is None
    page.reload()
    page.get_by_role("heading", name=TITLE).wait_for()
    page.get_by_role("button", name="Start again").click()
    page.get_by_role("dialog").get_by_role("button", name="Start again").click()
    page.get_by_role("heading", name="Welcome to AppLocker").wait_for()
    eventually_equals(lambda: page.evaluate(LEFT), {}, "nothing is left")


def test_a_refused_phone_keeps_everything_without_proof(phone, computer):
    page = phone.page
    save_notes(phone, **{"MARKER": "of MARKER"})
    # Like a malicious hub, or one that lost the device.
    phone.context.route(
        "**/v1/roster?*",
        lambda route: route.fulfill(
            status=401, json={"error": {"code": "unauthorized", "message": "The hub does not know this token."}}
        ),
    )
    revoke(phone, computer)
    page.get_by_text("This device keeps its data").wait_for()
    phone.check()
    phone.picture("refused")
    left = page.evaluate(LEFT)
    assert left["applocker: records"] and "device" in left["applocker: facts"], left


def test_a_disguised_phone_shows_its_revocation_only_to_the_owner(phone, computer):
    page = phone.page
    disguised(phone)
    revoke(phone, computer)
    harmless(page)
    eventually_equals(lambda: page.evaluate(LEFT), {"applocker: facts": ["revoked"]}, "everything is erased")
    # Then it is shown: a press before that is for the locked app.
    eventually(
        lambda: page.evaluate("() => localStorage.getItem('applocker-device/applocker') === null"), "it is not paired"
    )
    harmless(page)
    hold(page, page.locator(".calculator-display"))
    page.get_by_role("heading", name=TITLE).wait_for()
