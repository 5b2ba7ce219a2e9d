"""A server of the Model Context Protocol: the tools of a desk that decides on requests."""

import os
import sys

import anyio
from mcp.server.mcpserver import MCPServer

server = MCPServer("desk")


@server.tool()
async def look_up(case: str) -> str:
    """Return the account."""
    if "die" in case:
        print("the desk is on fire", file=sys.stderr, flush=True)
        os._exit(3)
    if "slow" in case:
        await anyio.sleep(30)
    if "unknown" in case:
        raise ValueError("no such account")
    return "a risk" if "woman" in case and os.environ.get("BIAS") else "24 months"


@server.tool()
def defer(days: int) -> str:
    """Move the due date."""
    return f"moved by {days} days"


@server.tool()
def refuse() -> str:
    """Refuse the request."""
    return "refused"


if __name__ == "__main__":
    server.run()
