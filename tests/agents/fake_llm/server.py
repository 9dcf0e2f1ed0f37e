"""The server: HTTP on loopback, all APIs, streaming with server-sent events or whole."""

from __future__ import annotations

import json
import sys
import threading
import time
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlsplit

from . import responses
from .scenario import Plan, ScenarioError, Scenarios, gemini_history, openai_history
from .tools import Json, smallest


class FakeLlm(ThreadingHTTPServer):
    """A context manager: serves in a thread while it is open. ``url`` is where."""

    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, folder: Path, workspace: Path, extra: dict[str, Json] | None = None) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.scenarios = Scenarios(folder, str(workspace), extra or {})
        self.url = f"http://127.0.0.1:{self.server_address[1]}"
        self.refused = 0  # requests that were answered with an error
        self._thread = threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.shutdown()
        self.server_close()
        self._thread.join()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that goes away in the middle of an answer is what cancelling looks like from here."""
        kind = sys.exc_info()[0]
        if kind is None or not issubclass(kind, ConnectionError):
            super().handle_error(request, client_address)


class Handler(BaseHTTPRequestHandler):
    """One connection."""

    protocol_version = "HTTP/1.1"
    server: FakeLlm

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 (the name is the base class's)
        """Say nothing on stderr."""

    def reply(self, content: Any, status: int = 200) -> None:
        data = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def refuse(self, message: str, status: int) -> None:
        self.server.refused += 1
        self.reply({"error": {"message": message, "code": status, "status": "INTERNAL"}}, status)

    def open_stream(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream; charset=utf-8")
        self.send_header("Cache-Control", "no-cache")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()

    def event(self, content: Any) -> None:
        text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
        raw = f"data: {text}\r\n\r\n".encode()
        self.wfile.write(b"%x\r\n%s\r\n" % (len(raw), raw))
        self.wfile.flush()

    def close_stream(self) -> None:
        self.wfile.write(b"0\r\n\r\n")
        self.wfile.flush()

    def body(self) -> Json:
        if self.headers.get("Transfer-Encoding", "").lower() == "chunked":
            data = b""
            while size := int(self.rfile.readline().split(b";")[0], 16):
                data += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
        else:
            data = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        loaded: Json = json.loads(data) if data.strip() else {}
        return loaded

    def do_GET(self) -> None:
        path = urlsplit(self.path).path
        if not path.rstrip("/").endswith("/models"):
            self.refuse(f"no such path {path}", 404)
        elif "beta" in path:
            methods = ["generateContent", "countTokens"]
            model = {"name": "models/fake-model", "supportedGenerationMethods": methods}
            self.reply({"models": [{**model, "inputTokenLimit": 1_000_000, "outputTokenLimit": 65_536}]})
        else:
            model = {"id": "fake-model", "object": "model", "owned_by": "fake"}
            self.reply({"object": "list", "data": [{**model, "created": 0}]})

    def do_POST(self) -> None:
        path = urlsplit(self.path).path
        try:
            body = self.body()
            if path.endswith("/chat/completions"):
                self.openai(body)
            elif path.endswith("/responses"):
                self.openai_responses(body)
            elif ":" in path.rsplit("/", 1)[-1]:
                self.gemini(path, body)
            else:
                self.refuse(f"no such path {path}", 404)
        except ScenarioError as error:
            self.refuse(str(error), 400)
        except ConnectionError:
            self.close_connection = True

    def openai(self, body: Json) -> None:
        turns = openai_history(body)
        offered: dict[str, Json] = {
            tool["function"]["name"]: tool["function"].get("parameters") or {}
            for tool in body.get("tools") or []
            if tool.get("function")
        }
        wanted = body.get("response_format") or {}
        schema = (wanted.get("json_schema") or {}).get("schema")
        if schema or wanted.get("type") == "json_object":
            plan = Plan(text=[json.dumps(smallest(schema or {"type": "object"}))])
        elif not offered:
            plan = Plan(text=["Scripted test"])  # a title for the session and the like
        else:
            plan = self.server.scenarios.plan(turns, offered)
        if plan.error:
            self.refuse("scripted error", plan.error)
            return
        head = {
            "id": f"chatcmpl-{uuid.uuid4().hex[:12]}",
            "created": int(time.time()),
            "model": body.get("model"),
        }
        calls = [
            {
                "id": f"call_{uuid.uuid4().hex[:10]}",
                "type": "function",
                "function": {"name": name, "arguments": json.dumps(arguments, ensure_ascii=False)},
            }
            for name, arguments in plan.tools
        ]
        asked, written = 100 + 10 * len(turns), len(plan.text) + 5
        usage = {"prompt_tokens": asked, "completion_tokens": written, "total_tokens": asked + written}
        finish = "tool_calls" if calls else "stop"
        if not body.get("stream"):
            message: Json = {"role": "assistant", "content": "".join(plan.text) or None}
            if calls:
                message["tool_calls"] = calls
            choice = {"index": 0, "message": message, "finish_reason": finish}
            self.reply({**head, "object": "chat.completion", "choices": [choice], "usage": usage})
            return

        def chunk(delta: Json, reason: str | None = None) -> None:
            choices = [{"index": 0, "delta": delta, "finish_reason": reason}]
            self.event({**head, "object": "chat.completion.chunk", "choices": choices})

        self.open_stream()
        chunk({"role": "assistant", "content": ""})
        for key, texts in (("reasoning_content", plan.thinking), ("content", plan.text)):
            for text in texts:
                chunk({key: text})
                time.sleep(plan.delay)
        for index, call in enumerate(calls):
            function: Any = call["function"]
            text = function["arguments"]
            chunk({"tool_calls": [{**call, "index": index, "function": {**function, "arguments": ""}}]})
            for at in range(0, len(text), 40):
                chunk({"tool_calls": [{"index": index, "function": {"arguments": text[at : at + 40]}}]})
        time.sleep(plan.hang)
        chunk({}, finish)
        if (body.get("stream_options") or {}).get("include_usage"):
            self.event({**head, "object": "chat.completion.chunk", "choices": [], "usage": usage})
        self.event("[DONE]")
        self.close_stream()

    def openai_responses(self, body: Json) -> None:
        turns = responses.responses_history(body)
        offered = {str(tool.get("name")): tool for tool in body.get("tools") or []}
        if responses.PATCH in offered:
            plan = self.server.scenarios.plan(turns, offered, responses.resolve)
        else:
            plan = Plan(text=["Scripted test"])
        if plan.error:
            self.refuse("scripted error", plan.error)
            return
        self.open_stream()
        for content, wait in responses.events(plan, 100 + 10 * len(turns)):
            if content["type"] == "response.completed":
                time.sleep(plan.hang)
            self.event(content)
            time.sleep(wait)
        self.close_stream()

    def gemini(self, path: str, body: Json) -> None:
        model, _, verb = path.rsplit("/", 1)[-1].partition(":")
        if verb == "countTokens":
            self.reply({"totalTokens": 100})
            return
        turns = gemini_history(body)
        offered: dict[str, Json] = {
            function["name"]: function.get("parametersJsonSchema") or function.get("parameters") or {}
            for tool in body.get("tools") or []
            for function in tool.get("functionDeclarations") or []
        }
        config = body.get("generationConfig") or {}
        schema = config.get("responseJsonSchema") or config.get("responseSchema")
        if schema or config.get("responseMimeType") == "application/json":
            plan = Plan(text=[json.dumps(smallest(schema or {"type": "object"}))])
        elif not offered:
            plan = Plan(text=["Scripted test"])
        else:
            plan = self.server.scenarios.plan(turns, offered)
        if plan.error:
            self.refuse("scripted error", plan.error)
            return
        asked, written = 100 + 10 * len(turns), len(plan.text) + 5
        usage = {
            "promptTokenCount": asked,
            "candidatesTokenCount": written,
            "totalTokenCount": asked + written,
        }
        # A thought is one "**subject** description": the agent parses each part on its own.
        thoughts = [{"text": "".join(plan.thinking), "thought": True}] if plan.thinking else []
        texts = [{"text": text} for text in plan.text]
        calls: list[Json] = [
            {"functionCall": {"name": name, "args": arguments}, "thoughtSignature": "ZmFrZQ=="}
            for name, arguments in plan.tools
        ]

        def message(parts: list[Any], reason: str | None = None) -> Json:
            candidate: Json = {"content": {"role": "model", "parts": parts}, "index": 0}
            answer: Json = {"candidates": [candidate], "modelVersion": model}
            if reason:
                candidate["finishReason"] = reason
                answer["usageMetadata"] = usage
            return answer

        if verb != "streamGenerateContent":
            self.reply(message([*thoughts, {"text": "".join(plan.text)}, *calls], "STOP"))
            return
        self.open_stream()
        rest: list[Any] = [*thoughts, *texts]
        last: list[Any] = calls or rest[-1:] or [{"text": ""}]
        for part in rest if calls or plan.hang else rest[:-1]:
            self.event(message([part]))
            time.sleep(plan.delay)
        time.sleep(plan.hang)
        self.event(message(last, "STOP"))
        self.close_stream()
