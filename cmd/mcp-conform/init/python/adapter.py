"""An adapter for mcp-conform: it calls every tool of the server once, and answers sampling by asking the model.

Replace the class Client, which speaks 2025-11-25 with the standard library, by the client that you want to test.
"""

import json
import os
import sys
import threading
import urllib.request

told = json.loads(os.environ["MCP_CONFORMANCE_CONTEXT"])
revision = os.environ["MCP_CONFORMANCE_PROTOCOL_VERSION"]


def sample(params):
    """Asks the model, in its native dialect: the params of the request go in, the result comes out."""
    headers = {"Content-Type": "application/json", "Authorization": "Bearer " + told["key"]}
    request = urllib.request.Request(told["models"]["native"], json.dumps(params).encode(), headers)
    with urllib.request.urlopen(request, timeout=told["timeoutMs"] / 1000) as response:
        return json.load(response)


class Declined(Exception):
    """The user did not allow the request, or its answer."""


def decided(params):
    """Asks the model as the user decides."""
    if told["decision"] == "decline":
        raise Declined
    result = sample(params)
    if told["decision"] == "decline-answer":
        raise Declined
    return result


class Client:
    def __init__(self, url):
        self.url, self.session, self.last = url, None, 0
        self.request("initialize", {"protocolVersion": revision, "capabilities": told["capabilities"],
                                    "clientInfo": {"name": "adapter", "version": "1"}})
        list(self.post({"jsonrpc": "2.0", "method": "notifications/initialized"}))

    def request(self, method, params):
        self.last += 1
        mine, answering = self.last, []
        for message in self.post({"jsonrpc": "2.0", "id": mine, "method": method, "params": params}):
            if "method" in message and "id" in message:
                answering.append(threading.Thread(target=self.answer, args=(message,)))
                answering[-1].start()
            elif message.get("id") == mine:
                for thread in answering:
                    thread.join()
                if "error" in message:
                    raise RuntimeError(message["error"])
                return message["result"]
        raise RuntimeError("no response to " + method)

    def answer(self, request):
        reply = {"jsonrpc": "2.0", "id": request["id"]}
        if request["method"] == "ping":
            reply["result"] = {}
        elif request["method"] != "sampling/createMessage" or "sampling" not in told["capabilities"]:
            reply["error"] = {"code": -32601, "message": "no such method"}
        else:
            try:
                reply["result"] = decided(request["params"])
            except Declined:
                reply["error"] = {"code": -1, "message": "the user declined"}
            except Exception:  # whatever it is: the server gets no message of the model
                reply["error"] = {"code": -32603, "message": "the model did not answer"}
        list(self.post(reply))

    def post(self, message):
        """Sends a message and yields those that come back: one, or a stream of server-sent events."""
        headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        if self.session:
            headers |= {"MCP-Session-Id": self.session, "MCP-Protocol-Version": revision}
        with urllib.request.urlopen(urllib.request.Request(self.url, json.dumps(message).encode(), headers)) as response:
            self.session = response.headers.get("MCP-Session-Id", self.session)
            if response.headers.get("Content-Type", "").startswith("application/json"):
                yield json.load(response)
                return
            data = b""
            for line in response:
                if line.startswith(b"data:"):
                    data += line[5:]
                elif not line.strip():  # the end of an event
                    try:
                        yield json.loads(data)
                    except ValueError:  # an event without a message, as that which only opens a stream
                        pass
                    data = b""


print(json.dumps({"mcp-conform": "supports", "feature": "decisions"}), flush=True)
client = Client(sys.argv[-1])
page = client.request("tools/list", {})
tools = page["tools"]
while "nextCursor" in page:
    page = client.request("tools/list", {"cursor": page["nextCursor"]})
    tools += page["tools"]
for tool in tools:
    ended = {"outcome": "completed"}
    try:
        client.request("tools/call", {"name": tool["name"], "arguments": {}})
    except RuntimeError as error:
        ended = {"outcome": "failed", "error": {"code": 0, "message": str(error)}}
    print(json.dumps({"mcp-conform": "outcome", "tool": tool["name"], **ended}), flush=True)
