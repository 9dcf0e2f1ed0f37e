"""Making room in the context: what was said becomes a list of what was asked for."""

from __future__ import annotations

from .turn import Turn

ASKED = 10  # requests that are named, the newest


async def compact(turn: Turn) -> None:
    """Sum up, and count only the summary from then on."""
    asked = [
        " ".join(update["content"]["text"].split())[:60]
        for update in turn.session.history.updates[:-1]  # the last one is this request
        if update["sessionUpdate"] == "user_message_chunk"
    ]
    summary = "\n".join(["What you have asked for:", "", *(f"- {text}" for text in asked[-ASKED:])])
    summary = summary if asked else "You have asked for nothing yet."
    if turn.session.client.compaction:
        update = {"sessionUpdate": "compaction_update", "compactionId": turn.session.name("compaction")}
        await turn.send({**update, "status": "in_progress"})
        await turn.beat(20)
        block = {"type": "text", "text": summary}
        await turn.send({**update, "status": "completed", "summary": [block]})
    else:
        await turn.say(summary)
    turn.session.characters = len(summary)
    await turn.say(f"I count {len(summary) // 4:,} tokens now.")
