"""A small MCP client: starts `recollect mcp`, stores a memory and recalls it, as an agent would.

python examples/mcp_client.py
"""

import asyncio

from mcp import Client, StdioServerParameters


async def main() -> None:
    """Talk to the server over its standard input and output."""
    server = StdioServerParameters(command="recollect", args=["mcp"])
    async with Client(server) as client:
        tools = await client.list_tools()
        print("tools:", ", ".join(tool.name for tool in tools.tools))
        await client.call_tool(
            "memory_store",
            {
                "content": "Kea, the API gateway, times out after 30 s; longer jobs go through the queue.",
                "tags": ["kea"],
            },
        )
        answer = await client.call_tool("memory_recall", {"query": "gateway timeout"})
        for content in answer.content:
            print(getattr(content, "text", ""))


if __name__ == "__main__":
    asyncio.run(main())
