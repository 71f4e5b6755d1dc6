# A host on Pydantic AI: its MCP toolset, whose model also answers the servers' sampling requests.
# python host.py openai|anthropic URL
import asyncio
import sys

from pydantic_ai.mcp import MCPToolset
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.openai import OpenAIChatModel

models = {"openai": (OpenAIChatModel, "gpt-4.1-mini"), "anthropic": (AnthropicModel, "claude-sonnet-4-5")}


async def main(provider, url):
    model, name = models[provider]
    async with MCPToolset(url, sampling_model=model(name)) as toolset:
        for tool in await toolset.list_tools():
            try:
                await toolset.direct_call_tool(tool.name, {})
            except Exception as failed:  # the call failed, as some of the cases do
                print(f"{tool.name}: {failed!r}", file=sys.stderr)


asyncio.run(main(*sys.argv[1:]))
