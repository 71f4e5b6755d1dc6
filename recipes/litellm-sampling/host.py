# LiteLLM's proxy as a host: with allow_sampling it answers its servers' sampling requests with its own models. This starts
# it, and calls each of the server's tools through it.
# python host.py URL
import asyncio
import json
import os
import socket
import sys
import tempfile

import httpx
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

KEY = "sk-only-for-a-test-of-this-machine"


def config(url):
    model = {"model": "openai/gpt-4.1-mini", "api_base": os.environ["OPENAI_BASE_URL"],
             "api_key": os.environ["OPENAI_API_KEY"]}
    return {
        "model_list": [{"model_name": "gpt-4.1-mini", "litellm_params": model}],
        "general_settings": {"master_key": KEY},
        # Else it asks no model for five seconds after one failed, and the next cases fail, too.
        "router_settings": {"disable_cooldowns": True},
        "mcp_servers": {"conform": {"url": url, "transport": "http", "allow_sampling": True}},
    }


async def ready(port, process):
    async with httpx.AsyncClient() as http:
        while process.returncode is None:
            try:
                if (await http.get(f"http://127.0.0.1:{port}/health/readiness")).status_code == 200:
                    return
            except httpx.HTTPError:
                pass  # it does not listen yet
            await asyncio.sleep(0.2)
    raise RuntimeError("litellm ended before it was ready")


async def call_all(port):
    http = httpx.AsyncClient(headers={"x-litellm-api-key": "Bearer " + KEY}, timeout=300)
    async with http, Client(streamable_http_client(f"http://127.0.0.1:{port}/mcp", http_client=http)) as client:
        page = await client.list_tools()
        tools = page.tools
        while page.next_cursor:
            page = await client.list_tools(cursor=page.next_cursor)
            tools += page.tools
        for tool in tools:
            try:
                await client.call_tool(tool.name, {})
            except Exception as failed:  # the call failed, as some of the cases do
                print(f"{tool.name}: {failed!r}", file=sys.stderr)


async def main(url):
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        json.dump(config(url), file)
        file.flush()
        process = await asyncio.create_subprocess_exec(
            "litellm", "--host", "127.0.0.1", "--port", str(port), "--config", file.name,
            stdout=sys.stderr, stderr=sys.stderr, env=os.environ | {"LITELLM_SALT_KEY": KEY})
        try:
            await ready(port, process)
            await call_all(port)
        finally:
            if process.returncode is None:
                process.terminate()
            await process.wait()


asyncio.run(main(*sys.argv[1:]))
