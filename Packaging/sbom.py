#!/usr/bin/python3
"""Writes a package's software bill of materials (CycloneDX 1.5, JSON) to standard output:

    sbom.py PROGRAMS RESOLVED PACKAGE VERSION [PROGRAM...]

It lists the Swift packages with code in a PROGRAM of the build directory PROGRAMS, by the linker's input files, with
their versions in Package.resolved, and Swift's own libraries, by the version of the compiler ($SWIFT). The output
depends only on these and on SOURCE_DATE_EPOCH."""

import datetime
import json
import os
import pathlib
import re
import subprocess
import sys

# The repositories of swift.org whose libraries a toolchain contains. All have one tag a release.
RUNTIME = {
    "swift": "Apache-2.0 WITH Swift-exception",
    "swift-corelibs-foundation": "Apache-2.0 WITH Swift-exception",
    "swift-corelibs-libdispatch": "Apache-2.0 WITH Swift-exception",
    "swift-foundation": "Apache-2.0 WITH Swift-exception",
    "swift-foundation-icu": "Unicode-3.0",
}


def checkout_of(module):
    """The name of the checkout that has a module's sources, or None for a module of AppLocker's own."""
    lists = [module / "sources"] if (module / "sources").exists() else sorted(module.rglob("*.d"))
    for file in lists:
        text = file.read_text()
        # Dependencies of a C file begin with the file itself; headers of other packages follow.
        if found := re.search(r"/checkouts/([^/\s]+)/", text if file.name == "sources" else text.split(".c", 1)[0]):
            return found[1]
        return None
    sys.exit(f"{module} does not show where its sources are.")


def linked_checkouts(directory, program):
    files = directory / f"{program}.product" / "Objects.LinkFileList"
    if not files.exists():
        sys.exit(f"{files} is missing: {directory} is not a build directory of SwiftPM.")
    modules = set(re.findall(r"([^/\s]+\.build)/", files.read_text()))
    return {checkout_of(directory / module) for module in modules} - {None}


def swift_packages(directory, resolved, programs):
    names = {name for program in programs for name in linked_checkouts(directory, program)}
    for pin in json.loads(resolved.read_text())["pins"]:
        path = pin["location"].removeprefix("https://").removesuffix(".git")
        name = path.rsplit("/", 1)[1]
        if name not in names:
            continue
        names.remove(name)
        version = pin["state"]["version"]
        purl = f"pkg:swift/{path}@{version}"
        yield {"type": "library", "bom-ref": purl, "name": name, "version": version, "purl": purl}
    if names:
        sys.exit(f"Package.resolved lacks {', '.join(sorted(names))}.")


def runtime_libraries():
    swift = os.environ.get("SWIFT", "swift")
    words = subprocess.run([swift, "--version"], check=True, capture_output=True, text=True).stdout
    tag = re.search(r"\((swift-[^)\s]+)[\s)]", words)[1]
    version = re.search(r"Swift version (\S+)", words)[1]
    for name, license in RUNTIME.items():
        purl = f"pkg:github/swiftlang/{name}@{tag}"
        component = {"type": "library", "bom-ref": purl, "name": name, "version": version, "purl": purl}
        yield component | {"licenses": [{"expression": license}]}


def main():
    directory, resolved = map(pathlib.Path, sys.argv[1:3])
    package, version, programs = sys.argv[3], sys.argv[4], sys.argv[5:]
    components = sorted(
        [*swift_packages(directory, resolved, programs), *runtime_libraries()], key=lambda component: component["purl"]
    )
    date = datetime.datetime.fromtimestamp(int(os.environ["SOURCE_DATE_EPOCH"]), datetime.UTC)
    purl = f"pkg:generic/{package}@{version}"
    bill = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {
            "timestamp": date.strftime("%Y-%m-%dT%H:%M:%SZ"),
            "component": {
                "type": "application",
                "bom-ref": purl,
                "name": package,
                "version": version,
                "purl": purl,
                "licenses": [{"license": {"id": "Apache-2.0"}}],
            },
        },
        "components": components,
        "dependencies": [{"ref": purl, "dependsOn": [component["bom-ref"] for component in components]}],
    }
    print(json.dumps(bill, indent=2))


main()
