// What every adapter here does alike: it reads the contract, asks the model in the native dialect, and tells how its calls ended.
// Only v1.mjs and v2.mjs know an SDK.

const told = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? "{}");

export const url = new URL(process.argv.at(-1));
export const revision = process.env.MCP_CONFORMANCE_PROTOCOL_VERSION;
export const capabilities = told.capabilities ?? { sampling: { tools: {} } };
export const info = { name: "typescript-adapter", version: "1" };

// A strict client refuses what a good host refuses: tools it did not declare, histories that the specification forbids, and tool uses
// of the model that the request does not allow.
const strict = process.argv.includes("--strict");

/** An error with the code that the server is to get. */
export class Refusal extends Error {
  constructor(code, message) {
    super(message);
    this.code = code;
  }
}

// The person decides as the run wants it: see decision below.
console.log(JSON.stringify({ "mcp-conform": "supports", feature: "decisions" }));

function unanswered() {
  throw new Refusal(-32603, "the model could not be asked");
}

/** Answers a sampling request: the person decides, and the model is asked. */
export async function sample(params, signal) {
  if (strict) {
    const wrong = forbidden(params);
    if (wrong) throw new Refusal(-32602, wrong);
  }
  if (told.decision === "decline") throw new Refusal(-1, "the person declined");
  const response = await fetch(told.models.native, {
    method: "POST",
    headers: { "Content-Type": "application/json", Authorization: `Bearer ${told.key}` },
    body: JSON.stringify(params),
    signal: AbortSignal.any([signal, AbortSignal.timeout(told.timeoutMs ?? 60_000)]), // also of the body
  }).catch(unanswered);
  giveUp?.(); // for the model begins to answer
  // What the provider says of its errors is not for the server.
  if (!response.ok) unanswered();
  const result = await response.json().catch(unanswered);
  if (strict && !mayUseTools(params) && blocks(result.content).some((block) => block.type === "tool_use"))
    throw new Refusal(-32603, "the model used a tool that it was not to use");
  if (told.decision === "decline-answer") throw new Refusal(-1, "the person declined the answer");
  return result;
}

let giveUp; // gives up the call that is under way; undefined where it is not to be given up

/** The options of a call that is to be given up, with a progress token, for the SDK sends one to whoever listens; undefined for any other. */
function givingUp(name) {
  giveUp = undefined;
  if (!told.giveUp?.includes(name)) return undefined;
  const controller = new AbortController();
  giveUp = () => controller.abort(new Error("the client was told to give up this call"));
  return { signal: controller.signal, onprogress: giveUp };
}

/**
 * Lists the tools and calls each once, or those that it is told to; then gets prompts and reads resources, where it is told of some. How a
 * call ended is for the server to see, and told besides. Call makes a call of a tool with options, as the SDK has it.
 */
export async function callTools(client, call) {
  const listed = (await client.listTools()).tools.map((tool) => tool.name);
  for (const name of told.tools ?? listed) {
    const options = givingUp(name);
    await ended(name, call({ name, arguments: {} }, options), options?.signal);
  }
  for (const name of told.prompts ?? []) await ended(name, client.getPrompt({ name }));
  for (const uri of told.resources ?? []) await ended(uri, client.readResource({ uri }));
}

async function ended(name, call, signal) {
  try {
    await call;
    outcome({ tool: name, outcome: "completed" });
  } catch (error) {
    const how = signal?.aborted ? "gave-up" : "failed";
    outcome({ tool: name, outcome: how, error: { code: typeof error.code === "number" ? error.code : 0, message: error.message } });
  }
}

function outcome(line) {
  console.log(JSON.stringify({ "mcp-conform": "outcome", ...line }));
}

const blocks = (content) => (Array.isArray(content) ? content : [content]);

const mayUseTools = (params) => params.tools?.length > 0 && params.toolChoice?.mode !== "none";

/** Says what is wrong with a request, or nothing. */
function forbidden(params) {
  const tools = capabilities.sampling?.tools;
  if ((params.tools || params.toolChoice) && !tools) return "tools were not declared";
  let open = [];
  for (const message of params.messages) {
    const content = blocks(message.content);
    const results = content.filter((block) => block.type === "tool_result").map((block) => block.toolUseId);
    const uses = content.filter((block) => block.type === "tool_use").map((block) => block.id);
    if (uses.length && message.role !== "assistant") return "a tool_use under the role user";
    if (results.length && message.role !== "user") return "a tool_result under the role assistant";
    if (results.length && results.length < content.length) return "a tool_result beside other content";
    if (new Set(uses).size < uses.length) return "two tool uses with one id";
    if (new Set(results).size < results.length) return "two results for one tool use";
    if (results.some((id) => !open.includes(id))) return "a tool_result without its tool_use";
    if (open.some((id) => !results.includes(id))) return "a tool_use without its tool_result";
    open = uses;
  }
  return open.length ? "a tool_use without its tool_result" : undefined;
}
