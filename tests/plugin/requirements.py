"""Markers of the tests: ``long`` runs only with ``--long``, and a requirement needs a test that really ran.

Which tests hold which requirement stands in tests/conformance/acp_v1.md. A test that skips itself while it
runs holds nothing: when all tests of a requirement did so in a whole run, the run fails.
"""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, settings

_WHOLE = "tests/conformance/test_coverage.py"  # runs in every whole run, and says so


class Ran:
    """For each requirement: whether one of its tests did run."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._ran: dict[str, bool] = {}
        self._whole = False

    @property
    def unheld(self) -> list[str]:
        """The requirements whose tests have all skipped themselves; empty but for a whole run."""
        if not self._whole or self._config.getoption("keyword") or hasattr(self._config, "workerinput"):
            return []
        return sorted(ident for ident, ran in self._ran.items() if not ran)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._whole = self._whole or report.nodeid.startswith(_WHOLE)
        if report.when == "call" or report.skipped:
            for name, value in report.user_properties:
                if name == "req":
                    self._ran[str(value)] = self._ran.get(str(value), False) or not report.skipped


# The same examples in every run, or 50 times as many that are new each time. No deadline: machines are slow.
settings.register_profile(
    "short", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile(
    "long", max_examples=5000, deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)

RAN = pytest.StashKey[Ran]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--long", action="store_true", help="the long tests, too (make test-long)")


def pytest_configure(config: pytest.Config) -> None:
    settings.load_profile("long" if config.getoption("--long") else "short")
    config.stash[RAN] = Ran(config)
    config.pluginmanager.register(config.stash[RAN])


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not config.getoption("--long"):
        long = [item for item in items if item.get_closest_marker("long")]
        items[:] = [item for item in items if not item.get_closest_marker("long")]
        config.hook.pytest_deselected(items=long)
    for item in items:  # properties reach the process that counts, when tests run in several
        item.user_properties += [("req", ident) for m in item.iter_markers("req") for ident in m.args]


def pytest_sessionfinish(session: pytest.Session) -> None:
    if session.config.stash[RAN].unheld and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    for ident in config.stash[RAN].unheld:
        terminalreporter.write_line(f"{ident}: all of its tests were skipped", red=True)
