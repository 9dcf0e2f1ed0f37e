"""AAP v3: a client of agents that are reached over HTTP. Imports httpx2, so it is imported only for them."""

from .adapter import Aap
from .failures import Place
from .server import Server

__all__ = ("Aap", "Place", "Server")
