"""The listings of the projects that are worked in: made when needed, kept fresh, shared, and dropped."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Iterable

import anyio
from anyio import to_thread

from .listing import Listing

Fill = Callable[[Listing, Callable[[], None]], Awaitable[None]]
"""Fills a listing, and calls its second argument whenever there is more in it."""

CHECK_S = 1.0
"""Seconds in which a listing is looked after once at most."""
OLD_S = 300.0
"""Seconds after which a listing is made anew, whatever the times of the folders say."""
IDLE_S = 900.0
"""Seconds after which a listing that nobody has asked for is dropped."""


class Project:
    """A root folder (absolute) and what is in it. ``scans`` counts how often that was looked up."""

    def __init__(self, root: str, fill: Fill, clock: Callable[[], float] = time.time) -> None:
        self.root = root
        self.listing = Listing(root)
        self.scans = 0
        self.used = self.checked = clock()
        self.version = 0  # grows with each piece of news
        self._working = False
        self._fill = fill
        self._clock = clock
        self._news = anyio.Event()
        self._scope: anyio.CancelScope | None = None

    @property
    def settled(self) -> bool:
        """Whether nothing is looked up: there is no news to wait for."""
        return not self._working

    def wants_check(self) -> bool:
        """Whether it is time to see if the listing is still right; then ``renew`` must be called."""
        now = self._clock()
        if self._working or (self.scans and _within(now - self.checked, CHECK_S)):
            return False
        self._working, self.checked = True, now
        return True

    async def renew(self) -> None:
        """List it, unless what is known is still right. The first listing is there while it grows."""
        try:
            with anyio.CancelScope() as self._scope:
                if not self.scans or await self._stale():
                    await self._scan()
        finally:
            self._settle()

    async def news(self, version: int) -> None:
        """Wait until there is news since ``version``: more in the listing, another one, or it is settled."""
        while self.version == version and self._working:
            await self._news.wait()

    async def end(self) -> None:
        """Wait until it is settled."""
        while self._working:
            await self._news.wait()

    def drop(self) -> None:
        """It is not needed any more."""
        if self._scope is not None:
            self._scope.cancel()

    async def _stale(self) -> bool:
        if not _within(self._clock() - self.listing.began, OLD_S):
            return True
        return await to_thread.run_sync(self.listing.stale, abandon_on_cancel=True)

    async def _scan(self) -> None:
        fresh = Listing(self.root, self._clock())
        if not self.scans:
            self.listing = fresh
        self.scans += 1

        def grown() -> None:
            if fresh.done:  # what is left is to clean up
                self.listing = fresh
                self._settle()
            else:
                self._tell()

        await self._fill(fresh, grown)

    def _settle(self) -> None:
        if self._working:
            self._working = False
            self._tell()

    def _tell(self) -> None:
        self.version += 1
        self._news.set()
        self._news = anyio.Event()


class Projects:
    """All projects by their roots. ``spawn`` starts a task the runtime owns."""

    def __init__(
        self, fill: Fill, spawn: Callable[..., None], clock: Callable[[], float] = time.time
    ) -> None:
        self._fill = fill
        self._spawn = spawn
        self._clock = clock
        self._known: dict[str, Project] = {}

    def get(self, root: str, *, fresh: bool) -> Project:
        """The project of a folder. ``fresh``: what is known of it should be what is there now.

        Returns at once: the look at the disk is a task, and what is known meanwhile is given.
        """
        project = self._known.get(root)
        if project is None:
            if not self._known:
                self._spawn(self._drop_idle)
            project = self._known[root] = Project(root, self._fill, self._clock)
        project.used = self._clock()
        if (fresh or not project.scans) and project.wants_check():
            self._spawn(project.renew)
        return project

    def keep(self, roots: Iterable[str]) -> None:
        """These are still worked in; the others are dropped."""
        wanted = set(roots)
        for root in [root for root in self._known if root not in wanted]:
            self._known.pop(root).drop()

    async def _drop_idle(self) -> None:
        while self._known:
            await anyio.sleep(IDLE_S / 3)
            now = self._clock()
            self.keep([root for root, each in self._known.items() if _within(now - each.used, IDLE_S)])


def _within(passed: float, most: float) -> bool:
    """Whether less than ``most`` seconds have passed. A clock that was set back says nothing: no."""
    return 0 <= passed < most
