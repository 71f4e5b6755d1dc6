// What all adapters share: reading the contract, asking the model in the native dialect, reporting how calls ended. Only
// v1.mjs and v2.mjs know an SDK.

const told = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? "{}");

export const url = new URL(process.argv.at(-1));
export const revision = process.env.MCP_CONFORMANCE_PROTOCOL_VERSION;
export const capabilities = told.capabilities ?? { sampling: { tools: {} } };
export const info = { name: "typescript-adapter", version: "1" };

// A strict client refuses undeclared tools, invalid histories, and tool uses that the request forbids.
const strict = process.argv.includes("--strict");

/** An error for the server, with its code. */
export class Refusal extends Error {
  constructor(code, message) {
    super(message);
    this.code = code;
  }
}

// The user decides as the run wants it: see told.decision.
console.log(JSON.stringify({ "mcp-conform": "supports", feature: "decisions" }));

function unanswered() {
  throw new Refusal(-32603, "the model did not answer");
}

// Aborts with the request, or after the time limit. Node 20 may lose AbortSignal.timeout within AbortSignal.any.
function limited(signal) {
  const controller = new AbortController();
  if (signal.aborted) controller.abort();
  signal.addEventListener("abort", () => controller.abort());
  setTimeout(() => controller.abort(), told.timeoutMs ?? 60_000).unref();
  return controller.signal;
}

/** Answers a sampling request: the user decides, and the model is asked. */
export async function sample(params, signal) {
  if (strict) {
    const wrong = forbidden(params);
    if (wrong) throw new Refusal(-32602, wrong);
  }
  if (told.decision === "decline") throw new Refusal(-1, "the user declined");
  const response = await fetch(told.models.native, {
    method: "POST",
    headers: { "Content-Type": "application/json", Authorization: `Bearer ${told.key}` },
    body: JSON.stringify(params),
    signal: limited(signal), // includes the body
  }).catch(unanswered);
  giveUp?.(); // the model begins to answer
  // The server must not see the provider's message.
  if (!response.ok) unanswered();
  const result = await response.json().catch(unanswered);
  if (strict && !mayUseTools(params) && blocks(result.content).some((block) => block.type === "tool_use"))
    throw new Refusal(-32603, "the model used a forbidden tool");
  if (told.decision === "decline-answer") throw new Refusal(-1, "the user declined the answer");
  return result;
}

let giveUp; // abandons the current call; undefined if it must not be abandoned

/** The options of a call to be abandoned, or undefined. With onprogress the SDK sends a progress token. */
function givingUp(name) {
  giveUp = undefined;
  if (!told.giveUp?.includes(name)) return undefined;
  const controller = new AbortController();
  giveUp = () => controller.abort(new Error("the run asked to abandon this call"));
  return { signal: controller.signal, onprogress: giveUp };
}

/**
 * Calls each tool once, or those that the run names; then gets prompts and reads resources that it names. Reports how each
 * call ended. Call is a tool call of the SDK.
 */
export async function callTools(client, call) {
  for (const name of told.tools ?? (await allTools(client))) {
    const options = givingUp(name);
    await ended(name, call({ name, arguments: told.arguments?.[name] ?? {} }, options), options?.signal);
  }
  for (const name of told.prompts ?? []) await ended(name, client.getPrompt({ name }));
  for (const uri of told.resources ?? []) await ended(uri, client.readResource({ uri }));
}

async function allTools(client) {
  const names = [];
  let cursor;
  do {
    const page = await client.listTools(cursor && { cursor });
    names.push(...page.tools.map((tool) => tool.name));
    cursor = page.nextCursor;
  } while (cursor);
  return names;
}

async function ended(name, call, signal) {
  try {
    await call;
    outcome({ tool: name, outcome: "completed" });
  } catch (error) {
    const how = signal?.aborted ? "gave-up" : "failed";
    const code = typeof error.code === "number" ? error.code : 0;
    outcome({ tool: name, outcome: how, error: { code, message: error.message } });
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
    if (uses.length && message.role !== "assistant") return "a user message contains a tool_use";
    if (results.length && message.role !== "user") return "an assistant message contains a tool_result";
    if (results.length && results.length < content.length) return "a message contains a tool_result and other content";
    if (new Set(uses).size < uses.length) return "two tool uses with one id";
    if (new Set(results).size < results.length) return "two results for one tool use";
    if (results.some((id) => !open.includes(id))) return "a tool_result without its tool_use";
    if (open.some((id) => !results.includes(id))) return "a tool_use without its tool_result";
    open = uses;
  }
  return open.length ? "a tool_use without its tool_result" : undefined;
}
