"""Tools of ours: declared where the agent takes them, run one after the other, answered in one post."""

from __future__ import annotations

import anyio
import pytest
from tests.agents.aap_faults import answers
from tests.agents.aap_script import AGENT, Call, Json, Step, text
from tests.unit.protocol.aap.bench import connected, offering, opened

from acp_nvim.protocol.aap.answering import ENDED
from acp_nvim.session.entities import Note, Session
from acp_nvim.session.tools import ClientCall, ClientTool

pytestmark = pytest.mark.anyio

SCHEMA: Json = {"type": "object", "properties": {"path": {"type": "string"}}}
READ = ClientTool("read_file", "Read a file", "Reads.", "read", SCHEMA)
RUN = ClientTool("run_command", "Run a command", "Runs.", "execute", {"type": "object"})
SEARCH = ClientTool("search", "Search here", "Searches.", "search", {"type": "object"})
DECLARED = [
    {"name": "read_file", "title": "Read a file", "description": "Reads.", "parameters": SCHEMA},
    {
        "name": "run_command",
        "title": "Run a command",
        "description": "Runs.",
        "parameters": {"type": "object"},
    },
]


class Tools:
    """``hold``: a call of run_command waits for ``go_on``. ``log``: what began and ended, in order."""

    def __init__(self) -> None:
        self.calls: list[ClientCall] = []
        self.log: list[str] = []
        self.hold = False
        self.go_on = anyio.Event()

    def named(self, name: str) -> ClientTool | None:
        return {"read_file": READ, "run_command": RUN, "search": SEARCH}.get(name)

    async def run(self, session: Session, call: ClientCall) -> str:
        self.calls.append(call)
        self.log.append(f"{call.row} begins")
        try:
            if self.hold and call.tool == "run_command":
                await self.go_on.wait()
        finally:
            self.log.append(f"{call.row} ends")
        return f"did {call.tool} {call.input}"


BOTH = ("read_file", "run_command")


@pytest.mark.req("AAP-25", "AAP-24")
async def test_they_are_declared_once_and_persist() -> None:
    async with opened([[text("a")], [text("b")]], own=Tools(), offers=(*BOTH, "read_file", "no")) as bench:
        (created,) = bench.server.seen("POST sessions")
        assert created.body["tools"] == DECLARED
        await bench.prompt()
        await bench.prompt("again")
        assert all("tools" not in turn for turn in bench.server.turns)


@pytest.mark.req("AAP-25")
@pytest.mark.parametrize("offers", [BOTH, ()])
async def test_an_agent_that_takes_none_is_told_of_none_and_works(offers: tuple[str, ...]) -> None:
    script: list[Step] = [[text("fine")]] * 2
    async with opened(script, own=Tools(), offers=offers, agents=offering("delta")) as bench:
        await bench.adapter.new_session(bench.new_session("other"))
        assert all("tools" not in each.body for each in bench.server.seen("POST sessions"))
        bench.server.sessions.popitem()
        await bench.prompt()
        assert "tools" not in bench.server.turns[0]
        notes = [item for item in bench.session.items if isinstance(item, Note)]
        said = [(note.title, note.lines) for note in notes]
        once = [
            (
                "remote takes no tools of the editor",
                ["agents.remote.client_tools counts for nothing with this server"],
            )
        ]
        assert said == (once if offers else [])


@pytest.mark.req("AAP-25")
async def test_without_a_setting_none_is_declared() -> None:
    async with opened([[text("a")]], own=Tools()) as bench:
        await bench.prompt()
        assert "tools" not in bench.server.seen("POST sessions")[0].body
        assert "tools" not in bench.server.turns[0]


@pytest.mark.req("AAP-26", "AAP-27")
@pytest.mark.parametrize(
    ("names", "name"),
    [(["search"], "editor_search"), (["search", "editor_search"], "editor_editor_search"), ([], "search")],
)
async def test_no_name_is_also_one_of_the_servers(names: list[str], name: str) -> None:
    tools = Tools()
    script: list[Step] = [[Call("1", name, {"q": 1}), Call("2", "search", {})], [text("ok")]]
    agents = [{**AGENT, "tools": [{"name": each, "description": ""} for each in names]}]
    async with opened(script, own=tools, offers=["search"], agents=agents) as bench:
        assert [tool["name"] for tool in bench.server.kept.declared] == [name]
        async with bench.turn():
            if names:
                await bench.asked()
                bench.questions.answer("q1", "reject")
        mine = [call.input for call in tools.calls]
        assert mine == ([{"q": 1}] if names else [{"q": 1}, {}])
        assert bench.call("1").title == "Search here"


@pytest.mark.req("AAP-27", "AAP-29", "AAP-30", "AAP-54", "AAP-55", "AAP-60")
async def test_results_and_permissions_go_in_one_post() -> None:
    tools = Tools()
    script: list[Step] = [
        [
            Call("1", "run_command", {"command": ["x"]}),
            Call("2", "clock"),
            Call("3", "read_file", {"path": "a"}),
        ],
        [text("ok")],
    ]
    async with opened(script, own=tools, offers=BOTH) as bench:
        async with bench.turn():
            await bench.asked()
            await bench.until(lambda: len(tools.log) == 4)
            assert len(bench.server.turns) == 1
            bench.questions.answer("q1", "allow")
        assert tools.log == ["1 begins", "1 ends", "3 begins", "3 ends"]
        assert tools.calls[0] == ClientCall("1", "run_command", {"command": ["x"]}, bench.server.url[7:-3])
        assert bench.server.turns[1]["messages"] == [
            {"role": "tool", "toolCallId": "1", "content": "did run_command {'command': ['x']}"},
            {"role": "tool_permission", "toolCallId": "2", "granted": True},
            {"role": "tool", "toolCallId": "3", "content": "did read_file {'path': 'a'}"},
        ]
        assert [(bench.call(row).kind, bench.call(row).title) for row in "13"] == [
            ("execute", "Run a command"),
            ("read", "Read a file"),
        ]
        assert bench.timeline[-1] == "end: end_turn"


@pytest.mark.req("AAP-25", "AAP-54", "AAP-64")
@pytest.mark.parametrize("mode", ["message", "none"])
async def test_in_the_other_modes(mode: str) -> None:
    tools = Tools()
    agents = offering(mode)
    agents[0]["capabilities"]["application"] = {"tools": {}}
    script: list[Step] = [[text("I look."), Call("1", "read_file", {"path": "a"})], [text("ok")]]
    async with opened(script, own=tools, offers=BOTH, agents=agents) as bench:
        await bench.prompt()
        result = {"role": "tool", "toolCallId": "1", "content": "did read_file {'path': 'a'}"}
        assert bench.server.turns[1] == {"messages": [result], "stream": mode}
        assert bench.timeline[-2:] == ["agent: ok", "end: end_turn"]


@pytest.mark.req("AAP-38", "AAP-62")
async def test_cancelling_ends_what_runs_and_posts_nothing_twice() -> None:
    tools = Tools()
    script: list[Step] = [
        [
            Call("1", "read_file", {"path": "a"}),
            Call("2", "run_command", {}),
            Call("3", "read_file", {"path": "b"}),
            Call("4", "clock"),
        ],
        [text("I see.")],
        [text("done")],
    ]
    async with opened(script, own=tools, offers=BOTH) as bench:
        tools.hold = True
        async with bench.turn():
            await bench.until(lambda: "2 begins" in tools.log)
            await bench.adapter.cancel(bench.session)
        assert tools.log == ["1 begins", "1 ends", "2 begins", "2 ends"]
        assert bench.session.turns[-1].stop == "cancelled"
        assert len(bench.server.turns) == 1
        await bench.prompt("next")
        assert len(tools.calls) == 2
        assert bench.server.turns[1]["messages"] == [
            {"role": "tool", "toolCallId": "1", "content": "did read_file {'path': 'a'}"},
            {
                "role": "tool",
                "toolCallId": "2",
                "content": ENDED,
            },
            {"role": "tool", "toolCallId": "3", "content": "The user cancelled the turn."},
            {
                "role": "tool_permission",
                "toolCallId": "4",
                "granted": False,
                "reason": "The user cancelled the turn.",
            },
        ]
        assert bench.server.turns[2]["messages"] == [{"role": "user", "content": "next"}]


@pytest.mark.req("AAP-55", "AAP-77")
async def test_results_that_did_not_arrive_are_kept_and_nothing_runs_again() -> None:
    tools = Tools()
    script: list[Step] = [[Call("1", "run_command", {})], [text("ok")], [text("hello")]]
    async with opened(script, own=tools, offers=BOTH) as bench:
        tools.hold = True
        async with bench.turn():
            await bench.until(lambda: tools.calls)
            bench.server.fail("POST turns", answers(500, b"broken"))
            tools.go_on.set()
        assert bench.session.turns[-1].stop == "error"
        await bench.prompt("go on")
        assert len(tools.calls) == 1
        result = {"role": "tool", "toolCallId": "1", "content": "did run_command {}"}
        assert [turn["messages"][0] for turn in bench.server.turns[1:]] == [
            result,
            result,
            {"role": "user", "content": "go on"},
        ]


@pytest.mark.req("AAP-69")
@pytest.mark.parametrize(
    ("declared", "again"),
    [
        (DECLARED, False),
        ([], True),
        ([{"name": "theirs", "description": "", "parameters": {}}], True),
        ([{**DECLARED[0], "description": "older"}, DECLARED[1]], True),
    ],
)
async def test_a_session_that_knows_others_is_told_of_ours(declared: list[Json], again: bool) -> None:
    async with connected([[text("ok")]] * 2, own=Tools(), offers=BOTH) as bench:
        await bench.open()
        bench.server.kept.declared = declared
        session = bench.new_session("again")
        await bench.adapter.resume_session(session, bench.server.kept.id)
        bench.session = session
        await bench.prompt()
        await bench.prompt("more")
        told = [turn.get("tools") for turn in bench.server.turns]
        assert told == [DECLARED if again else None, None]


@pytest.mark.req("AAP-68", "AAP-69", "AAP-29")
async def test_an_old_session_that_waits_for_our_tools() -> None:
    tools = Tools()
    calls = [Call("1", "read_file", {"path": "a"}), Call("2", "theirs")]
    async with connected([[text("thanks")]], own=tools, offers=BOTH) as bench:
        await bench.open()
        theirs = {"name": "theirs", "description": "", "parameters": {}}
        bench.server.kept.declared = [*DECLARED, theirs]
        uses = [{"type": "tool_use", "toolCallId": c.id, "name": c.name, "input": c.input} for c in calls]
        bench.server.kept.history = [{"role": "assistant", "content": uses}]
        session = bench.new_session("again")
        await bench.adapter.load_session(session, bench.server.kept.id)
        bench.session = session
        assert session.waits
        await bench.prompt("")
        assert bench.server.turns[0]["messages"] == [
            {"role": "tool", "toolCallId": "1", "content": "did read_file {'path': 'a'}"},
            {
                "role": "tool",
                "toolCallId": "2",
                "content": "This tool is not available in this application.",
            },
        ]
        assert bench.server.turns[0]["tools"] == DECLARED
        assert bench.call("2").status == "failed"


async def test_an_id_that_is_used_again_gets_a_row_of_its_own() -> None:
    script: list[Step] = [[Call("1", "read_file", {"path": p})] for p in "ab"]
    tools = Tools()
    async with opened([*script, [text("ok")]], own=tools, offers=BOTH) as bench:
        await bench.prompt()
        assert [call.row for call in tools.calls] == ["1", "1#2"]
