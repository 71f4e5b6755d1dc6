import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

const told = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT);
const revision = process.env.MCP_CONFORMANCE_PROTOCOL_VERSION;
const mode = !revision ? "auto" : revision >= "2026-07-28" ? { pin: revision } : "legacy";
const client = new Client({ name: "adapter", version: "1" }, { capabilities: told.capabilities, versionNegotiation: { mode } });

const refuse = (code, message) => Object.assign(new Error(message), { code });

// Aborts with the request, or after the time limit. Node 20 may lose AbortSignal.timeout within AbortSignal.any.
function limited(signal) {
  const controller = new AbortController();
  if (signal.aborted) controller.abort();
  signal.addEventListener("abort", () => controller.abort());
  setTimeout(() => controller.abort(), told.timeoutMs).unref();
  return controller.signal;
}

console.log(JSON.stringify({ "mcp-conform": "supports", feature: "decisions" })); // the adapter follows told.decision

if (told.capabilities.sampling) {
  client.setRequestHandler("sampling/createMessage", async ({ params }, { mcpReq }) => {
    if (told.decision === "decline") throw refuse(-1, "the user declined");
    const response = await fetch(told.models.native, {
      method: "POST",
      headers: { "Content-Type": "application/json", Authorization: `Bearer ${told.key}` },
      body: JSON.stringify(params),
      signal: limited(mcpReq.signal),
    });
    if (!response.ok) throw refuse(-32603, "the model did not answer"); // without its message
    const result = await response.json();
    if (told.decision === "decline-answer") throw refuse(-1, "the user declined the answer");
    return result;
  });
}

await client.connect(new StreamableHTTPClientTransport(new URL(process.argv.at(-1))));
for (const { name } of (await client.listTools()).tools) {
  const ended = await client.callTool({ name, arguments: {} }).then(
    () => ({ outcome: "completed" }),
    (error) => ({ outcome: "failed", error: { code: Number.isInteger(error.code) ? error.code : 0, message: error.message } }),
  );
  console.log(JSON.stringify({ "mcp-conform": "outcome", tool: name, ...ended }));
}
await client.close();
