// A client on @modelcontextprotocol/client (v2), for all revisions. Its last argument is the server's URL.
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { callTools, capabilities, info, revision, sample, url } from "./adapter.mjs";

const modern = revision >= "2026-07-28";
const mode = !revision ? "auto" : modern ? { pin: revision } : "legacy";
const client = new Client(info, { capabilities, versionNegotiation: { mode } });
if (capabilities.sampling) {
  client.setRequestHandler("sampling/createMessage", (request, { mcpReq }) => sample(request.params, mcpReq.signal));
}
const transport = new StreamableHTTPClientTransport(url);
await client.connect(transport);
await callTools(client, (params, options) => client.callTool(params, options));
if (transport.sessionId) await transport.terminateSession().catch(() => {}); // the server may have ended it
await client.close();
