"""The first minutes on a phone, from the pairing link to the owner's confirmation at the computer."""

import json

from phone import Phone

# Opens what the hub was sent, as the computer does, and derives the words from it.
WORDS = """async ([link, sealed]) => {
    const { openJoin, readLink } = await import("/crypto/invitation.js");
    const { wordsOf } = await import("/crypto/pairing-words.js");
    const { unbase64 } = await import("/crypto/bytes.js");
    const invitation = readLink(link);
    return wordsOf(invitation, await openJoin(invitation, unbase64(sealed)));
}"""


def unconfirmed_link(computer):
    """A link whose device nobody confirms."""
    return json.loads(computer.expect("pair", "--json", "--no-wait", passcode=True))["link"]


def test_the_phone_shows_three_words_to_compare_before_the_owner_confirms(new_context, computer):
    new = Phone(new_context, computer)
    page, link = new.page, unconfirmed_link(computer)
    page.goto(link)
    page.get_by_text("Now on this device: choose its name").wait_for()
    new.picture("pair-name")
    new.check()
    with page.expect_request("**/join") as joined:
        page.get_by_role("button", name="Pair this device").click()
    heading = page.get_by_role("heading", name="Compare three words")
    heading.wait_for()
    assert heading.evaluate("(node) => node === document.activeElement")
    sealed = joined.value.post_data_json["sealed"]
    assert page.locator(".pairing-words li").all_inner_texts() == page.evaluate(WORDS, [link, sealed])
    page.get_by_text("Now at the computer: compare the words and confirm").wait_for()
    new.picture("pair-words")
    new.check()
    new.quiet()


def test_a_used_link_leads_to_a_new_one(new_context, computer):
    link = unconfirmed_link(computer)
    first, second = (Phone(new_context, computer, name=name) for name in ("First", "Second"))
    for one in (first, second):
        one.page.goto(link)
        one.page.get_by_role("button", name="Pair this device").click()
        if one is first:
            one.page.get_by_role("heading", name="Compare three words").wait_for()
    second.page.get_by_role("heading", name="This link no longer works").wait_for()
    second.page.get_by_text("create a new code on the computer").wait_for()
    second.page.get_by_label("Or paste the link here").wait_for()
    second.picture("pair-link-used")
    second.check()
    second.quiet()


def refused(new_context, site, script="", host="localhost"):
    """Opens the app with a pairing link, in a browser that `script` changes."""
    context = new_context(viewport={"width": 393, "height": 659}, service_workers="block")
    context.add_init_script(script)
    phone = Phone(new_context, site, context=context, host=host)
    phone.page.goto(f"{phone.address}/#pair=unused")
    return phone


def shows_nothing_else(phone, title):
    page = phone.page
    heading = page.get_by_role("heading", name=title)
    heading.wait_for()
    assert heading.evaluate("(node) => node === document.activeElement")
    assert page.title()
    assert page.locator("form, input").count() == 0
    assert page.locator("main").count() == 1
    phone.check()
    phone.quiet()


def test_an_address_that_is_not_secure_is_refused_with_what_to_do(new_context, site):
    # Reaches this computer, and no browser trusts it.
    phone = refused(new_context, site, host="0.0.0.0")
    assert phone.page.evaluate("() => isSecureContext") is False
    phone.page.get_by_text("On the computer, run “applocker pair”").wait_for()
    shows_nothing_else(phone, "This address is not secure")
    phone.picture("refused-address")


def test_a_browser_without_encryption_or_a_database_is_refused_by_what_it_lacks(new_context, site):
    phone = refused(
        new_context,
        site,
        """Object.defineProperty(Crypto.prototype, "subtle", { value: undefined });
        Object.defineProperty(window, "indexedDB", { value: null });""",
    )
    phone.page.get_by_text("It lacks or blocks: encryption (WebCrypto), a database (IndexedDB).").wait_for()
    shows_nothing_else(phone, "This browser can’t run this app")
    phone.picture("refused-browser")


def test_a_browser_that_blocks_the_sites_data_is_refused(new_context, site):
    phone = refused(
        new_context,
        site,
        """const get = () => { throw new DOMException("", "SecurityError"); };
        Object.defineProperty(window, "localStorage", { get });""",
    )
    phone.page.get_by_text("It lacks or blocks: storage for this site (localStorage).").wait_for()
    # The modules fail as well, which changes nothing.
    phone.noise.clear()
    shows_nothing_else(phone, "This browser can’t run this app")


def test_a_browser_that_cannot_read_the_modules_is_refused(new_context, site):
    site.changed["session/companion.js"] = b"export class Companion { a syntax that this browser does not have }"
    phone = refused(new_context, site)
    phone.page.get_by_role("heading", name="This browser is too old for this app").wait_for()
    phone.noise.clear()
    shows_nothing_else(phone, "This browser is too old for this app")


def test_an_app_that_does_not_load_can_be_loaded_again(new_context, site):
    phone = Phone(new_context, site)
    page = phone.page
    page.route("**/companion.js", lambda route: route.abort())
    page.goto(phone.address)
    page.get_by_role("heading", name="This app could not be loaded").wait_for()
    phone.check()
    page.unroute("**/companion.js")
    page.get_by_role("button", name="Try again").click()
    page.get_by_role("heading", name="Welcome to AppLocker").wait_for()
    phone.quiet()
