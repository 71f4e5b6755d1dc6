"""An adapter for mcp-conform on FastMCP 4, with the sampling handlers that it ships.

It calls every tool of the server once. --provider is openai, anthropic or gemini.
"""

import json
import os
import sys

import anyio
import mcp_types as types
from fastmcp import Client
from fastmcp.client.transports import StdioTransport

told = json.loads(os.environ["MCP_CONFORMANCE_CONTEXT"])
revision = os.environ["MCP_CONFORMANCE_PROTOCOL_VERSION"]
provider = sys.argv[sys.argv.index("--provider") + 1] if "--provider" in sys.argv else "openai"


def handler():
    if provider == "anthropic":
        from anthropic import AsyncAnthropic
        from fastmcp.client.sampling.handlers.anthropic import AnthropicSamplingHandler
        client = AsyncAnthropic(base_url=told["models"]["anthropic"], api_key=told["key"])
        return AnthropicSamplingHandler("claude-sonnet-4-5", client)
    if provider == "gemini":
        from fastmcp.client.sampling.handlers.google_genai import GoogleGenaiSamplingHandler
        from google.genai import Client as Genai
        client = Genai(api_key=told["key"], http_options={"base_url": told["models"]["gemini"]})
        return GoogleGenaiSamplingHandler("gemini-2.5-flash", client)
    from fastmcp.client.sampling.handlers.openai import OpenAISamplingHandler
    from openai import AsyncOpenAI
    client = AsyncOpenAI(base_url=told["models"]["openai-chat"], api_key=told["key"])
    return OpenAISamplingHandler("gpt-4.1", client)


async def call_everything(client):
    for name in told.get("tools") or [tool.name for tool in await client.list_tools()]:
        await ended(name, client.call_tool(name, {}, raise_on_error=False))
    for name in told.get("prompts", []):
        await ended(name, client.get_prompt(name))
    for uri in told.get("resources", []):
        await ended(uri, client.read_resource(uri))


async def ended(name, call):
    outcome = {"outcome": "completed"}
    try:
        await call
    except Exception as error:
        error = getattr(error, "error", error)
        outcome = {"outcome": "failed", "error": {"code": getattr(error, "code", 0), "message": str(error)}}
    print(json.dumps({"mcp-conform": "outcome", "tool": name, **outcome}), flush=True)


async def main():
    options = {}
    asked = told["capabilities"].get("sampling")
    if asked is not None:
        options = {"sampling_handler": handler(), "sampling_capabilities": types.SamplingCapability.model_validate(asked)}
    server = StdioTransport(**told["server"]) if "server" in told else sys.argv[-1]
    mode = "auto" if not revision else revision if revision >= "2026-07-28" else "legacy"
    async with Client(server, mode=mode, **options) as client:
        await call_everything(client)


anyio.run(main)
