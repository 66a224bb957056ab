"""The companion's files that a hub serves are compared with a package's, as in docs/operations.md."""

import re
import shutil
import subprocess

import pytest

import pages

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
