"""MCP servers as v1 wants them (spec section 5)."""

from __future__ import annotations

from acp_nvim.protocol.mcp import Server
from acp_nvim.wire.acp_v1.session import (
    EnvVariable,
    HttpHeader,
    McpServer,
    McpServerHttp,
    McpServerSse,
    McpServerStdio,
)


def mcp_server(server: Server) -> McpServer:
    """V1-63, V1-64."""
    if server.kind == "stdio":
        env = [EnvVariable(name, value) for name, value in server.pairs]
        return McpServerStdio(name=server.name, command=server.command, args=list(server.args), env=env)
    headers = [HttpHeader(name, value) for name, value in server.pairs]
    form = McpServerHttp if server.kind == "http" else McpServerSse
    return form(name=server.name, url=server.url, headers=headers)
