// The model server aimock, with the answer and the eight events of fakes/llm's BenchmarkRequests. It prints its address,
// and ends with its standard input.
import { LLMock } from "@copilotkit/aimock";

const mock = new LLMock({ port: 0, chunkSize: 4, logLevel: "silent" });
mock.on({ toolCallId: "call_2" }, { content: "sunny in Paris, 18 C" });
await mock.start();
console.log(mock.url);
process.stdin.on("end", () => mock.stop()).resume();
