"""Replays a trace in a Neovim of its own: ``python -m acp_nvim.replay FILE`` (:help acp-replay).

A small agent (agent.py), or a server for AAP (server.py), says what the recorded one said, at its times; the
real host of this plugin talks to it in a real Neovim that knows nothing of the user's. It stands alone and
imports nothing of the host's.
"""
