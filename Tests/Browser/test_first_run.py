"""The first minutes on a phone, from the pairing link to the owner's confirmation at the computer."""

import json

import storage
from phone import Phone
from waiting import eventually

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
    return json.loads(computer.expect("pair", "--json", "--unchecked", "--no-wait", passcode=True))["link"]


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


def test_a_typed_code_pairs_and_each_group_is_checked_as_it_is_typed(new_context, computer):
    made = json.loads(computer.expect("pair", "--json", "--unchecked", "--no-wait", passcode=True))
    new = Phone(new_context, computer)
    page = new.page
    page.goto(new.address)
    page.get_by_role("button", name="Connect to my computer").click()
    page.get_by_role("button", name="Type the code").click()
    field, go = page.get_by_role("textbox", name="Code"), page.get_by_role("button", name="Continue").last
    first, second, *rest = made["code"].split("-")
    # Its check digit: another digit would leave one in 32 codes without a mistake to find.
    wrong = second[:-1] + ("1" if second[-1] != "1" else "2")
    field.press_sequentially(first.lower() + wrong)
    page.get_by_text("Group 2 of the code has a typing mistake.").wait_for()
    assert field.input_value().lower() == f"{first}-{wrong}".lower()
    new.picture("pair-code-mistake")
    new.check()
    field.fill(f"{first} {wrong} {' '.join(rest)}")
    eventually(go.is_disabled)
    field.fill(made["code"])
    page.get_by_text("typing mistake").wait_for(state="detached")
    with page.expect_request("**/join") as joined:
        go.click()
        page.get_by_role("button", name="Pair this device").click()
    page.get_by_role("heading", name="Compare three words").wait_for()
    # The computer opens what was sealed with the secret of its own link.
    sealed = joined.value.post_data_json["sealed"]
    assert page.locator(".pairing-words li").all_inner_texts() == page.evaluate(WORDS, [made["link"], sealed])
    new.quiet()


def test_a_code_that_no_computer_made_is_refused_in_words(new_context, computer):
    new = Phone(new_context, computer)
    page = new.page
    page.goto(new.address)
    page.get_by_role("button", name="Connect to my computer").click()
    page.get_by_role("button", name="Type the code").click()
    # All digits are right: it is a published vector.
    page.get_by_role("textbox", name="Code").fill("HK3D3-TPD1F-YZAW0-2692V")
    page.get_by_role("button", name="Continue").last.click()
    page.get_by_text("This hub has no invitation with this code").wait_for()
    new.picture("pair-code-unknown")
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
    second.page.get_by_text("create a new code on").wait_for()
    second.page.get_by_label("Or paste the link here").wait_for()
    second.picture("pair-link-used")
    second.check()
    second.quiet()


def test_a_short_pin_is_chosen_after_its_risk_was_shown(new_context, computer):
    new = Phone(new_context, computer)
    page = new.page
    page.goto(computer.pair())
    page.get_by_role("button", name="Pair this device").click()
    page.get_by_role("heading", name="Choose a PIN").wait_for()
    new.picture("first-pin")
    new.type_pin("7391")
    question = page.get_by_role("dialog", name="Use 4 digits?")
    question.get_by_text("10 of 10,000 PINs before this device must be paired again, a chance of 1 in 1,000").wait_for()
    new.picture("first-pin-short")
    new.check()
    question.get_by_role("button", name="Cancel").click()
    question.wait_for(state="detached")
    page.get_by_role("heading", name="Choose a PIN").wait_for()
    new.type_pin("7391")
    question.get_by_role("button", name="Use this PIN").click()
    page.get_by_role("heading", name="Repeat the PIN").wait_for()
    new.type_pin("7391")
    page.get_by_role("heading", name="Home", level=1).wait_for()
    new.lock()
    new.unlock("7391")
    new.quiet()


IPHONE_AGENT = (
    "Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) "
    "Version/18.1 Mobile/15E148 Safari/604.1"
)


def iphone(new_context, computer, standalone):
    """An iPhone, as far as a page sees it. A tab and the app on the Home Screen have separate storage, so each one is
    a context of its own."""
    context = storage.companion_context(
        new_context, viewport={"width": 393, "height": 659}, user_agent=IPHONE_AGENT, service_workers="block"
    )
    context.add_init_script(f"Object.defineProperty(navigator, 'standalone', {{ value: {json.dumps(standalone)} }});")
    return Phone(new_context, computer, context=context)


def test_on_an_iphone_the_app_is_installed_first_and_begins_with_the_unused_link(new_context, computer):
    link = computer.pair()
    tab = iphone(new_context, computer, standalone=False)
    joined = []
    tab.page.on("request", lambda request: joined.append(request.url) if request.url.endswith("/join") else None)
    tab.page.goto(link)
    tab.page.get_by_role("heading", name="Add AppLocker to the Home Screen first").wait_for()
    tab.page.get_by_text("It continues with this link").wait_for()
    tab.check()
    tab.picture("install-first")
    # As the specification of manifests, WebKit and Chromium use the page's address where there is no start_url.
    manifest = tab.context.new_cdp_session(tab.page).send("Page.getAppManifest")
    assert manifest["url"].endswith("/install.webmanifest") and manifest["errors"] == []
    start = manifest["manifest"]["startUrl"]
    assert start == link
    assert joined == []
    tab.quiet()

    app = iphone(new_context, computer, standalone=True)
    page = app.page
    page.goto(start)
    page.get_by_label("Name of this device").wait_for()
    assert "#pair=" not in page.url
    page.get_by_role("button", name="Pair this device").click()
    page.get_by_role("heading", name="Choose a PIN").wait_for()
    app.type_pin()
    page.get_by_role("heading", name="Repeat the PIN").wait_for()
    app.type_pin()
    page.get_by_role("heading", name="Home", level=1).wait_for()
    # The icon keeps its address.
    for _ in range(2):
        page.goto("about:blank")
        page.goto(start)
        page.get_by_role("heading", name="AppLocker is locked").wait_for()
        assert "#pair=" not in page.url
    # Even for a device that has lost its data, the link is no longer valid.
    page.goto(f"{app.address}/assets.json")
    page.evaluate("""() => new Promise((resolve) => {
        indexedDB.deleteDatabase("applocker").onsuccess = resolve;
    })""")
    page.goto("about:blank")
    page.goto(start)
    page.get_by_role("heading", name="This browser lost AppLocker’s data").wait_for()
    app.quiet()


def test_a_tab_on_an_iphone_can_be_paired_after_all(new_context, computer):
    tab = iphone(new_context, computer, standalone=False)
    page = tab.page
    page.goto(computer.pair())
    page.get_by_text("has to be set up again, and this tab gets no notifications").wait_for()
    page.get_by_role("button", name="Continue in this tab").click()
    page.get_by_label("Name of this device").wait_for()
    assert "#pair=" not in page.url
    assert page.evaluate("() => document.querySelector('link[rel=manifest]').getAttribute('href')") == (
        "/app.webmanifest"
    )
    page.get_by_role("button", name="Pair this device").click()
    page.get_by_role("heading", name="Choose a PIN").wait_for()
    tab.quiet()


FAKE_SCANNER = """
window.stopped = 0;
window.code = "https://example.org/";
window.detections = 0;
window.BarcodeDetector = class {
    async detect() {
        window.detections += 1;
        return [{ rawValue: window.code }];
    }
};
navigator.mediaDevices.getUserMedia = async () => {
    const stream = document.createElement("canvas").captureStream();
    const [track] = stream.getTracks();
    const stop = track.stop.bind(track);
    track.stop = () => { window.stopped += 1; stop(); };
    return stream;
};
HTMLMediaElement.prototype.play = async () => {};
"""


def test_a_code_is_scanned_and_the_camera_ends(new_context, site):
    context = new_context(viewport={"width": 393, "height": 659}, service_workers="block")
    context.add_init_script(FAKE_SCANNER)
    new = Phone(new_context, site, context=context)
    page = new.page
    page.goto(new.address)
    page.get_by_role("button", name="Connect to my computer").click()
    page.get_by_role("button", name="Scan the code").click()
    page.get_by_text("Hold the code in front of the camera").wait_for()
    new.picture("scan")
    new.check()
    page.get_by_role("button", name="Cancel").click()
    page.wait_for_function("() => window.stopped === 1")
    page.evaluate("() => { window.detections = 0; }")
    page.get_by_role("button", name="Scan the code").click()
    # Codes of something else are passed over: the scanner searches again after the first.
    page.wait_for_function("() => window.detections >= 2")
    assert page.get_by_text("Hold the code in front of the camera").is_visible()
    page.evaluate("() => { window.code = `${location.origin}/#pair=AAAA`; }")
    page.get_by_label("Name of this device").wait_for()
    assert page.evaluate("() => [window.stopped, location.hash]") == [2, ""]
    new.quiet()


def test_a_link_is_pasted(new_context, site):
    context = new_context(viewport={"width": 393, "height": 659}, service_workers="block")
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    new = Phone(new_context, site, context=context)
    page = new.page
    page.goto(new.address)
    page.get_by_role("button", name="Connect to my computer").click()
    page.evaluate("() => navigator.clipboard.writeText('nothing')")
    page.get_by_role("button", name="Paste the link").click()
    page.get_by_text("This is not a pairing link").wait_for()
    page.evaluate("() => navigator.clipboard.writeText(`${location.origin}/#pair=AAAA`)")
    page.get_by_role("button", name="Paste the link").click()
    page.get_by_label("Name of this device").wait_for()
    new.quiet()


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
