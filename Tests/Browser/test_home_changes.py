"""Home while its data changes."""

from waiting import eventually

# From now on, reading the chosen computer never completes; `window.isHeld` is true once reading has started.
HOLD = """async () => {
    const { CompanionStore } = await import("/store/store.js");
    const read = CompanionStore.prototype.fact;
    window.isHeld = false;
    CompanionStore.prototype.fact = function (name, ...rest) {
        if (name !== "chosenComputer") return read.call(this, name, ...rest);
        window.isHeld = true;
        return new Promise(() => {});
    };
}"""


def test_home_renders_completely_while_a_report_is_read(phone, computer):
    page = phone.page
    page.locator(".home-main").get_by_role("heading").first.wait_for()
    page.evaluate(HOLD)
    computer.expect("unlock", "diary", passcode=True)
    eventually(lambda: page.evaluate("isHeld"), "the computer's report is being read")
    computer.stop_hub()
    # The disconnect draws the card again, with the earlier data.
    page.get_by_text("Last seen").first.wait_for()
    assert phone.noise == []
