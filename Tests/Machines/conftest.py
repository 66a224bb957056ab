"""Fixtures of the tests in virtual machines, which run Debian's own kernels with systemd, logind and polkit.

    Scripts/vm                          everything
    Scripts/vm --short                  kernel 6.1, five checks
    Scripts/vm -k suspend --kernel 6.12

`machine` is one that continues from a saved state, in which AppLocker is installed, has a passcode and locks two apps.
The first run builds that state in .build/machines, and again whenever something that it is made of has changed."""

import functools
import os
import pathlib
import shutil

import pytest

import packages
import requirements
from applocker import AppLocker
from cache import CACHE, locked
from kernel import SUITES, Kernel
from mirror import MirrorError
from saved import SavedState

# Each line once.
NOT_SHOWN = {}


def pytest_addoption(parser):
    parser.addoption("--packages", help="the folder of AppLocker's packages; the newest version is used")
    parser.addoption("--kernel", action="append", choices=SUITES, help="the default is 6.1 and 6.12")
    parser.addoption("--short", action="store_true", help="five checks on kernel 6.1")
    parser.addoption("--long", action="store_true", help="suspend twenty times instead of twice")


def pytest_configure(config):
    if config.option.short:
        config.option.markexpr = "short"
    config.kernels = config.option.kernel or (["6.1"] if config.option.short else ["6.1", "6.12"])
    if not config.option.short and not config.option.kernel:
        config.kernels.append("trixie")


def pytest_generate_tests(metafunc):
    if "kernel_name" in metafunc.fixturenames:
        names = metafunc.config.kernels
        if not metafunc.config.option.kernel and not metafunc.definition.get_closest_marker("every_kernel"):
            names = [name for name in names if name != "trixie"]
        if only := metafunc.definition.get_closest_marker("only_kernel"):
            names = [name for name in names if name in only.args]
        metafunc.parametrize("kernel_name", names)
    if "repetition" in metafunc.fixturenames:
        options = metafunc.config.option
        metafunc.parametrize("repetition", range(1, 1 + (20 if options.long else 1 if options.short else 2)))


@pytest.fixture
def seen(request):
    """Prints what a test saw, one line for each."""
    reporter = request.config.pluginmanager.get_plugin("terminalreporter")
    capture = request.config.pluginmanager.get_plugin("capturemanager")

    def write(line):
        with capture.global_and_fixture_disabled():
            reporter.ensure_newline()
            reporter.write_line(f"  seen: {line}")

    return write


@pytest.fixture
def cannot(request):
    """Counts what this computer can't show, and skips the test. With CI=true it fails."""
    return lambda reason: not_shown(request.node.name, reason)


def not_shown(name, reason):
    line = f"NOT SHOWN in a virtual machine: {name}: {reason}"
    is_new = line not in NOT_SHOWN
    NOT_SHOWN[line] = True
    if is_new and (path := os.environ.get("APPLOCKER_NOT_SHOWN")):
        with open(path, "a") as file:
            file.write(line + "\n")
    if os.environ.get("CI") == "true":
        pytest.fail(line, pytrace=False)
    pytest.skip(line)


def pytest_terminal_summary(terminalreporter):
    if NOT_SHOWN:
        terminalreporter.section(f"{len(NOT_SHOWN)} behaviours were not shown")
        terminalreporter.write_line("\n".join(NOT_SHOWN))


@pytest.fixture(scope="session")
def states(pytestconfig):
    """Creates the saved state of a kernel."""
    folder = pathlib.Path(pytestconfig.option.packages or packages.default_folder()).resolve()
    reason = requirements.missing(folder)
    if reason:
        return lambda name: not_shown(f"every test with kernel {name}", reason)
    CACHE.mkdir(parents=True, exist_ok=True)
    of_applocker = packages.Packages(folder)

    @functools.cache
    def state(name):
        try:
            kernel = Kernel(name)
        except MirrorError as error:
            return not_shown(f"every test with kernel {name}", error)
        return SavedState(kernel, of_applocker)

    return state


@pytest.fixture
def state(kernel_name, states):
    return states(kernel_name)


@pytest.fixture
def folder(request):
    """For the files of one machine. One runs at a time."""
    folder = CACHE / "running"
    with locked("running"):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        yield folder
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def machine(state, folder):
    machine = state.machine(folder)
    yield machine
    machine.end()


@pytest.fixture
def applocker(machine):
    return AppLocker(machine)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """The services' last lines, for a test that failed."""
    report = yield
    machine = item.funcargs.get("machine") if hasattr(item, "funcargs") else None
    if report.failed and call.when == "call" and machine:
        try:
            lines = machine.run("journalctl --no-pager -q -b | tail -60", 20).output
        except (Exception, pytest.fail.Exception) as error:  # The machine may be the reason of the failure.
            lines = f"no journal: {error!r}"
        report.sections.append(("the machine's journal", lines))
        report.sections.append(("the machine's console", machine.console[-3000:]))
    return report
