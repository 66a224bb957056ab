"""A phone is paired with the window: its camera reads the code from the screen, and both show the same words."""

from desktop_window import desktop_window
from founding_steps import chooses_pin
from phone import Phone
from waiting import eventually


def test_a_phone_scans_the_windows_code_and_both_show_the_same_words(new_context, computer, tmp_path):
    with desktop_window(computer, tmp_path / "desktop") as window:
        window.keys("alt+8")
        window.press("Show Code")
        # The hub of this test can be reached from this machine alone.
        window.awaits("only this computer reaches it")
        window.press("Show Code Anyway")
        window.enter_passcode()
        window.awaits("Scan this with the phone’s camera")
        links = []
        eventually(lambda: links.append(window.scanned()) or links[-1], "a code is on the screen")
        link = links[-1]
        assert link.startswith(f"http://127.0.0.1:{computer.port}/#")
        phone = Phone(new_context, computer, name="Ben's phone")
        phone.page.goto(link)
        phone.page.get_by_label("Name of this device").fill(phone.name)
        phone.page.get_by_role("button", name="Pair this device").click()
        words = phone.page.locator(".pairing-words li")
        words.first.wait_for()
        window.awaits("Ben's phone shows three words.")
        assert " ".join(words.all_inner_texts()) in window.texts()
        window.press("They Are the Same")
        window.enter_passcode("Pair")
        chooses_pin(phone)
        phone.page.get_by_role("heading", name="Home", level=1).wait_for()
        window.awaits("Ben's phone is paired.")
        names = [device["name"] for device in computer.asked("/v1/devices")["devices"]]
        assert "Ben's phone" in names
        phone.quiet()
