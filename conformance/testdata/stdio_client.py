"""A client over stdio in the first era, with the standard library alone, and the ways in which it can behave badly: its argument."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request

behaviour = sys.argv[1]
context = json.loads(os.environ["MCP_CONFORMANCE_CONTEXT"])
command = [context["server"]["command"]] + context["server"]["args"]
requests = 0


def launch():
    # A clean environment and a process group of its own, as the Python SDK gives its servers.
    errors = subprocess.PIPE if behaviour == "fears-stderr" else None
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, env={}, start_new_session=True)


def fear(errors):
    if errors.readline():
        os._exit(3)


if behaviour == "dies-of-sigpipe":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
server = launch()
if server.stderr:
    fearing = threading.Thread(target=fear, args=(server.stderr,), daemon=True)
    fearing.start()


def write(data):
    try:
        server.stdin.write(data)
        server.stdin.flush()
    except BrokenPipeError:
        if behaviour != "waits-for-the-dead":
            raise


def send(message):
    message["jsonrpc"] = "2.0"
    line = json.dumps(message).encode() + b"\n"
    if behaviour == "crlf":
        line = line[:-1] + b"\r\n"
    if behaviour == "byte-order-mark" and message.get("method") == "initialize":
        line = b"\xef\xbb\xbf" + line
    if behaviour == "pretty" and message.get("method") != "initialize":
        line = json.dumps(message, indent=2).encode() + b"\n"
    if behaviour == "logs":
        line = b"INFO sending " + message.get("method", "a response").encode() + b"\n" + line
    if behaviour == "latin1":
        line = json.dumps({**message, "where": "cafe"}).encode().replace(b"cafe", b"caf\xe9") + b"\n"
    write(line)


def receive():
    line = server.stdout.readline()
    if not line and behaviour == "waits-for-the-dead":
        time.sleep(1000)
    if not line:
        sys.exit("the server ended the connection")
    return json.loads(line)


def sample(params):
    request = urllib.request.Request(context["models"]["native"], json.dumps(params).encode(), {"Content-Type": "application/json", "Authorization": "Bearer " + context["key"]})
    result = json.load(urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request))
    if not params.get("tools") or params.get("toolChoice", {}).get("mode") == "none":  # a tool use is then a mistake of the model's
        content = result["content"] if isinstance(result["content"], list) else [result["content"]]
        result["content"] = [block for block in content if block["type"] != "tool_use"] or {"type": "text", "text": ""}
    return result


def request(method, params):
    global requests
    requests += 1
    mine = requests
    samples = 0
    send({"id": mine, "method": method, "params": params})
    while True:
        message = receive()
        if message.get("method") == "sampling/createMessage":
            if behaviour == "half-a-frame":
                write(b'{"jsonrpc":"2.0","id":' + str(message["id"]).encode() + b',"result":{"role":"assist')
                sys.exit(0)
            samples += 1
            try:
                result = sample(message["params"])
                if server.stderr and samples == 2:  # meanwhile the server has written there: that is on its way, and not overtaken
                    fearing.join()
                send({"id": message["id"], "result": result})
            except urllib.error.HTTPError as failure:
                send({"id": message["id"], "error": {"code": -32603, "message": "the model failed with HTTP " + str(failure.code)}})
        elif message.get("id") == mine:
            return message.get("result")


def initialize():
    request("initialize", {"protocolVersion": os.environ["MCP_CONFORMANCE_PROTOCOL_VERSION"], "capabilities": context["capabilities"], "clientInfo": {"name": "bad", "version": "1"}})
    send({"method": "notifications/initialized"})


if behaviour == "closes-at-once":
    server.stdin.close()
    server.wait()
    sys.exit(0)
if behaviour == "garbage":
    write(os.urandom(100).replace(b"\n", b"") + b"\x00\xff\n" + b"}{\n")
if behaviour == "kills-the-server":
    initialize()
    request("ping", {})
    server.send_signal(signal.SIGKILL)
    server.wait()
    sys.exit(0)
initialize()
if behaviour == "restarts":  # in the middle of a session
    server.stdin.close()
    server.wait()
    server = launch()
    initialize()
if behaviour == "batch":
    write(b'[{"jsonrpc":"2.0","id":100,"method":"ping"},{"jsonrpc":"2.0","id":101,"method":"ping"}]\n')
if behaviour == "two-in-a-line":
    write(b'{"jsonrpc":"2.0","id":100,"method":"ping"}{"jsonrpc":"2.0","id":101,"method":"ping"}\n')
if behaviour == "long-line":
    for _ in range(100):
        write(b"x" * (1 << 20))
    write(b"\n")
if behaviour == "reads-nothing":
    while True:
        send({"id": 100, "method": "tools/list", "params": {}})
if behaviour == "dies":
    os.kill(os.getpid(), signal.SIGKILL)
for tool in request("tools/list", {})["tools"]:
    request("tools/call", {"name": tool["name"], "arguments": {}})
if behaviour == "leaves-the-server":
    os._exit(0)  # what it launched has a process group of its own, and is not waited for
if behaviour == "leaves-a-grandchild":
    # It holds the pipe to the server, which so never learns that the client has gone.
    subprocess.Popen(["sleep", "1000"], stdout=server.stdin, start_new_session=True)
    os._exit(0)
if behaviour == "kills-in-the-end":
    server.send_signal(signal.SIGTERM)
    server.wait()
server.stdin.close()
server.wait()
