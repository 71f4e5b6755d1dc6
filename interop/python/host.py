"""The sampling of the client: the user decides, and the model is asked."""

import http.client
import json
import time
import urllib.request


class Refusal(Exception):
    """An error for the other side, with its code."""

    def __init__(self, code, message):
        super().__init__(message)
        self.code = code


class GivenUp(Exception):
    """The client abandons the current call."""


class Host:
    """Told is the context of the run: what to declare, how the user decides, where the model is."""

    info = {"name": "python-adapter", "version": "1"}

    def __init__(self, told, strict):
        self.capabilities = told.get("capabilities", {"sampling": {"tools": {}}})
        self.decision, self.tools = told.get("decision"), told.get("tools")
        self.arguments = told.get("arguments", {})
        self.prompts, self.resources = told.get("prompts", []), told.get("resources", [])
        self.model, self.key = told.get("models", {}).get("native"), told.get("key", "")
        self.give_up, self.giving_up, self.given_up = told.get("giveUp", []), False, False
        self.strict = strict
        self.timeout = told.get("timeoutMs", 60_000) / 1000

    def calls(self, tool):
        """Begins the call of a tool."""
        self.giving_up, self.given_up = tool in self.give_up, False

    def progressed(self):
        """Is called when the call makes progress, or when the model begins to answer. Abandons the call if the run says so."""
        if self.giving_up:
            self.giving_up, self.given_up = False, True
            raise GivenUp

    def sample(self, params):
        if "sampling" not in self.capabilities:
            raise Refusal(-32601, "sampling was not declared")
        if not isinstance(params, dict) or not isinstance(params.get("messages"), list):
            raise Refusal(-32602, "params without messages")
        if self.strict and (wrong := forbidden(params, self.capabilities["sampling"])):
            raise Refusal(-32602, wrong)
        if self.decision == "decline":
            raise Refusal(-1, "the user declined")
        request = urllib.request.Request(self.model, json.dumps(params).encode(), {
            "Content-Type": "application/json", "Authorization": "Bearer " + self.key})
        try:
            result = json.loads(self.ask(request))
        except (OSError, http.client.HTTPException, ValueError) as error:  # the server must not see the provider's message
            raise Refusal(-32603, "the model did not answer") from error
        uses = any(block["type"] == "tool_use" for block in blocks(result["content"]))
        if self.strict and uses and not may_use_tools(params):
            raise Refusal(-32603, "the model used a forbidden tool")
        if self.decision == "decline-answer":
            raise Refusal(-1, "the user declined the answer")
        return result

    def ask(self, request):
        """Posts the request and returns the answer. The limit is for all of it: the library's own is per read."""
        until = time.monotonic() + self.timeout
        answer = b""
        with urllib.request.urlopen(request, timeout=self.timeout) as response:
            self.progressed()
            while piece := response.read1():
                answer += piece
                if time.monotonic() > until:
                    raise TimeoutError("the model takes too long")
        return answer

    def announce(self):
        """Tells the harness that the user decides as the run wants it."""
        print(json.dumps({"mcp-conform": "supports", "feature": "decisions"}), flush=True)

    def outcome(self, tool, how, **more):
        """Tells the harness how a call ended."""
        print(json.dumps({"mcp-conform": "outcome", "tool": tool, "outcome": how} | more), flush=True)


def blocks(content):
    return content if isinstance(content, list) else [content]


def may_use_tools(params):
    return bool(params.get("tools")) and params.get("toolChoice", {}).get("mode") != "none"


def forbidden(params, declared):
    """Says what is wrong with a request, or returns None."""
    if ("tools" in params or "toolChoice" in params) and "tools" not in declared:
        return "tools were not declared"
    unanswered = set()
    for message in params["messages"]:
        content = blocks(message["content"])
        uses = [block["id"] for block in content if block["type"] == "tool_use"]
        results = [block["toolUseId"] for block in content if block["type"] == "tool_result"]
        if uses and message["role"] != "assistant":
            return "a user message contains a tool_use"
        if results and message["role"] != "user":
            return "an assistant message contains a tool_result"
        if results and len(results) < len(content):
            return "a message contains a tool_result and other content"
        if len(set(uses)) < len(uses) or len(set(results)) < len(results):
            return "duplicate id"
        if set(results) - unanswered:
            return "a tool_result without its tool_use"
        if unanswered - set(results):
            return "a tool_use without its tool_result"
        unanswered = set(uses)
    return "a tool_use without its tool_result" if unanswered else None
