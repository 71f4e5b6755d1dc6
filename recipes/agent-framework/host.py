# A host on Microsoft's Agent Framework: an MCP tool with a chat client, which answers the server's sampling requests.
# python host.py URL
import asyncio
import sys

from agent_framework import MCPStreamableHTTPTool
from agent_framework.openai import OpenAIChatCompletionClient

# By default it refuses all requests of a server, after a few of a session, and has a limit of tokens of its own.
sampling = {
    "sampling_approval_callback": lambda params: True,
    "sampling_max_requests": None,
    "sampling_max_tokens": None,
}


async def main(url):
    client = OpenAIChatCompletionClient(model="gpt-4.1-mini")
    async with MCPStreamableHTTPTool("server", url, client=client, load_prompts=False, **sampling) as server:
        for tool in server.functions:
            try:
                await server.call_tool(tool.name)
            except Exception as failed:  # the call failed, as some of the cases do
                print(f"{tool.name}: {failed!r}", file=sys.stderr)


asyncio.run(main(sys.argv[1]))
