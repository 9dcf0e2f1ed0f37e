"""What the agent does when a prompt says "do NAME": each uses the SDK as an agent of the field would."""

from __future__ import annotations

import asyncio
import json
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from acp import RequestError
from acp import helpers as h
from acp import schema as s

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
SOUND = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQIAAAAAAA=="
KINDS = ("read", "edit", "delete", "move", "search", "execute", "think", "fetch", "switch_mode", "other")
CHOICES = [
    s.PermissionOption(option_id=f"id of {kind}", name=f"Choose {kind}", kind=kind)
    for kind in ("allow_once", "allow_always", "reject_once", "reject_always")
]
COMMANDS = [
    s.AvailableCommand(
        name="count",
        description="counts what you name",
        input=s.AvailableCommandInput(s.UnstructuredCommandInput(hint="what to count")),
    ),
    s.AvailableCommand(name="stop", description="stops counting"),
]


def modes(current: str) -> s.SessionModeState:
    return s.SessionModeState(
        current_mode_id=current,
        available_modes=[
            s.SessionMode(id="ask", name="Ask first", description="asks before each change"),
            s.SessionMode(id="code", name="Just code"),
        ],
    )


def options(
    *, mode: str = "ask", model: str = "small", effort: str = "low", tone: str = "dry", web: bool = False
) -> list[Any]:
    """The complete list of options, with these values."""

    def choices(**names: str) -> list[s.SessionConfigSelectOption]:
        return [s.SessionConfigSelectOption(value=value, name=name) for value, name in names.items()]

    def select(ident: str, name: str, category: Any, value: str, offered: list[Any]) -> Any:
        return s.SessionConfigOptionSelect(
            type="select", id=ident, name=name, category=category, current_value=value, options=offered
        )

    groups = [
        s.SessionConfigSelectGroup(
            group="here", name="Here", options=choices(small="Small one", large="Large one")
        ),
        s.SessionConfigSelectGroup(group="there", name="There", options=choices(far="Far one")),
    ]
    return [
        select("mode", "Mode", "mode", mode, choices(ask="Ask first", code="Just code")),
        select("model", "Model", "model", model, groups),
        select("effort", "Effort", "thought_level", effort, choices(low="Low", high="High")),
        select("tone", "Tone", "model_config", tone, choices(dry="Dry", warm="Warm")),
        s.SessionConfigOptionBoolean(
            type="boolean",
            id="web",
            name="Web search",
            description="may look things up",
            current_value=web,
        ),
    ]


async def outcome(asked: Any) -> str:
    """The outcome of a request, in words that can be looked for."""
    try:
        answer = await asked
    except RequestError as error:
        return f"error {error.code}"
    return f"result {said(answer)}"


def said(model: Any) -> str:
    """A decoded answer as the JSON it came as."""
    plain = model.model_dump(by_alias=True, exclude_none=True) if hasattr(model, "model_dump") else model
    return json.dumps(plain, separators=(",", ":"))


@dataclass
class Turn:
    """One prompt, and what is done about it."""

    client: Any
    session: str
    cwd: str
    prompt: list[Any]
    cancelled: asyncio.Event
    rest: str = ""

    async def act(self) -> str | None:
        """Do what the prompt says; returns the reason the turn ends for, if it is a special one."""
        text = "\n".join(block.text for block in self.prompt if block.type == "text")
        found = re.search(r"^do (\w+) ?(.*)$", text, re.MULTILINE)
        self.rest = found[2] if found else text
        act: Any = getattr(self, found[1] if found else "answer")
        reason: str | None = await act()
        return reason

    async def update(self, *updates: Any) -> None:
        for each in updates:
            await self.client.session_update(self.session, each)

    async def say(self, words: str) -> None:
        await self.update(h.update_agent_message_text(words))

    def path(self, name: str) -> str:
        return str(Path(self.cwd) / name)

    async def ask(self, call: Any) -> Any:
        return await self.client.request_permission(self.session, call, CHOICES)

    # -- the acts

    async def answer(self) -> None:
        await self.say(f"You said: {self.rest}")

    async def talk(self) -> None:
        def chunk(words: str, ident: str) -> Any:
            return s.AgentMessageChunk(
                session_update="agent_message_chunk", content=h.text_block(words), message_id=ident
            )

        await self.update(
            h.update_user_message(self.prompt[-1]),
            h.update_agent_thought_text("Let me think."),
            chunk("One ", "a"),
            chunk("message.", "a"),
            chunk(f"Another, {self.rest}.", "b"),
        )

    async def blocks(self) -> None:
        uri = Path(self.path("README.md")).as_uri()
        hidden = s.TextContentBlock(
            type="text",
            text="only for the model",
            annotations=s.Annotations(audience=["assistant"], priority=0.5),
        )
        raw = h.embedded_blob_resource("memory:///raw", PIXEL, mime_type="application/octet-stream")
        for block in (
            s.TextContentBlock(
                type="text", text="Here is a picture:", annotations=s.Annotations(audience=["user"])
            ),
            h.image_block(PIXEL, "image/png"),
            h.audio_block(SOUND, "audio/wav"),
            h.resource_link_block("README.md", uri, size=17, mime_type="text/markdown"),
            h.resource_block(
                h.embedded_text_resource("memory:///notes.txt", "noted", mime_type="text/plain")
            ),
            h.resource_block(raw),
            hidden,
        ):
            await self.update(h.update_agent_message(block))

    async def tools(self) -> None:
        for kind in KINDS:
            await self.update(h.start_tool_call(kind, f"Title of {kind}", kind=kind, status="pending"))
        for kind in KINDS:
            await self.update(h.update_tool_call(kind, status="in_progress"))
        place = s.ToolCallLocation(path=self.path("src/main.py"), line=2)
        broke = h.tool_content(h.text_block("it broke"))
        await self.update(
            h.update_tool_call(
                "read",
                status="completed",
                locations=[place],
                raw_input={"path": "src/main.py"},
                raw_output=["two", 2, None],
            ),
            h.update_tool_call(
                "edit",
                status="completed",
                content=[h.tool_diff_content(self.path("made.txt"), "all new\n")],
            ),
            h.update_tool_call("execute", status="failed", content=[broke]),
        )
        for kind in KINDS:
            if kind not in ("read", "edit", "execute"):
                await self.update(h.update_tool_call(kind, status="completed", title=f"Titled {kind}"))

    async def plan(self) -> None:
        rest = [h.plan_entry("Do it", priority="medium"), h.plan_entry("Rest", priority="low")]
        first = h.plan_entry("Look around", priority="high", status="in_progress")
        await self.update(h.update_plan([first, *rest]))
        await self.say("One of three.")
        done = h.plan_entry("Look around", priority="high", status="completed")
        await self.update(h.update_plan([done, *rest]))

    async def state(self) -> None:
        info = s.SessionInfoUpdate(
            session_update="session_info_update",
            title="A title of its own",
            updated_at="2026-05-06T07:08:09Z",
        )
        cost = s.Cost(amount=0.25, currency="EUR")
        changed: Any
        if "PEER_MODES" in os.environ:
            changed = h.update_current_mode("code")
        else:
            changed = s.ConfigOptionUpdate(
                session_update="config_option_update", config_options=options(mode="code", model="large")
            )
        await self.update(
            h.update_available_commands([s.AvailableCommand(name="fresh", description="came later")]),
            info,
            s.UsageUpdate(session_update="usage_update", used=1200, size=4800, cost=cost),
            changed,
        )
        await self.say("All told.")

    async def edit(self) -> None:
        """Ask for a change, and make it if it is allowed: what is asked is read from the editor before."""
        path = self.path("greeting.txt")
        whole = (await self.client.read_text_file(self.session, path)).content
        second = (await self.client.read_text_file(self.session, path, line=2, limit=1)).content
        new = whole.replace("hello world", "hello peer")
        fields: Any = {
            "kind": "edit",
            "locations": [s.ToolCallLocation(path=path, line=2)],
            "content": [h.tool_diff_content(path, new, whole)],
        }
        title = "Change the greeting"
        await self.update(h.start_tool_call("change", title, status="pending", **fields))
        answer = await self.ask(s.ToolCallUpdate(tool_call_id="change", title=title, **fields))
        chosen = getattr(answer.outcome, "option_id", answer.outcome.outcome)
        allowed = "allow" in chosen
        if allowed:
            await self.client.write_text_file(self.session, path, new)
            await self.client.write_text_file(self.session, self.path("deep/new.txt"), "nothing ends this")
        await self.update(h.update_tool_call("change", status="completed" if allowed else "failed"))
        await self.say(f"Second line: {second.strip()}. Chosen: {chosen}.")

    async def missing(self) -> None:
        absent = await outcome(self.client.read_text_file(self.session, self.path("absent")))
        relative = await outcome(self.client.read_text_file(self.session, "greeting.txt"))
        await self.say(f"absent: {absent}\nrelative: {relative}")

    async def terminal(self) -> None:
        made = await self.client.create_terminal(
            self.session,
            "sh",
            args=["-c", 'printf "%s\\n" "$GREETING" "$PWD"; seq 1 400; exit 3'],
            env=[s.EnvVariable(name="GREETING", value="from the peer")],
            cwd=self.path("src"),
            output_byte_limit=64,
        )
        await self.show("run", "Run it", made.terminal_id)
        exited = await self.client.wait_for_terminal_exit(self.session, made.terminal_id)
        output = await self.client.terminal_output(self.session, made.terminal_id)
        await self.client.release_terminal(self.session, made.terminal_id)
        await self.update(h.update_tool_call("run", status="failed"))
        truncated = str(output.truncated).lower()
        await self.say(f"{said(exited)} truncated {truncated} {json.dumps(output.output[-8:])}")

    async def show(self, call: str, title: str, terminal: str) -> None:
        content = [h.tool_terminal_ref(terminal)]
        await self.update(
            h.start_tool_call(call, title, kind="execute", status="in_progress", content=content)
        )

    async def kill(self) -> None:
        made = await self.client.create_terminal(self.session, "sh", args=["-c", "echo begun; sleep 600"])
        ident = made.terminal_id
        await self.show("long", "Run long", ident)
        while "begun" not in (await self.client.terminal_output(self.session, ident)).output:
            pass
        waiting = asyncio.ensure_future(self.client.wait_for_terminal_exit(self.session, ident))
        await asyncio.sleep(0)
        await self.client.kill_terminal(self.session, ident)
        exited = await waiting
        after = await self.client.terminal_output(self.session, ident)
        await self.client.release_terminal(self.session, ident)
        gone = await outcome(self.client.terminal_output(self.session, ident))
        await self.update(h.update_tool_call("long", status="completed"))
        await self.say(f"{said(exited)} {said(after.exit_status)} {gone}")

    async def form(self) -> None:
        def string(title: str, **more: Any) -> Any:
            return s.ElicitationStringPropertySchema(type="string", title=title, **more)

        def some(title: str, items: Any, default: list[str]) -> Any:
            return s.ElicitationMultiSelectPropertySchema(
                type="array", title=title, items=items, default=default
            )

        named = [s.EnumOption(const="p", title="Pea"), s.EnumOption(const="q", title="Cue")]
        colours = [s.EnumOption(const="r", title="Red"), s.EnumOption(const="b", title="Blue")]
        properties = {
            "name": string("Your name", min_length=2),
            "mail": string("Mail", format="email"),
            "site": string("Site", format="uri", default="https://example.org/"),
            "day": string("Day", format="date", default="2026-01-02"),
            "at": string("At", format="date-time", default="2026-01-02T03:04:05Z"),
            "port": s.ElicitationIntegerPropertySchema(type="integer", title="Port", minimum=1, default=8080),
            "ratio": s.ElicitationNumberPropertySchema(type="number", title="Ratio", maximum=1, default=0.5),
            "sure": s.ElicitationBooleanPropertySchema(type="boolean", title="Sure", default=True),
            "colour": string("Colour", one_of=colours, default="b"),
            "size": string("Size", enum=["s", "m"], default="m"),
            "some": some("Some", s.StringMultiSelectItems(type="string", enum=["x", "y"]), ["y"]),
            "more": some("More", s.TitledMultiSelectItems(any_of=named), ["q"]),
        }
        asked = s.ElicitationSchema(title="A form", properties=properties, required=["name"])
        mode = s.ElicitationFormSessionMode(session_id=self.session, requested_schema=asked)
        await self.say(said(await self.client.create_elicitation("Please fill this in", mode)))

    async def page(self) -> None:
        mode = s.ElicitationUrlSessionMode(
            session_id=self.session,
            elicitation_id="page-1",
            url="https://login.example.org/start?state=abc",
        )
        answer = await self.client.create_elicitation("Sign in there", mode)
        if answer.action == "accept":
            await self.client.complete_elicitation("page-1")
        await self.say(said(answer))

    async def extend(self) -> None:
        await self.client.ext_notification("peer.example/note", {"any": "thing"})
        answer = await outcome(self.client.ext_method("peer.example/ask", {"any": "thing"}))
        await self.say(f"extension: {answer}")

    async def stop(self) -> str:
        await self.say("Enough.")
        return self.rest

    async def fail(self) -> None:
        raise RequestError(-32603, "the model is out", {"reason": "the model is out"})

    async def wait(self) -> str:
        """Until the user cancels; what is asked then is answered all the same."""
        await self.update(h.start_tool_call("wait", "Wait for it", kind="execute", status="in_progress"))
        asked = asyncio.ensure_future(
            self.ask(s.ToolCallUpdate(tool_call_id="wait", title="Wait for it", kind="execute"))
        )
        await self.cancelled.wait()
        await self.say(f"asked: {await outcome(asked)}")
        return "cancelled"

    async def received(self) -> None:
        """What came in the prompt, by type."""
        await self.say(" ".join(block.type for block in self.prompt))
