"""The companion's files that a hub serves are compared with a package's, as in docs/operations.md."""

import re
import shutil
import subprocess

import pytest

import pages
from phone import Phone

pytestmark = pytest.mark.computer_is_off


def documented_comparison(package, computer):
    """Runs the two documented commands with this test's paths; returns the hashes of the package's files and of the
    hub's."""
    text = (pages.ROOT / "docs/operations.md").read_text()
    [block] = [block for block in re.findall(r"```sh\n(.*?)```", text, re.S) if "assets.json" in block]
    assert "/usr/share/applocker/web" in block and "https://hub.example" in block, block
    script = block.replace("/usr/share/applocker/web", str(package)).replace(
        "https://hub.example", f"http://127.0.0.1:{computer.port}"
    )
    output = subprocess.run(["sh", "-c", script], capture_output=True, text=True, timeout=60, check=True).stdout
    found = re.findall(r"\b[0-9a-f]{64}\b", output)
    assert len(found) == 2, output
    return found


def test_the_documented_comparison_finds_one_changed_byte(computer, tmp_path):
    package, served = tmp_path / "package", tmp_path / "served"
    for folder in (package, served):
        shutil.copytree(computer.web, folder)

    def comparison():
        computer.stop_hub()
        computer.start_hub(served)
        return documented_comparison(package, computer)

    before = comparison()
    assert before[0] == before[1], "the hub serves other files than the package has"
    file = served / "session/companion.js"
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)
    after = comparison()
    assert after[0] == before[0] and after[1] != before[1], "the changed byte is not detected"


def test_the_first_load_fits_its_budget(new_context, computer):
    """What a new browser fetches for its first page, compressed, with headers (docs/benchmarks.md). The list of files,
    which the service worker needs, is requested after it."""
    phone = Phone(new_context, computer)
    requests = []
    phone.page.on("requestfinished", lambda request: requests.append(request))
    phone.page.goto(phone.address)
    phone.page.get_by_role("heading", name="Welcome to AppLocker").wait_for()
    sizes = [request.sizes() for request in requests if "/assets.json" not in request.url]
    size = sum(one["responseHeadersSize"] + one["responseBodySize"] for one in sizes)
    assert 50 < len(sizes) <= 110, f"{len(sizes)} files"
    assert 50_000 < size < 150_000, f"{size} bytes"


def test_a_paired_device_loads_its_pages_beside_the_rest_of_the_app(phone):
    """One after the other takes a fifth longer, which is seen each time that the app is opened (docs/benchmarks.md)."""
    page = phone.page
    page.route("**/app.js", lambda route: route.abort())
    with page.expect_request("**/shell/paired.js"), page.expect_request("**/styles/launch.css"):
        page.reload()
    page.unroute("**/app.js")
    page.reload()
    page.get_by_role("heading", name="AppLocker is locked").wait_for()


def test_a_screen_without_its_stylesheet_is_not_drawn_until_it_can_be_loaded(phone):
    page = phone.page
    page.route("**/styles/vault.css", lambda route: route.abort())
    phone.go("notes", "Screen unavailable")
    page.get_by_text("This screen has not been loaded yet").wait_for()
    page.unroute("**/styles/vault.css")
    page.get_by_role("button", name="Try again").click()
    page.get_by_role("heading", name="Notes", level=1).wait_for()
    assert page.locator("link[href='/styles/vault.css']").count() == 1
