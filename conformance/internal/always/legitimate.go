package always

// Change is a change that a correct client may make between the two wires, and the sentence or the reason that allows
// it. What is not in the lists is a fault.
type Change struct{ Change, Reason string }

// Legitimate returns the changes that the check allows; nil for a check without such a list.
func Legitimate(id string) []Change {
	return map[string][]Change{ID + "/" + modelWasGivenCheck.ID: toModel, ID + "/" + serverWasGivenCheck.ID: toServer}[id]
}

// toModel are the changes between a sampling request and the client's request to the model.
var toModel = []Change{
	{"system prompt", "client/sampling: the client may modify or omit the system prompt"},
	{"settings", "client/sampling: temperature, stop sequences and metadata are requests that the client may ignore"},
	{"own messages before the conversation", "a host introduces the server to its model as it does with other input"},
	{"text after results", "a provider takes the user's text after tool results; the results stay as they are"},
	{"wrapped texts", "client/sampling: the client reviews and edits the prompt; the text inside is unchanged"},
	{"texts split or merged", "providers join the parts of a message, and the messages of one role"},
	{"blank texts", "Anthropic refuses a blank text, and it says nothing"},
	{"text before tool uses", "a message to OpenAI or Ollama has one text and then its calls; clients may keep that form"},
	{"images before text", "a message to Ollama has its images in a member of their own"},
	{"type of an image", "Ollama takes images without a type; audio/x-wav and audio/wav are the same type"},
	{"medium as base64", "Anthropic and Ollama take no audio"},
	{"one text with the history", "the model knows who said what; it warns"},
	{"own ids", "an id joins a tool use and its result within one request, nothing more"},
	{"order of results", "results belong to tool uses by id"},
	{"labelled results", "neither MCP nor a provider prescribes how a result is written; its text is unchanged"},
	{"results in JSON", "Gemini takes an object as a result; a text in it is unchanged, a JSON text is the same value"},
	{"error in words", "OpenAI and Ollama have no flag for a failed tool"},
	{"structured content as JSON", "results of most providers are texts"},
	{"structured content beside texts", "server/tools: a tool should repeat structured content as a text"},
	{"resources as text", "results of most providers are texts: the address of a link, the text of a resource"},
	{"media after results", "results of OpenAI are texts; media follow them in a message of the user"},
	{"nothing for an empty value", "SDKs in Go omit an empty text, and write null for an empty list, in MCP's own form"},
	{"text for an empty result", "some providers refuse an empty error"},
	{"numbers of Gemini", "Gemini's numbers are doubles"},
	{"rounded numbers", "JavaScript's numbers are doubles: one that a double cannot hold may be rounded; it warns"},
	{"names of tools", "OpenAI refuses a name with a dot, and hosts put the server before the name"},
	{"order of tools", "tools have names, and their order means nothing"},
	{"longer descriptions", "a description is text for the model; the server's is in it"},
	{"same schema", "JSON Schema: references replaced, closed objects and the order of members accept the same inputs"},
	{"nullable properties", "OpenAI: a strict schema requires all properties, so optional ones may be null"},
	{"keywords of the provider", "Gemini, Ollama and OpenAI's strict mode take only some keywords"},
	{"auto left out", "providers take an omitted choice as auto"},
	{"no tools for none", "without tools the model cannot use one"},
	{"choice of one tool", "required with one tool is that tool"},
	{"choice of Ollama", "Ollama has no tool choice"},
}

// toServer are the changes between the model's reply and the client's result.
var toServer = []Change{
	{"an error in place of a result", "client/sampling: the client may refuse, and the user may decline the answer"},
	{"texts split, joined or left out if empty", "schema: content is one block or an array; an empty text says nothing"},
	{"blanks between texts of one reply", "a provider that gives several texts gives nothing between them"},
	{"text before tool uses", "OpenAI's chat and Ollama have a member for each, and no order"},
	{"thinking left out", "MCP has no block for it; a provider hides it from users"},
	{"own ids", "MCP does not say where the ids of tool uses come from: unique ones, for all uses of a reply"},
	{"names of tools", "OpenAI refuses a name with a dot, and hosts put the server before the name; the server " +
		"gets its own"},
	{"numbers of Gemini", "Gemini's numbers are doubles"},
	{"rounded numbers", "JavaScript's numbers are doubles: one that a double cannot hold may be rounded; it warns"},
	{"tool uses left out that the request does not allow", "client/sampling: with the choice none, or for a tool that " +
		"was not offered, there is nothing that the server could run"},
	{"text of a refused or filtered answer left out", "with a stop reason that says so; provider-errors/refusal-told"},
	{"other stop reasons, or none", "schema: stopReason is optional and any string"},
	{"toolUse for maxTokens", "a truncated reply with whole tool uses ended for both reasons"},
	{"stopSequence for stop, or endTurn for a stop sequence", "most providers and libraries have one word for both"},
	{"texts of several replies", "a host that runs the tool loop itself; always/one-model-call judges that"},
}
