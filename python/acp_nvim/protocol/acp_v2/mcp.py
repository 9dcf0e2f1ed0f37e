"""MCP servers as v2 wants them (spec section 20)."""

from __future__ import annotations

from acp_nvim.protocol.mcp import Server
from acp_nvim.wire.acp_v2.session import EnvVariable, HttpHeader, McpServer, McpServerHttp, McpServerStdio


def mcp_server(server: Server) -> McpServer:
    """V2-148. Of kind stdio or http: others were left out, as no agent of v2 takes them."""
    if server.kind == "stdio":
        env = [EnvVariable(name, value) for name, value in server.pairs]
        return McpServerStdio(name=server.name, command=server.command, args=list(server.args), env=env)
    headers = [HttpHeader(name, value) for name, value in server.pairs]
    return McpServerHttp(name=server.name, url=server.url, headers=headers)
