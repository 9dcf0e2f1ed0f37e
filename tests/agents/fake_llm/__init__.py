"""A scripted stand-in for the APIs of language models, on loopback, to drive real agents without one.

It speaks OpenAI Chat Completions, OpenAI Responses and the Gemini API. What the "model" says is a scenario,
a JSON file:
``{"prompt", "steps": [STEP]}`` with STEP ``{"thinking", "text", "tools": [CALL], "delay_ms", "hang_ms",
"http_error"}``; a text is a string, a list of chunks, or ``{"repeat": "word{i} ", "count": 2000}``; CALL is
``{"tool": "read|edit|write|shell|todo|search|list", ...}``. A prompt names its scenario: ``[[edit]]``.
"""

from .scenario import Plan, ScenarioError
from .server import FakeLlm

__all__ = ("FakeLlm", "Plan", "ScenarioError")
