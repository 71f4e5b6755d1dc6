"""An adapter for mcp-conform on the official Python SDK, mcp 2.x or 1.x.

It calls every tool of the server once. sample() answers sampling by asking a model, see model.py: --provider openai or
anthropic, with their packages, or native, which converts nothing.
"""

import json
import os
import sys

import anyio
import mcp

import model

told = json.loads(os.environ["MCP_CONFORMANCE_CONTEXT"])
revision = os.environ["MCP_CONFORMANCE_PROTOCOL_VERSION"]
ask = getattr(model, sys.argv[sys.argv.index("--provider") + 1] if "--provider" in sys.argv else "native")
newest = hasattr(mcp, "Client")  # 2.x
types = __import__("mcp_types") if newest else mcp.types
calls = {}  # the scope of the call that is to be abandoned


async def sample(context, params):
    """The SDK's sampling callback: the user decides, and the model is asked."""
    if told["decision"] == "decline":
        return types.ErrorData(code=-1, message="the user declined")
    try:
        with anyio.fail_after(told["timeoutMs"] / 1000):
            result = await ask(params.model_dump(by_alias=True, mode="json", exclude_none=True), told, give_up)
        if isinstance(result["content"], list) and len(result["content"]) == 1:
            result["content"] = result["content"][0]
        result = types.CreateMessageResultWithTools.model_validate(result)  # CreateMessageResult takes one block
    except Exception:  # whatever it is: the server gets no message of the model
        return types.ErrorData(code=-32603, message="the model did not answer")
    if told["decision"] == "decline-answer":
        return types.ErrorData(code=-1, message="the user declined the answer")
    return result


def give_up():
    """Abandons the current call, if the run says so: it has made progress, or the model begins to answer."""
    for scope in calls.values():
        scope.cancel()


async def ended(name, call, *arguments, **options):
    outcome = {"outcome": "gave-up"}
    with anyio.CancelScope() as scope:
        if name in told.get("giveUp", []):
            async def progressed(*_): give_up()
            calls[name], options["progress_callback"] = scope, progressed
        try:
            await call(*arguments, **options)
            outcome = {"outcome": "completed"}
        except Exception as error:
            error = getattr(error, "error", error)
            outcome = {"outcome": "failed", "error": {"code": getattr(error, "code", 0), "message": str(error)}}
    calls.clear()
    print(json.dumps({"mcp-conform": "outcome", "tool": name, **outcome}), flush=True)


async def all_tools(client):
    page = await client.list_tools()
    names = [tool.name for tool in page.tools]
    while cursor := getattr(page, "next_cursor" if newest else "nextCursor"):
        page = await client.list_tools(cursor=cursor)
        names += [tool.name for tool in page.tools]
    return names


async def call_everything(client):
    for name in told.get("tools") or await all_tools(client):
        await ended(name, client.call_tool, name, {})
    for name in told.get("prompts", []):
        await ended(name, client.get_prompt, name)
    for uri in told.get("resources", []):
        await ended(uri, client.read_resource, uri)


async def main():
    print(json.dumps({"mcp-conform": "supports", "feature": "decisions"}), flush=True)
    asked = told["capabilities"].get("sampling")
    options = {"client_info": types.Implementation(name="adapter", version="1")}
    if asked is not None:
        options |= {"sampling_callback": sample, "sampling_capabilities": types.SamplingCapability.model_validate(asked)}
    server = mcp.StdioServerParameters(**told["server"]) if "server" in told else sys.argv[-1]
    if newest:
        mode = "auto" if not revision else revision if revision >= "2026-07-28" else "legacy"
        async with mcp.Client(server, mode=mode, **options) as client:
            await call_everything(client)
        return
    from mcp.client.streamable_http import streamable_http_client
    connect = mcp.stdio_client if "server" in told else streamable_http_client
    async with connect(server) as streams, mcp.ClientSession(*streams[:2], **options) as client:
        await client.initialize()
        await call_everything(client)


anyio.run(main)
