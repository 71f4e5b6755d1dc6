# A host on Semantic Kernel: its MCP plugin, whose chat completion answers the server's sampling requests.
# python host.py URL
import asyncio
import sys

from semantic_kernel import Kernel
from semantic_kernel.connectors.ai.open_ai import OpenAIChatCompletion
from semantic_kernel.connectors.mcp import MCPStreamableHttpPlugin


async def main(url):
    kernel = Kernel()
    kernel.add_service(OpenAIChatCompletion("gpt-4.1-mini"))
    # By default it refuses all requests of a server.
    plugin = MCPStreamableHttpPlugin("server", url, kernel=kernel, sampling_auto_approve=True, load_prompts=False)
    async with plugin:
        tools, page = [], await plugin.session.list_tools()
        while page:
            tools += page.tools
            page = page.nextCursor and await plugin.session.list_tools(page.nextCursor)
        for tool in tools:
            try:
                await plugin.call_tool(tool.name)
            except Exception as failed:  # the call failed, as some of the cases do
                print(f"{tool.name}: {failed!r}", file=sys.stderr)


asyncio.run(main(sys.argv[1]))
