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
