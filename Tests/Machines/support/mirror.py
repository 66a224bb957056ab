"""Packages of Debian, from the mirror that apt's own sources name."""

import pathlib
import re
import subprocess

from cache import CACHE

KEYRING = pathlib.Path("/usr/share/keyrings/debian-archive-keyring.gpg")
SOURCES = pathlib.Path("/etc/apt")


def mirror():
    """The address of the Debian mirror, or None."""
    own = re.search(r"^VERSION_CODENAME=(\S+)", pathlib.Path("/etc/os-release").read_text(), re.MULTILINE)
    for address, suites in entries():
        if own and own[1] in suites:
            return address
    return None


def entries():
    """(address, suites) of each source, from both of apt's formats."""
    for file in sorted([*SOURCES.glob("sources.list"), *SOURCES.glob("sources.list.d/*.list")]):
        for match in re.finditer(r"^deb\s+(?:\[.*?\]\s+)?(\S+)\s+(\S+)", file.read_text(), re.MULTILINE):
            yield match[1], [match[2]]
    for file in sorted(SOURCES.glob("sources.list.d/*.sources")):
        for stanza in re.split(r"\n\s*\n", re.sub(r"^#.*\n", "", file.read_text(), flags=re.MULTILINE)):
            fields = dict(re.findall(r"^([A-Za-z-]+):[ \t]*(.*)$", stanza, re.MULTILINE))
            if "deb" in fields.get("Types", "").split() and fields.get("Enabled", "yes") != "no":
                for address in fields.get("URIs", "").split():
                    yield address, fields.get("Suites", "").split()


class MirrorError(Exception):
    pass


class Suite:
    """A release of Debian. Its index is kept apart from this machine's own."""

    def __init__(self, name):
        self.name = name
        folder = CACHE / "apt" / name
        for part in ("lists/partial", "cache/archives/partial"):
            (folder / part).mkdir(parents=True, exist_ok=True)
        source = folder / "sources.list"
        source.write_text(f"deb [signed-by={KEYRING}] {mirror()} {name} main\n")
        self.options = [
            f"-oDir::Etc::SourceList={source}",
            "-oDir::Etc::SourceParts=/dev/null",
            f"-oDir::State::Lists={folder}/lists",
            f"-oDir::Cache={folder}/cache",
            "-oAPT::Sandbox::User=root",
            "-oAcquire::Languages=none",
        ]
        self.apt("apt-get", "update", "-q")

    def apt(self, program, *arguments, folder=None):
        command = [program, *self.options, *arguments]
        result = subprocess.run(command, cwd=folder, capture_output=True, text=True)
        if result.returncode != 0:
            raise MirrorError(f"{program} {' '.join(arguments)} failed for {self.name}: {result.stderr.strip()[-500:]}")
        return result.stdout

    def dependency(self, package):
        """The first package that a package without content of its own depends on."""
        return re.search(r"^Depends: (\S+)", self.apt("apt-cache", "show", package), re.MULTILINE)[1]

    def download(self, package, folder):
        self.apt("apt-get", "download", "-q", package, folder=folder)
        return next(folder.glob(f"{package}_*.deb"))
