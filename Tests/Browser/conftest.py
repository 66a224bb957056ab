"""What the browsers' tests stand on. `phone` and `computer`: a paired phone and the computer behind it, both real, both the test's
own: a household is set up once for each worker, and copied for each test.

    .build/python/bin/pytest Tests/Browser -n 2
    .build/python/bin/pytest Tests/Browser -k test_a_deleted_note_comes_back"""

import contextlib
import pathlib
import re
import tempfile

import pytest
from playwright.sync_api import Error

import pages
import raw_chromium
import storage
from computer import Household
from phone import Phone
from vault_steps import Neighbours, Person

# The engine without windows: a test takes less than half the processor's time of the whole browser.
CHROMIUM = "/usr/bin/chromium-headless-shell"
FAILURES = pages.ROOT / ".build/browser-failures"
HAS_FAILED = pytest.StashKey()
ARGUMENTS = ["--no-sandbox", "--disable-dev-shm-usage"]


def pytest_addoption(parser):
    parser.addoption("--programs", default=str(pages.ROOT / ".build/debug"), help="the folder of the built programs")


@pytest.fixture(scope="session")
def programs(pytestconfig):
    return pathlib.Path(pytestconfig.getoption("--programs")).resolve()


@pytest.fixture(scope="session")
def browser_type_launch_args():
    return {"executable_path": CHROMIUM, "args": ARGUMENTS}


@pytest.fixture(scope="session")
def whole_chromium(playwright):
    """With all that belongs to a desktop: notifications, for instance, which the engine alone has not."""
    browser = playwright.chromium.launch(executable_path=raw_chromium.CHROMIUM, args=ARGUMENTS)
    yield browser
    browser.close()


@pytest.fixture(scope="session")
def household(programs, browser):
    """Set up, with one phone paired by its pages; `paired` is what that phone's browser kept."""
    with tempfile.TemporaryDirectory(prefix="applocker-browser-", ignore_cleanup_errors=True) as folder:
        household = Household(programs, pathlib.Path(folder))
        computer = household.first
        try:
            computer.set_up()
            context = browser.new_context(viewport={"width": 393, "height": 659}, has_touch=True, service_workers="block")
            context.add_init_script(f"({storage.REMEMBER_KEYS})()")
            phone = Phone(browser.new_context, computer, context=context).pair()
            phone.page.goto(phone.address + "/tests.html")
            household.paired = storage.take(phone.page)
            context.close()
        finally:
            computer.end()
        yield household


@pytest.fixture
def computer(request, household):
    """`@pytest.mark.computer_is_off`: its hub is there, and it comes with the first command."""
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
    """Opens contexts. If the test fails, a picture of each page and a trace are kept. pytest-playwright's own options cost more: they take
    the picture of a test that passes, too, and a trace of theirs records every change of the page."""
    contexts = []

    def new_context(**options):
        contexts.append(browser.new_context(**options))
        contexts[-1].tracing.start(title=request.node.name)
        return contexts[-1]

    yield new_context
    folder = FAILURES / re.sub(r"[^A-Za-z0-9]+", "-", request.node.nodeid)
    for number, context in enumerate(contexts):
        if HAS_FAILED in request.node.stash:
            with contextlib.suppress(Error):
                for index, page in enumerate(context.pages):
                    page.screenshot(path=folder / f"{number}-{index}.png", timeout=5_000)
                context.tracing.stop(path=folder / f"{number}-trace.zip")
        with contextlib.suppress(Error):
            context.close()


@pytest.fixture
def new_context(request, browser):
    with recorded(request, browser) as new_context:
        yield new_context


@pytest.fixture
def new_whole_context(request, whole_chromium):
    """As `new_context`, of the whole browser."""
    with recorded(request, whole_chromium) as new_context:
        yield new_context


@pytest.fixture
def phone(request, household, computer):
    """Paired, unlocked, on the first screen. What its pages complain about fails the test.

    `@pytest.mark.service_worker`: with the app's files kept on the device, which takes as long as everything else together.
    `@pytest.mark.clock`: time goes on by itself, and faster where the test says so: `phone.page.clock.fast_forward(60_000)`."""
    has_service_worker = request.node.get_closest_marker("service_worker") is not None
    # The engine alone ends a page whose worker sets the app's badge, as ours does when the person looks at the app.
    new_context = request.getfixturevalue("new_whole_context" if has_service_worker else "new_context")
    phone = Phone(
        new_context, computer, has_service_worker=has_service_worker, has_clock=request.node.get_closest_marker("clock") is not None)
    phone.begin(household.paired)
    yield phone
    phone.quiet()


@pytest.fixture(scope="session")
def neighbours(household, browser, tmp_path_factory):
    """Two households at one hub, for tests of shared vaults: `hub` is a copy of its own for each test, `anna`, `ben` and `cleo` are browsers."""
    return Neighbours(household, browser, tmp_path_factory.mktemp("neighbours"))


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
    """Another device of Anna's."""
    cleo = Person(new_context, hub, neighbours.cleo)
    yield cleo
    cleo.phone.quiet()
