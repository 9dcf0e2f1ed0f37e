"""One of a server's agents, as all of the program knows agents."""

from __future__ import annotations

from acp_nvim.session.agent import AgentInfo
from acp_nvim.wire.aap import meta

from . import history


def info_of(served: meta.AgentInfo) -> AgentInfo:
    """What it is called, and what it can do (AAP-07, AAP-08)."""
    has = served.capabilities
    return AgentInfo(
        "aap",
        speaks="AAP",
        name=served.name,
        title=served.title,
        version=served.version,
        can_load=history.kind_of(has) is not None,
        can_resume=True,
        can_list=True,
        can_close=True,
        can_delete=True,
        image=has.image is not None
        and has.image.data is not None,  # what we have is never on the web (AAP-33)
        links=False,  # AAP-34
    )
