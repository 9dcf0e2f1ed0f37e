"""Markers of the tests: ``long`` runs only with ``--long``, and a requirement needs a test that really ran.

Which tests hold which requirement stands in tests/conformance/acp_v1.md. A test that skips itself while it
runs holds nothing: when all tests of a requirement did so in a whole run, the run fails.
"""

from __future__ import annotations

import pytest

_WHOLE = "tests/conformance/test_coverage.py"  # runs in every whole run, and says so


class Ran:
    """For each requirement: whether one of its tests did run."""

    def __init__(self) -> None:
        self.markers: dict[str, list[str]] = {}
        self.ran: dict[str, bool] = {}
        self.whole = False

    @property
    def unheld(self) -> list[str]:
        """The requirements whose tests have all skipped themselves; empty but for a whole run."""
        return sorted(ident for ident, ran in self.ran.items() if not ran) if self.whole else []


RAN = pytest.StashKey[Ran]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--long", action="store_true", help="the long tests, too (make test-long)")


def pytest_configure(config: pytest.Config) -> None:
    ran = Ran()
    config.stash[RAN] = ran
    config.pluginmanager.register(_Watch(ran))


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not config.getoption("--long"):
        long = [item for item in items if item.get_closest_marker("long")]
        items[:] = [item for item in items if not item.get_closest_marker("long")]
        config.hook.pytest_deselected(items=long)
    ran = config.stash[RAN]
    ran.whole = not config.getoption("keyword") and any(item.nodeid.startswith(_WHOLE) for item in items)
    for item in items:
        ran.markers[item.nodeid] = [str(ident) for m in item.iter_markers("req") for ident in m.args]


class _Watch:
    def __init__(self, ran: Ran) -> None:
        self._ran = ran

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" or report.skipped:
            for ident in self._ran.markers.get(report.nodeid, ()):
                self._ran.ran[ident] = self._ran.ran.get(ident, False) or not report.skipped


def pytest_sessionfinish(session: pytest.Session) -> None:
    if session.config.stash[RAN].unheld and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    for ident in config.stash[RAN].unheld:
        terminalreporter.write_line(f"{ident}: all of its tests were skipped", red=True)
