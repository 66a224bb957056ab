"""Fixtures of the browser tests. `phone` and `computer` are a paired phone and its computer, both real and created for
each test: a household is set up once a worker and copied for each test.

    .build/python/bin/pytest Tests/Browser -n 2
    .build/python/bin/pytest Tests/Browser -k test_a_deleted_note_is_restored"""

import contextlib
import os
import pathlib
import re
import shutil
import sys
import tempfile
import time

import pytest
from playwright.sync_api import Error

import pages
import raw_chromium
import requirements
import storage
from computer import Computer, Household
from founding_steps import PhoneHub
from moment_devices import Device
from phone import Phone
from vault_steps import Neighbours, Person

# The engine without windows: a test needs less than half the processor time of the whole browser.
CHROMIUM = "/usr/bin/chromium-headless-shell"
FAILURES = pages.ROOT / ".build/browser-failures"
HAS_FAILED = pytest.StashKey()
# A microphone that beeps every second.
ARGUMENTS = ["--no-sandbox", "--disable-dev-shm-usage", "--use-fake-device-for-media-stream"]
# In these tests it is midday, on the same date as in UTC: none runs over midnight.
os.environ["TZ"] = f"Etc/GMT{time.gmtime().tm_hour - 12:+d}"
time.tzset()
# Text is as wide on every computer.
ENVIRONMENT = {**os.environ, "FONTCONFIG_FILE": str(pathlib.Path(__file__).parent / "support/fonts.conf")}


def pytest_addoption(parser):
    parser.addoption("--programs", default=str(pages.ROOT / ".build/debug"), help="the folder of the built programs")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    if item.get_closest_marker("root") and not requirements.has_root(item.nodeid):
        pytest.skip("needs root")


@pytest.fixture(scope="session")
def programs(pytestconfig):
    return pathlib.Path(pytestconfig.getoption("--programs")).resolve()


@pytest.fixture(scope="session")
def browser_type_launch_args():
    return {"executable_path": CHROMIUM, "args": ARGUMENTS, "env": ENVIRONMENT}


@pytest.fixture(scope="session")
def whole_chromium(playwright):
    """Chromium with desktop features that the headless shell lacks, such as notifications."""
    browser = playwright.chromium.launch(executable_path=raw_chromium.CHROMIUM, args=ARGUMENTS, env=ENVIRONMENT)
    yield browser
    browser.close()


@pytest.fixture(scope="session")
def household(programs, browser):
    """Set up, with one phone paired through its pages; `paired` is the stored data of that phone's browser."""
    with tempfile.TemporaryDirectory(prefix="applocker-browser-", ignore_cleanup_errors=True) as folder:
        household = Household(programs, pathlib.Path(folder))
        computer = household.first
        try:
            computer.set_up()
            context = storage.companion_context(
                browser.new_context,
                remembers_keys=True,
                viewport={"width": 393, "height": 659},
                has_touch=True,
                service_workers="block",
            )
            phone = Phone(browser.new_context, computer, context=context).pair()
            # Its first synchronisation would continue in each test otherwise.
            phone.page.locator(".home-status").wait_for()
            phone.page.goto(phone.address + "/tests.html")
            household.paired = storage.dump(phone.page)
            context.close()
        finally:
            computer.end()
        yield household


@pytest.fixture
def computer(request, household):
    """With `@pytest.mark.computer_is_off` only its hub runs, until the first command starts AppLocker."""
    with household.copy(is_on=request.node.get_closest_marker("computer_is_off") is None) as computer:
        yield computer


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    if report.failed:
        item.stash[HAS_FAILED] = True
    return report


@contextlib.contextmanager
def recorded(request, browser):
    """Creates contexts. If the test fails, a screenshot of each page and a trace are kept. pytest-playwright's own
    options cost more: they also take screenshots of tests that pass, and their traces record every change of the
    page."""
    contexts = []

    def new_context(**options):
        contexts.append(browser.new_context(**options))
        contexts[-1].tracing.start(title=request.node.name)
        return contexts[-1]

    yield new_context
    folder = FAILURES / re.sub(r"[^A-Za-z0-9]+", "-", request.node.nodeid)
    has_failed = HAS_FAILED in request.node.stash
    for number, context in enumerate(contexts):
        if has_failed:
            with contextlib.suppress(Error):
                for index, page in enumerate(context.pages):
                    page.screenshot(path=folder / f"{number}-{index}.png", timeout=5_000)
        with contextlib.suppress(Error):
            # A trace that nothing stops stays in the temporary directory.
            context.tracing.stop(path=folder / f"{number}-trace.zip" if has_failed else None)
        with contextlib.suppress(Error):
            context.close()


@pytest.fixture
def new_context(request, browser):
    with recorded(request, browser) as new_context:
        yield new_context


@pytest.fixture
def new_whole_context(request, whole_chromium):
    """As `new_context`, in the whole browser."""
    with recorded(request, whole_chromium) as new_context:
        yield new_context


@pytest.fixture
def phone(request, household, computer):
    """Paired, unlocked, on the first screen. Errors on the console of its pages fail the test.

    `@pytest.mark.service_worker`: the app's files are cached by its service worker, which takes as long as the rest of
    the setup. `@pytest.mark.clock`: Playwright controls the clock; it runs by itself, and the test can advance it with
    `phone.page.clock.fast_forward(60_000)`."""
    has_service_worker = request.node.get_closest_marker("service_worker") is not None
    # The headless shell crashes a page whose worker sets the app's badge, as AppLocker's does when the app is opened.
    new_context = request.getfixturevalue("new_whole_context" if has_service_worker else "new_context")
    sharp = request.node.get_closest_marker("sharp")
    phone = Phone(
        new_context,
        computer,
        has_service_worker=has_service_worker,
        has_clock=request.node.get_closest_marker("clock") is not None,
        is_sharp=sharp is not None,
        zone=sharp.kwargs.get("zone") if sharp else None,
    )
    phone.begin(household.paired)
    yield phone
    phone.quiet()


@pytest.fixture
def site():
    """The companion's files alone, without a hub."""
    site = pages.Site()
    yield site
    site.stop()


@pytest.fixture
def companion(new_context, household, computer):
    """The paired phone's browser without its screens. It connects to the address that the hub has for the whole
    worker."""
    return Device(new_context, household.first, household.paired)


@pytest.fixture(scope="session")
def neighbours(household, browser, tmp_path_factory):
    """Two households at one hub, for tests of shared vaults: `hub` is copied for each test; `anna`, `ben` and `cleo`
    are browsers."""
    return Neighbours(household, browser, tmp_path_factory.mktemp("neighbours"))


@pytest.fixture
def phone_hub(programs, tmp_path):
    """Starts hubs without any computer; the argument is as of `PhoneHub`."""
    hubs = []

    def start(registration="open", options=()):
        hubs.append(PhoneHub(programs, tmp_path / f"hub-{len(hubs)}" / "state", registration, options=options))
        return hubs[-1]

    yield start
    for hub in hubs:
        hub.end()


@pytest.fixture
def postgres():
    """A PostgreSQL server of the test's own, with an empty database."""
    sys.path.append(str(pages.ROOT / "Benchmarks/hub"))
    from postgres import PostgresServer

    # Its ordinary user can't read a directory below pytest's.
    with (
        tempfile.TemporaryDirectory(prefix="applocker-postgres-") as folder,
        PostgresServer(pathlib.Path(folder) / "server") as server,
    ):
        yield server


@pytest.fixture
def hub(neighbours):
    with neighbours.hub() as hub:
        yield hub


@pytest.fixture
def anna(new_context, neighbours, hub):
    anna = Person(new_context, hub, neighbours.anna)
    yield anna
    anna.phone.quiet()


@pytest.fixture
def ben(new_context, neighbours, hub):
    ben = Person(new_context, hub, neighbours.ben)
    yield ben
    ben.phone.quiet()


@pytest.fixture
def cleo(new_context, neighbours, hub):
    """A second device of Anna."""
    cleo = Person(new_context, hub, neighbours.cleo)
    yield cleo
    cleo.phone.quiet()


@pytest.fixture
def computer_of_ben(neighbours, hub, tmp_path):
    """Ben's computer with its earlier state, at the hub of both households."""
    computer = Computer(neighbours.programs, tmp_path / "ben", hub.port)
    shutil.copytree(neighbours.folder / "ben", computer.folder, ignore=shutil.ignore_patterns("*.sock"))
    try:
        computer.turn_on()
        yield computer
    finally:
        computer.end()
