// A client on @ai-sdk/mcp, which has no sampling. Its last argument is the server's URL.
import { createMCPClient } from "@ai-sdk/mcp";

const client = await createMCPClient({ transport: { type: "http", url: process.argv.at(-1) } });
for (const tool of Object.values(await client.tools())) {
  await tool.execute({}, { messages: [], toolCallId: "1" }).catch(() => {});
}
await client.close();
