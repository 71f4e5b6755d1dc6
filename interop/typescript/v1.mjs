// A client on @modelcontextprotocol/sdk (v1), for 2025-11-25 and older. Its last argument is the server's URL.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { CreateMessageRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { callTools, capabilities, info, sample, url } from "./adapter.mjs";

const client = new Client(info, { capabilities });
if (capabilities.sampling) {
  client.setRequestHandler(CreateMessageRequestSchema, (request, { signal }) => sample(request.params, signal));
}
const transport = new StreamableHTTPClientTransport(url);
await client.connect(transport);
await callTools(client, (params, options) => client.callTool(params, undefined, options));
await transport.terminateSession().catch(() => {}); // the server may have ended it
await client.close();
