// Holds one conversation with the model at a base URL, through a provider's own SDK, and prints what the SDK returned:
//
//	node sdks.mjs SDK BASE-URL plain|streamed
//
// The model calls two tools and gets their results. The last request fails.
const [sdk, base, how] = process.argv.slice(2);
const streamed = how === "streamed";
const question = "How is the weather in Paris and London?";
const description = "Current weather in a city";
const schema = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
const results = { Paris: "eighteen degrees", London: "fifteen degrees" };

// Each SDK has ask(history), which returns {text, calls: [{id, name, input}], reason, turn}, and builds its own history with
// user(text) and answers(turn, calls).
const sdks = {
  "openai-chat": async () => {
    const { default: OpenAI } = await import("openai");
    const client = new OpenAI({ baseURL: base, apiKey: "sk-test", maxRetries: 0 });
    const tools = [{ type: "function", function: { name: "get_weather", description, parameters: schema } }];
    return {
      user: (text) => [{ role: "user", content: text }],
      answers: (turn, calls) => [turn, ...calls.map((c) => ({ role: "tool", tool_call_id: c.id, content: results[c.input.city] }))],
      ask: async (messages) => {
        const body = { model: "gpt-4o", max_tokens: 100, messages, tools };
        const whole = streamed ? await client.chat.completions.stream(body).finalChatCompletion() : await client.chat.completions.create(body);
        const { message, finish_reason } = whole.choices[0];
        const calls = (message.tool_calls ?? []).map((c) => ({ id: c.id, name: c.function.name, input: JSON.parse(c.function.arguments) }));
        return { text: message.content ?? "", calls, reason: finish_reason, turn: message };
      },
    };
  },
  "openai-responses": async () => {
    const { default: OpenAI } = await import("openai");
    const client = new OpenAI({ baseURL: base, apiKey: "sk-test", maxRetries: 0 });
    const tools = [{ type: "function", name: "get_weather", description, parameters: schema, strict: false }];
    return {
      user: (text) => [{ role: "user", content: text }],
      answers: (turn, calls) => [...turn, ...calls.map((c) => ({ type: "function_call_output", call_id: c.id, output: results[c.input.city] }))],
      ask: async (input) => {
        const body = { model: "gpt-4o", max_output_tokens: 100, input, tools };
        const whole = streamed ? await client.responses.stream(body).finalResponse() : await client.responses.create(body);
        const calls = whole.output.filter((item) => item.type === "function_call").map((c) => ({ id: c.call_id, name: c.name, input: JSON.parse(c.arguments) }));
        // The SDK adds members that the API does not accept.
        const turn = JSON.parse(JSON.stringify(whole.output, (name, value) => (name.startsWith("parsed") ? undefined : value)));
        return { text: whole.output_text, calls, reason: whole.status, turn };
      },
    };
  },
  anthropic: async () => {
    const { default: Anthropic } = await import("@anthropic-ai/sdk");
    const client = new Anthropic({ baseURL: base, apiKey: "sk-test", maxRetries: 0 });
    const tools = [{ name: "get_weather", description, input_schema: schema }];
    return {
      user: (text) => [{ role: "user", content: text }],
      answers: (turn, calls) => [
        { role: "assistant", content: turn },
        { role: "user", content: calls.map((c) => ({ type: "tool_result", tool_use_id: c.id, content: results[c.input.city] })) },
      ],
      ask: async (messages) => {
        const body = { model: "claude-sonnet-4-5", max_tokens: 100, messages, tools };
        const whole = streamed ? await client.messages.stream(body).finalMessage() : await client.messages.create(body);
        const calls = whole.content.filter((b) => b.type === "tool_use").map((b) => ({ id: b.id, name: b.name, input: b.input }));
        const text = whole.content.filter((b) => b.type === "text").map((b) => b.text).join("");
        return { text, calls, reason: whole.stop_reason, turn: whole.content };
      },
    };
  },
  gemini: async () => {
    const { GoogleGenAI } = await import("@google/genai");
    const client = new GoogleGenAI({ apiKey: "test", httpOptions: { baseUrl: base, retryOptions: { attempts: 1 } } });
    const tools = [{ functionDeclarations: [{ name: "get_weather", description, parametersJsonSchema: schema }] }];
    return {
      user: (text) => [{ role: "user", parts: [{ text }] }],
      answers: (turn, calls) => [
        { role: "model", parts: turn },
        { role: "user", parts: calls.map((c) => ({ functionResponse: { id: c.id, name: c.name, response: { output: results[c.input.city] } } })) },
      ],
      ask: async (contents) => {
        const body = { model: "gemini-2.5-flash", contents, config: { tools, maxOutputTokens: 100 } };
        const parts = [];
        let reason;
        for await (const chunk of streamed ? await client.models.generateContentStream(body) : [await client.models.generateContent(body)]) {
          parts.push(...(chunk.candidates[0].content?.parts ?? []));
          reason = chunk.candidates[0].finishReason ?? reason;
        }
        const calls = parts.filter((p) => p.functionCall).map((p) => ({ id: p.functionCall.id, name: p.functionCall.name, input: p.functionCall.args ?? {} }));
        return { text: parts.map((p) => p.text ?? "").join(""), calls, reason, turn: parts };
      },
    };
  },
  ollama: async () => {
    const { Ollama } = await import("ollama");
    const client = new Ollama({ host: base });
    const tools = [{ type: "function", function: { name: "get_weather", description, parameters: schema } }];
    return {
      user: (text) => [{ role: "user", content: text }],
      answers: (turn, calls) => [turn, ...calls.map((c) => ({ role: "tool", tool_name: c.name, tool_call_id: c.id, content: results[c.input.city] }))],
      ask: async (messages) => {
        const body = { model: "llama3.2", messages, tools, options: { num_predict: 100 }, stream: streamed };
        const turn = { role: "assistant", content: "", tool_calls: [] };
        let reason;
        for await (const chunk of streamed ? await client.chat(body) : [await client.chat(body)]) {
          turn.content += chunk.message.content;
          turn.tool_calls.push(...(chunk.message.tool_calls ?? []));
          reason = chunk.done_reason ?? reason;
        }
        const calls = turn.tool_calls.map((c) => ({ id: c.id, name: c.function.name, input: c.function.arguments }));
        return { text: turn.content, calls, reason, turn };
      },
    };
  },
  "cohere-chat": async () => {
    const { CohereClientV2 } = await import("cohere-ai");
    const client = new CohereClientV2({ environment: base, token: "co-test", maxRetries: 0 });
    const tools = [{ type: "function", function: { name: "get_weather", description, parameters: schema } }];
    return {
      user: (text) => [{ role: "user", content: text }],
      answers: (turn, calls) => [
        { role: "assistant", toolPlan: turn.toolPlan, toolCalls: turn.toolCalls },
        ...calls.map((c) => ({ role: "tool", toolCallId: c.id, content: [{ type: "document", document: { data: { output: results[c.input.city] } } }] })),
      ],
      ask: async (messages) => {
        const body = { model: "command-a-03-2025", maxTokens: 100, messages, tools };
        if (!streamed) {
          const { message, finishReason } = await client.chat(body);
          return whole(message, finishReason);
        }
        const turn = { content: [], toolPlan: "", toolCalls: [] };
        let reason;
        for await (const event of await client.chatStream(body)) {
          const delta = event.delta?.message;
          if (event.type === "content-start") turn.content[event.index] = { ...delta.content };
          if (event.type === "content-delta") turn.content[event.index].text += delta.content.text;
          if (event.type === "tool-plan-delta") turn.toolPlan += delta.toolPlan;
          if (event.type === "tool-call-start") turn.toolCalls[event.index] = structuredClone(delta.toolCalls);
          if (event.type === "tool-call-delta") turn.toolCalls[event.index].function.arguments += delta.toolCalls.function.arguments;
          reason = event.delta?.finishReason ?? reason;
        }
        return whole(turn, reason);
      },
    };
    function whole(turn, reason) {
      const calls = (turn.toolCalls ?? []).map((c) => ({ id: c.id, name: c.function.name, input: JSON.parse(c.function.arguments) }));
      return { text: (turn.toolPlan ?? "") + (turn.content ?? []).map((c) => c.text).join(""), calls, reason, turn };
    }
  },
};

const { ask, user, answers } = await sdks[sdk]();
const history = user(question);
const first = await ask(history);
history.push(...answers(first.turn, first.calls));
const last = await ask(history);
const failed = await ask(user("Please fail.")).then(
  () => undefined,
  (error) => ({ status: error.status ?? error.status_code ?? error.statusCode, says: String(error.message ?? error).includes("too many requests, as asked") }),
);
const shown = ({ text, calls, reason }) => ({ text, calls: calls.map(({ name, input }) => ({ name, input })), reason });
console.log(JSON.stringify({ first: shown(first), last: shown(last), failed }));
