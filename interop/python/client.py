#!/usr/bin/env python3
"""A client with only the standard library, for all revisions.

Its last argument is the server's URL. With --strict before it, the client refuses invalid requests.
"""

import base64
import contextlib
import json
import os
import sys
import threading
import urllib.error
import urllib.request

from host import GivenUp, Host, Refusal

MODERN = "2026-07-28"
MOST_ROUNDS = 10  # of one call


class Wire:
    """Streamable HTTP: every message is a POST; the response is one message or a stream."""

    def __init__(self, url, revision, host):
        self.url, self.revision, self.host = url, revision, host
        self.session = None
        self.ids = 0

    def post(self, message, name=None):
        """Sends a message and yields the messages that come back."""
        headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        if self.session or self.revision >= MODERN:
            headers["MCP-Protocol-Version"] = self.revision
        if self.session:
            headers["MCP-Session-Id"] = self.session
        if self.revision >= MODERN:
            headers["Mcp-Method"] = message["method"]
            if name:
                plain = (name.isascii() and name.isprintable() and name == name.strip()
                         and not (name.startswith("=?base64?") and name.endswith("?=")))
                headers["Mcp-Name"] = name if plain else "=?base64?" + base64.b64encode(name.encode()).decode() + "?="
        request = urllib.request.Request(self.url, json.dumps(message).encode(), headers, method="POST")
        try:
            response = urllib.request.urlopen(request)
        except urllib.error.HTTPError as error:
            if "json" not in error.headers.get("Content-Type", ""):
                raise
            response = error
        with response:
            self.session = response.headers.get("MCP-Session-Id", self.session)
            kind = response.headers.get("Content-Type", "")
            if kind.startswith("application/json"):
                yield json.load(response)
            elif kind.startswith("text/event-stream"):
                yield from events(response)

    def call(self, method, params, name=None):
        """Makes a request, retries it while its result asks for input, and returns the result."""
        wanted = params
        for _ in range(MOST_ROUNDS):
            result = self.request(method, wanted, name)
            kind = result.get("resultType", "complete")
            if self.revision < MODERN or kind == "complete":
                return result
            if kind != "input_required":
                raise Refusal(None, f"unknown result type {kind!r}")
            wanted = self.fulfil(params, result)
        raise Refusal(None, f"the server still asks for input after {MOST_ROUNDS} rounds")

    def request(self, method, params, name):
        """Makes one request and returns its result. Answers the server's requests meanwhile."""
        self.ids += 1
        mine = self.ids
        request = {"jsonrpc": "2.0", "id": mine, "method": method, "params": self.meta(params)}
        try:
            with contextlib.closing(self.post(request, name)) as messages:
                result = self.read(messages, mine)
        except GivenUp:  # closing the stream cancels only in the newest revision
            if self.revision < MODERN:
                self.cancel(mine)
            raise
        if self.host.given_up:  # a request of the server was answered for this one
            raise GivenUp
        if result is None:
            raise Refusal(None, f"no response to {method}")
        return result

    def read(self, messages, mine):
        """Returns the result of a request, or None if the stream ends before it."""
        answering = []
        for message in messages:
            if "method" in message and "id" in message:
                if self.revision < MODERN:  # newer servers make no requests
                    # In a thread: the server may send more requests on the stream meanwhile.
                    answering.append(threading.Thread(target=self.answer, args=(message, mine)))
                    answering[-1].start()
            elif message.get("method") == "notifications/progress":
                self.host.progressed()
            elif message.get("id") == mine and "error" in message:
                join(answering)
                raise Refusal(message["error"]["code"], message["error"]["message"])
            elif message.get("id") == mine:
                join(answering)
                return message["result"]
        join(answering)
        return None

    def cancel(self, mine):
        self.notify("notifications/cancelled", {"requestId": mine, "reason": "abandoned"})

    def notify(self, method, params=None):
        for _ in self.post({"jsonrpc": "2.0", "method": method} | ({"params": params} if params else {})):
            pass

    def meta(self, params):
        meta = {}
        if self.host.giving_up and "name" in params:
            meta["progressToken"] = "call of " + params["name"]
        if self.revision >= MODERN:
            meta |= {
                "io.modelcontextprotocol/protocolVersion": self.revision,
                "io.modelcontextprotocol/clientCapabilities": self.host.capabilities,
                "io.modelcontextprotocol/clientInfo": self.host.info}
        return params | {"_meta": meta} if meta else params

    def answer(self, request, mine):
        """Answers a request of the server that belongs to one of ours."""
        reply = {"jsonrpc": "2.0", "id": request["id"]}
        try:
            if request["method"] == "ping":
                reply["result"] = {}
            elif request["method"] == "sampling/createMessage":
                reply["result"] = self.host.sample(request.get("params"))
            else:
                raise Refusal(-32601, "no such method")
        except Refusal as refusal:
            reply["error"] = {"code": refusal.code, "message": str(refusal)}
        except GivenUp:  # the answer is no longer needed
            self.cancel(mine)
            return
        for _ in self.post(reply):
            pass

    def fulfil(self, params, result):
        """Answers the input requests of a result, and returns the params of the retry."""
        retry = params | {"inputResponses": {}}
        for key, asked in result.get("inputRequests", {}).items():
            declared = "sampling" in self.host.capabilities
            if not isinstance(asked, dict) or asked.get("method") != "sampling/createMessage" or not declared:
                raise Refusal(None, f"an input request that was not declared: {asked!r}")
            retry["inputResponses"][key] = self.host.sample(asked.get("params"))
        if "requestState" in result:
            retry["requestState"] = result["requestState"]
        return retry

    def open(self):
        if self.revision >= MODERN:
            return
        self.revision = self.call("initialize", {
            "protocolVersion": self.revision, "capabilities": self.host.capabilities,
            "clientInfo": self.host.info})["protocolVersion"]
        self.notify("notifications/initialized")

    def close(self):
        if self.session:
            headers = {"MCP-Session-Id": self.session, "MCP-Protocol-Version": self.revision}
            with contextlib.suppress(urllib.error.HTTPError):  # the server may have ended it
                urllib.request.urlopen(urllib.request.Request(self.url, headers=headers, method="DELETE")).close()


def join(threads):
    for thread in threads:
        thread.join()


def lines(response):
    """The lines of a stream; they end in LF, CR or CR LF."""
    line, skips, first = b"", False, True
    for piece in iter(lambda: response.read1(1 << 16), b""):
        for part in piece.splitlines(keepends=True):
            if skips and part == b"\n":  # of a CR LF
                skips = False
                continue
            line, skips = line + part, part.endswith(b"\r")
            if part.endswith((b"\r", b"\n")):
                text, line = line.rstrip(b"\r\n").decode(), b""
                yield text.removeprefix("\ufeff") if first else text
                first = False


def events(response):
    """The messages of a stream of server-sent events."""
    data = []
    for line in lines(response):
        if line.startswith("data:"):
            data.append(line[5:].removeprefix(" "))
        elif not line and data:
            text, data = "\n".join(data), []
            if text:
                yield json.loads(text)


def main():
    sys.setrecursionlimit(10_000)  # json reads nested values recursively
    context = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT", "{}"))
    host = Host(context, strict="--strict" in sys.argv)
    wire = Wire(sys.argv[-1], os.environ.get("MCP_CONFORMANCE_PROTOCOL_VERSION") or MODERN, host)
    host.announce()
    wire.open()
    page = wire.call("tools/list", {})
    listed = [tool["name"] for tool in page["tools"]]
    while "nextCursor" in page:
        page = wire.call("tools/list", {"cursor": page["nextCursor"]})
        listed += [tool["name"] for tool in page["tools"]]
    calls = [("tools/call", name, {"name": name, "arguments": host.arguments.get(name, {})}) for name in host.tools or listed]
    calls += [("prompts/get", name, {"name": name}) for name in host.prompts]
    calls += [("resources/read", uri, {"uri": uri}) for uri in host.resources]
    for method, name, params in calls:
        host.calls(name)
        try:
            wire.call(method, params, name)
            host.outcome(name, "completed")
        except GivenUp:
            host.outcome(name, "gave-up")
        except Refusal as refusal:
            host.outcome(name, "failed", error={"code": refusal.code or 0, "message": str(refusal)})
    wire.close()


main()
