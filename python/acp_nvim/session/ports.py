"""What a protocol adapter is given, and what it offers: the seams of the program as Protocol classes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, Protocol

from msgspec import Struct

from .agent import AgentInfo, SessionList
from .asked import Permission
from .content import Block
from .elicitation import Reply
from .entities import Failure, Session
from .events import Event
from .options import Option
from .terminals import Exit
from .tools import ClientCall, ClientTool


class AgentError(Exception):
    """The agent refused or failed; ``failure`` is what to tell the user."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message)
        self.failure = failure


#: The code of a request that is given up: by the agent's wish, or for reasons of our own (V1-85, V1-87).
CANCELLED = -32800


class RequestError(Exception):
    """A service cannot do what the agent asked. ``code`` is the JSON-RPC code to answer with."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data


#: What became of a prompt for the running turn: ``turn``: the agent has begun one of its own with it.
Steered = Literal["taken", "turn", "refused"]


class Sink(Protocol):
    """Where an adapter puts its events."""

    def apply(self, session: Session, event: Event) -> None:
        """Apply the event at once (session/store.py)."""

    async def room(self, session: Session) -> None:
        """Wait until the view has read enough: the back-pressure that reaches the agent's pipe."""


class Files(Protocol):
    """File access for agents (design.md section 5, Files). Raises RequestError."""

    async def read(self, session: Session, path: str, line: int | None, limit: int | None) -> str:
        """The text as the user has it now: ``limit`` lines from ``line`` on, which counts from 1."""

    async def write(self, session: Session, path: str, text: str) -> None:
        """Replace the file's text, in its buffer too; makes the file if there is none."""


class CommandLine(Struct, frozen=True):
    """What an agent wants to run. ``cwd`` None: the session's. ``limit``: bytes of output it wants."""

    command: str
    args: Sequence[str] = ()
    env: Mapping[str, str] = {}
    cwd: str | None = None
    limit: int | None = None


class Terminals(Protocol):
    """Commands for agents (design.md section 5, Terminals). Raises RequestError.

    A terminal is known to the session it was created for alone, until it is released (V1-189, V1-194).
    """

    async def create(self, session: Session, line: CommandLine) -> str:
        """Start a command, or not after a question; returns the terminal's id (V1-176)."""

    def output(self, session: Session, terminal_id: str) -> tuple[str, bool, Exit | None]:
        """What it wrote, whether the beginning is missing, and how it ended if it has (V1-182)."""

    async def wait(self, session: Session, terminal_id: str) -> Exit:
        """Wait for the end of the command (V1-184)."""

    async def kill(self, session: Session, terminal_id: str) -> None:
        """End the command with all it started; the terminal stays (V1-186)."""

    async def release(self, session: Session, terminal_id: str) -> None:
        """End the command, and know the terminal no more (V1-187)."""


class Questions(Protocol):
    """One queue for the agent's questions and ours."""

    async def ask(self, session: Session, permission: Permission) -> str | None:
        """Put the question; return the chosen option's id, or None when cancelled or withdrawn.

        Applies PermissionOpened and PermissionClosed itself. Cancelling the awaiting task withdraws it.
        """

    async def elicit(self, session: Session, permission: Permission) -> Reply:
        """As ``ask``, for a question whose subject is an Elicitation."""

    def cancel_all(
        self, session: Session, by: str, keep: Callable[[Permission], bool] = lambda permission: False
    ) -> None:
        """Answer every open question of the session with ``cancelled`` (V1-80), but those of ``keep``."""


class ClientTools(Protocol):
    """Tools of ours for agents that cannot reach the user's files by themselves."""

    def named(self, name: str) -> ClientTool | None:
        """What there is to say of a tool; None: we have none of this name."""

    async def run(self, session: Session, call: ClientCall) -> str:
        """Run it, perhaps after a question, and show that in the call's row; returns what to tell the agent.

        What goes wrong is told in words as well (AAP-29). Cancelling ends what it has started.
        """


class Agent(Protocol):
    """A connection to an agent, whatever its protocol. Methods raise AgentError."""

    info: AgentInfo | None

    async def connect(self) -> AgentInfo:
        """Negotiate. Once per connection."""

    async def authenticate(self, method_id: str) -> None:
        """Log in by a method of ``info``; returns when the agent says that it is done."""

    async def logout(self) -> None:
        """Log out, of an agent that ``can_logout``."""

    async def new_session(self, session: Session) -> None:
        """Create it; applies SessionOpened, OptionsSet and whatever came early."""

    async def resume_session(self, session: Session, remote_id: str) -> int | None:
        """Take an old session up again without replay (resume), else with (load), if the agent can either.

        Returns the number of updates that were replayed; None: it was resumed without.
        """

    async def load_session(self, session: Session, remote_id: str) -> int | None:
        """The same with replay (load), else without. Returns when the whole history is in the session."""

    async def fork_session(self, session: Session, remote_id: str) -> None:
        """Create it as one that goes on from an old session."""

    async def list_sessions(self, cwd: str | None = None) -> SessionList:
        """The sessions the agent knows, of one folder or of all."""

    async def delete_session(self, remote_id: str) -> None:
        """Have the agent forget a session. One it does not know is no error."""

    async def prompt(self, session: Session, blocks: Sequence[Block]) -> None:
        """Send a prompt and stay until its turn has ended. Applies TurnEnded, whatever happens.

        The caller has applied TurnStarted. Never raises AgentError: a failure ends the turn.
        """

    async def steer(self, session: Session, blocks: Sequence[Block], shown: Sequence[Block]) -> Steered:
        """Put a prompt into the running turn, of an agent that ``can_steer``. Applies TurnSteered, with what
        is to be ``shown``, when the agent has taken it.
        """

    async def cancel(self, session: Session) -> None:
        """Cancel the running turn: marks, answers open questions, tells the agent."""

    async def cancel_item(
        self, session: Session, *, call: str | None = None, terminal: str | None = None
    ) -> None:
        """Cancel one tool call or terminal that ``can_cancel``; the agent says when it has ended."""

    async def close_session(self, session: Session) -> None:
        """The session is not used any more; the agent is told if it wants to be."""

    def asked(self, session: Session) -> str | None:
        """What the session has asked the agent for, and waits; the prompt does not count."""

    async def withdraw(self, session: Session, *, shared: bool) -> None:
        """Take that back; with ``shared`` also what the connection asks: a login, a list."""

    async def set_option(self, session: Session, option: Option, value: str | bool) -> None:
        """Ask for another value; returns when the agent has it. Applies OptionsSet or OptionValue."""


Clock = Callable[[], float]
