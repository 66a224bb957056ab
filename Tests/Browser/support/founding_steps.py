"""Steps of the tests of households that phones found: a hub without any computer, and phones at it."""

import json
import subprocess

from computer import Computer
from phone import IPHONE, Phone

# A scanner that sees what `code` contains. The headless shell has none, and no camera.
SCANNER = """
window.BarcodeDetector = class { async detect() { return window.code ? [{ rawValue: window.code }] : []; } };
navigator.mediaDevices.getUserMedia = async () => document.createElement("canvas").captureStream();
HTMLMediaElement.prototype.play = async () => {};
"""


class PhoneHub(Computer):
    """A hub alone. `registration`: who may found a household from a browser, whose requests are never local.
    `options`: others of `applocker-hub serve`."""

    def __init__(self, programs, folder, registration="open", port=None, options=()):
        super().__init__(programs, folder, port)
        self.hub_options = ["--registration", registration, *options]
        folder.mkdir(parents=True, exist_ok=True)
        self.start_hub()

    def start_link(self):
        """What `applocker-hub invite` prints: it works once."""
        command = [self.programs / "applocker-hub", "invite", "--state", self.folder / "hub", "--json"]
        command += ["--address", f"http://127.0.0.1:{self.port}"]
        made = subprocess.run(command, env=self.environment, capture_output=True, text=True, timeout=30, check=True)
        return json.loads(made.stdout)["link"]


def new_phone(new_context, hub, name, size=IPHONE):
    phone = Phone(new_context, hub, size, name=name)
    phone.context.add_init_script(SCANNER)
    return phone


def chooses_pin(phone):
    phone.page.get_by_role("heading", name="Choose a PIN").wait_for()
    phone.type_pin()
    phone.page.get_by_role("heading", name="Repeat the PIN").wait_for()
    phone.type_pin()


def names_itself(phone, action="Continue"):
    phone.page.get_by_label("Name of this device").fill(phone.name)
    phone.page.get_by_role("button", name=action).click()


def founds(phone, link=None):
    """Founds a household through the pages; ends at the sheet, which is not used yet."""
    page = phone.page
    page.goto(link or phone.address)
    if not link:
        page.get_by_role("button", name="Start Everline").click()
    page.get_by_role("heading", name="Start Everline").wait_for()
    names_itself(phone)
    chooses_pin(phone)
    page.get_by_role("heading", name="Recovery sheet", level=1).wait_for()
    return phone


def uses_sheet(phone):
    """Verifies the shown sheet as from paper. Returns its code and its link, as another program reads it from the
    picture."""
    page = phone.page
    groups = page.locator(".recovery-paper-code li").all_text_contents()
    assert len(groups) == 9, groups
    link = code_in(page.locator(".recovery-paper .qr-code").screenshot())
    fields = page.locator(".recovery-groups input")
    assert fields.count() == 2
    for field in fields.all():
        number = int(field.get_attribute("name").removeprefix("group-"))
        field.fill(groups[number - 1].lower())
    page.get_by_role("button", name="Use this sheet").click()
    return "-".join(groups), link


def code_in(picture):
    """What zbarimg reads in a picture."""
    read = subprocess.run(["zbarimg", "-q", "--raw", "-"], input=picture, capture_output=True, timeout=30, check=True)
    return read.stdout.decode().strip()


def with_everline(new_context, hub, name="Anna's phone", link=None):
    """A phone that founded a household, with its sheet, in Everline; returns it with the sheet's code and link."""
    phone = founds(new_phone(new_context, hub, name), link)
    sheet = uses_sheet(phone)
    phone.page.get_by_role("heading", name="Everline", level=1).wait_for()
    return phone, *sheet


def recovers(phone, link=None, code=None):
    """Opens everything with a sheet; ends at the devices."""
    page = phone.page
    page.goto(link or phone.address)
    if code:
        page.get_by_role("button", name="Use a recovery sheet").click()
        page.get_by_label("Code on the sheet").fill(code)
    page.get_by_role("heading", name="Use your recovery sheet").wait_for()
    names_itself(phone, "Open everything here")
    chooses_pin(phone)
    page.get_by_role("heading", name="Devices", level=1).wait_for()
    return phone


def shared_vault(phone, name="Ours"):
    """Creates a shared vault and invites; returns the link."""
    page = phone.page
    phone.go("home", "Home")
    page.get_by_role("link", name="Invite your partner").click()
    page.get_by_role("button", name="New shared vault").click()
    page.get_by_label("Name").fill(name)
    page.get_by_role("button", name="Create").click()
    page.get_by_role("heading", name="Members").wait_for()
    page.get_by_role("button", name="Invite a device").click()
    phone.type_pin()
    page.locator(".sharing-link").wait_for()
    return page.locator(".sharing-link").text_content()


def words_on(page):
    words = page.locator(".pairing-words li")
    words.nth(2).wait_for()
    return words.all_text_contents()


def titles(phone):
    return phone.inside("return (await companion.moments.list()).moments.map(({ title }) => title).sort();")
