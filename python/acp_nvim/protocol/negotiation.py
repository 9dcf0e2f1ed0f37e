"""Which version of ACP a connection speaks (spec/acp-v2.md section 1).

``acp-v1`` and ``acp-v2`` ask for that version alone. ``auto`` offers version 2 in a request that an agent
which knows only version 1 understands fully, and speaks what the answer names.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

from msgspec import Raw

from acp_nvim.session.entities import Failure
from acp_nvim.session.ports import AgentError
from acp_nvim.wire.acp_v1 import codecs as codecs_v1
from acp_nvim.wire.tolerant import WireError

from .acp_v1 import AcpV1
from .adapter import Parts
from .channel import Channel
from .failures import UNSUPPORTED_VERSION
from .rpc_errors import GONE, ConnectionLostError, RpcError

if TYPE_CHECKING:
    from .acp_v2 import AcpV2

Dialect: TypeAlias = Literal["acp-v1", "acp-v2", "auto"]
Client: TypeAlias = "AcpV1 | AcpV2"


class OlderError(Exception):
    """The agent cannot be asked for version 2: try ``acp-v1`` with a fresh process (V2-08)."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why


class Negotiation:
    """One connection, until it is known what it speaks, and then. See Parts."""

    def __init__(self, channel: Channel, parts: Parts, dialect: Dialect) -> None:
        self._channel = channel
        self._dialect = dialect
        self._label = parts.label
        self._v1 = AcpV1(channel, parts)
        self._parts = parts
        self._version_2: AcpV2 | None = None

    @property
    def _v2(self) -> AcpV2:
        """Imported for those who ask for it: a tenth of what keeps the user waiting for the host's start."""
        if self._version_2 is None:
            from .acp_v2 import AcpV2

            self._version_2 = AcpV2(self._channel, self._parts)
        return self._version_2

    async def run(self) -> str:
        """Read until the end of the connection; return why it ended, for people."""
        reason = await self._channel.run()
        self._v1.lost()
        if self._version_2 is not None:
            self._version_2.lost()
        return reason

    async def connect(self) -> Client:
        """Find out, once per connection (V2-01..10). Raises AgentError and OlderError.

        The client that is returned takes what the agent sends from its answer on (V2-11).
        """
        match self._dialect:
            case "acp-v1":
                await self._v1.connect()
                return self._v1
            case "acp-v2":
                await self._v2.connect()
                return self._v2
            case "auto":
                return await self._either()

    async def _either(self) -> Client:
        from acp_nvim.wire.acp_v2 import codecs

        from .acp_v2.handshake import either_request

        peer = self._channel.peer
        try:
            await peer.request("initialize", either_request(), codecs.ANY, self._take, self)
        except RpcError as error:
            if error.code != UNSUPPORTED_VERSION:
                raise OlderError(f"the agent refuses version 2: {error}") from error
            return await self._common(error)
        except WireError as error:
            raise OlderError(f"the answer of the agent does not decode: {error}") from error
        except ConnectionLostError as error:
            if error.reason in GONE:
                raise OlderError(f"asked for version 2, {error.reason}") from error
            raise AgentError(await self._v1.why_lost(error)) from error
        return self._v2 if self._v2.info is not None else self._v1

    def _take(self, answer: Raw) -> None:
        """Called by the reader, before it looks at anything else."""
        from acp_nvim.wire.acp_v2 import codecs

        theirs = codecs.VERSION.decode(answer).protocol_version
        if theirs == 2:
            self._v2.connected(answer)
        elif theirs == 1:
            self._v1.connected(codecs_v1.INITIALIZED.decode(answer, self._channel.peer.note))
        else:
            raise AgentError(self._strange([theirs]))

    async def _common(self, refusal: RpcError) -> Client:
        """The agent says what it knows; it may be asked again (V2-06, V2-09)."""
        data = refusal.data if isinstance(refusal.data, dict) else {}
        listed = data.get("supported")
        supported = [each for each in listed if isinstance(each, int)] if isinstance(listed, list) else []
        if 1 not in supported:
            raise AgentError(self._strange(supported))
        await self._v1.connect()
        return self._v1

    def _strange(self, versions: list[int]) -> Failure:
        theirs = " and ".join(map(str, sorted(versions))) or "none that it names"
        return Failure(
            f"it speaks ACP version {theirs}, acp.nvim speaks versions 1 and 2",
            kind="unsupported",
            remedy="update acp.nvim" if any(each > 2 for each in versions) else "update the agent",
        )
