// A minimal client without dependencies: Streamable HTTP with fetch, in both eras, and the model in the native dialect.
// It calls every tool once, answers sampling by asking the model, and reports how each call ended. JSON.parse rounds
// integers beyond 2^53, so a check fails it.
const url = process.argv.at(-1);
const revision = process.env.MCP_CONFORMANCE_PROTOCOL_VERSION;
const context = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT);
const modern = revision >= "2026";
const clientInfo = { name: "node-adapter", version: "1" };
let session, lastID = 0;

async function post(message) {
  const headers = { "Content-Type": "application/json", Accept: "application/json, text/event-stream" };
  if (session) headers["Mcp-Session-Id"] = session;
  if (modern || session) headers["Mcp-Protocol-Version"] = revision;
  if (modern) headers["Mcp-Method"] = message.method;
  if (modern && message.params.name) headers["Mcp-Name"] = message.params.name;
  const response = await fetch(url, { method: "POST", headers, body: JSON.stringify(message) });
  session ??= response.headers.get("mcp-session-id") ?? undefined;
  return response;
}

async function* messages(response) {
  if (!response.headers.get("content-type")?.startsWith("text/event-stream")) return yield await response.json();
  let text = "";
  for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
    const events = (text + chunk).split("\n\n");
    text = events.pop();
    for (const event of events) {
      const data = event.split("\n").filter((line) => line.startsWith("data:")).map((line) => line.slice(5)).join("\n");
      if (data.trim()) yield JSON.parse(data);
    }
  }
}

async function sample(params) {
  const headers = { "Content-Type": "application/json" };
  const response = await fetch(context.models.native, { method: "POST", headers, body: JSON.stringify(params) });
  if (!response.ok) throw new Error(`the model returned status ${response.status}`);
  return response.json();
}

async function respond(request) {
  const answer = await sample(request.params).then(
    (result) => ({ result }), (e) => ({ error: { code: -32603, message: e.message } }));
  await post({ jsonrpc: "2.0", id: request.id, ...answer });
}

async function request(method, params) {
  const id = ++lastID;
  if (modern) {
    params = { ...params, _meta: {
      "io.modelcontextprotocol/protocolVersion": revision,
      "io.modelcontextprotocol/clientInfo": clientInfo,
      "io.modelcontextprotocol/clientCapabilities": context.capabilities,
    } };
  }
  for await (const message of messages(await post({ jsonrpc: "2.0", id, method, params }))) {
    if (message.method === "sampling/createMessage") await respond(message);
    else if (message.error) throw message.error;
    else if (message.result?.resultType === "input_required") return retry(method, params, message.result);
    else if (message.result) return message.result;
  }
}

async function retry(method, params, { inputRequests, requestState }) {
  const inputResponses = {};
  for (const [key, input] of Object.entries(inputRequests)) inputResponses[key] = await sample(input.params);
  return request(method, { ...params, inputResponses, requestState });
}

if (!modern) {
  await request("initialize", { protocolVersion: revision, capabilities: context.capabilities, clientInfo });
  await post({ jsonrpc: "2.0", method: "notifications/initialized" });
}
const { tools } = await request("tools/list", {});
for (const { name } of tools) {
  const ended = await request("tools/call", { name, arguments: {} }).then(
    () => ({ outcome: "completed" }), (e) => ({ outcome: "failed", error: { code: e.code, message: e.message } }));
  console.log(JSON.stringify({ "mcp-conform": "outcome", tool: name, ...ended }));
}
