"""run_command: in a terminal of ours, live in the row, ended when it takes too long."""

from __future__ import annotations

import shlex

import anyio

from acp_nvim.session.asked import CommandSubject
from acp_nvim.session.content import TerminalRef
from acp_nvim.session.ports import CommandLine
from acp_nvim.session.terminals import Exit

from ..command import Plan
from .given import RunCommand
from .kit import Done, Job

#: Bytes of output that the agent is told: the newest.
MOST_OUTPUT = 64 * 1024


async def run_command(job: Job, given: RunCommand) -> Done:
    """Run it after the user's word, and tell what it has written and how it ended."""
    terminals = job.kit.terminals

    async def ask(made: Plan) -> None:
        subject = CommandSubject(made.shown, made.cwd, made.real_cwd, "outside" if made.outside else "tool")
        key = ("run", made.argv, made.real_cwd)
        await job.ask(subject, key, "Always allow this command here in this session")

    job.show(title=shlex.join(given.command))
    program, *args = given.command
    line = CommandLine(program, args, cwd=job.path(given.cwd), limit=MOST_OUTPUT)
    terminal = await terminals.create(job.session, line, ask)
    job.show(content=[TerminalRef(terminal)])
    ended: Exit | None = None
    try:
        with anyio.move_on_after(given.seconds):
            ended = await terminals.wait(job.session, terminal)
        if ended is None:
            await terminals.kill(job.session, terminal)
        output, cut, _ = terminals.output(job.session, terminal)
        await terminals.release(job.session, terminal)
    finally:
        terminals.drop(
            job.session, terminal
        )  # when the turn was cancelled: the user does not wait for its end
    head = _ending(ended, given.seconds)
    missing = f"(only the last {MOST_OUTPUT // 1024} KiB of what it wrote)\n" if cut else ""
    return Done(f"{head}\n{missing}{output or '(it wrote nothing)'}", [TerminalRef(terminal)])


def _ending(ended: Exit | None, seconds: int) -> str:
    if ended is None:
        return f"ended after {seconds} seconds, as it took longer"
    if ended.signal:
        return f"ended by {ended.signal}"
    return f"exit code {ended.code}" if ended.code is not None else "ended by the user"
