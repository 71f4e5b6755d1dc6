package always

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/requirements"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

// kind is a kind of difference between the two wires: what usually makes a client lose or change that, and what to do
// about it. Each has one place here. What may differ is in package legitimate.
type kind struct {
	id, cause, fix string
	// statements are those that such a client breaks; nil if the specification has none.
	statements []string
	// warns is true if a correct client may do so, and should not.
	warns bool
	// shownBy is the case that shows it in each run; "" if every case does.
	shownBy string
}

func newKind(id, cause, fix string, statements ...string) *kind {
	return &kind{id: id, cause: cause, fix: fix, statements: statements}
}

func newWarning(id, cause, fix string) *kind {
	return &kind{id: id, cause: cause, fix: fix, warns: true}
}

// difference is the first thing that one side was not given as the other side sent it.
type difference struct {
	*kind
	// want and got describe both values, for "expected …, found …".
	want, got string
	// sent and given are the paths of both values, "" for the whole message.
	sent, given string
}

func (k *kind) found(want, got string) *difference { return &difference{kind: k, want: want, got: got} }

func (d *difference) at(sent, given string) *difference {
	d.sent, d.given = sent, given
	return d
}

// orBroken returns the difference, of the kind k if what was found has what decoders put in place of bytes that are not
// UTF-8, and what was expected has not.
func (d *difference) orBroken(k *kind) *difference {
	if strings.ContainsRune(d.got, utf8.RuneError) && !strings.ContainsRune(d.want, utf8.RuneError) {
		d.kind = k
	}
	return d
}

// explain adds to a verdict what is known of the kind.
func (k *kind) explain(v check.Verdict) check.Verdict {
	if k.warns {
		v.Kind = check.Warn("").Kind
	}
	return v.Differs(k.id, k.cause, k.fix, k.statements).ShownBy(k.shownBy)
}

// findings are the verdicts on a case, one for each kind of difference.
type findings struct {
	kinds         []*kind
	fails, warned []check.Verdict
}

// add adds a verdict, unless there is one about the same kind.
func (f *findings) add(k *kind, v check.Verdict) {
	if slices.Contains(f.kinds, k) {
		return
	}
	f.kinds = append(f.kinds, k)
	if k.warns {
		f.warned = append(f.warned, v)
	} else {
		f.fails = append(f.fails, v)
	}
}

// verdict returns the first failure, or else the first warning, with the others of its sort; nil for none.
func (f *findings) verdict() *check.Verdict {
	all := f.fails
	if len(all) == 0 {
		all = f.warned
	}
	if len(all) == 0 {
		return nil
	}
	first := all[0].Also(all[1:])
	return &first
}

var (
	choiceModes   = []string{"sampling/10", "sampling/11", "schema/ToolChoice"}
	messageSchema = []string{"schema/SamplingMessage"}
)

// oneRequest is the statement that the messages of one request are not kept for another.
const oneRequest = "sampling/14"

const (
	writtenAnew   = "arguments are parsed into types and written anew, which loses or changes members"
	replacedNames = "characters that the provider refuses are replaced in one place, and not in the others"
)

// The differences between a sampling request and the client's request to the model.
var (
	lostResult = newKind(
		"lost-result",
		"the conversion stops after the first tool_result of a message, or joins all of "+
			"them",
		"Map every tool_result block, not only the first, to a provider message: with OpenAI, one tool message "+
			"each; with Anthropic, all at the beginning of the next user message.",
		requirements.Balance...)
	extraResult = newKind("extra-result", "a result is sent in two forms, or the client adds results of its own",
		"Send one result for each tool use, under its id.", requirements.Balance...)
	changedResult = newKind(
		"changed-result",
		"results are assigned by position, cut, or written in a form that loses a "+
			"part",
		"Send the whole content of each tool_result under the id of its own tool use. A label or JSON around it is "+
			"fine.",
		requirements.Balance...)
	misnamedResult = newKind("misnamed-result", replacedNames, "Name the tool in a result as in its tool use.")
	lostError      = newKind(
		"lost-error",
		"the provider has no flag for a failed tool, or only the text of a result is "+
			"copied",
		`Set the provider's flag, such as is_error with Anthropic. If it has none, begin the result with "Error:".`,
	)
	addedError = newKind("added-error", "the flag is set for every result, or for one without content",
		"Mark a result as an error only if its isError is true.")

	lostMedia = newKind("lost-media", "the conversion skips a block that it does not know, or all media in tool results",
		"Map image and audio blocks to the provider's form. If a tool message takes only text, send them in a message of "+
			"the user behind the results. Or return an error.")
	changedMedia = newKind("changed-media", "the data is cut or encoded anew, or all media get one type",
		"Pass the base64 data and the mimeType on unchanged.")
	extraMedia = newKind("extra-media", "media of another message or result are sent again",
		"Send each image and audio block once, where the server sent it.")

	lostText = newKind(
		"lost-text",
		"only the first block of a message is mapped, texts beside tool uses are dropped, or "+
			"the history is cut",
		"Map every block of every message, in order.",
		messageSchema...)
	changedText = newKind("changed-text", "texts are trimmed, cut, or encoded anew",
		"Pass each text on unchanged. The client's own words belong before or around it.")
	brokenText = &kind{id: "broken-characters", shownBy: "transport/events",
		cause: "the bytes of the server's stream are decoded in pieces that cut characters",
		fix:   "Decode a message as UTF-8 once all its bytes are there."}
	extraText = newKind("extra-text", "the client puts messages of its own into the history, or sends one twice",
		"Put the client's own messages before the conversation. Send each message of the server once.", oneRequest)
	foreignText = newKind(
		"foreign-text",
		"one history is kept for all requests, or the host's own conversation is added "+
			"to each",
		"Build the model request from the messages of the current request alone. Keep no history between "+
			"requests.",
		oneRequest,
	)
	changedRole = newKind("changed-role", "a message is lost, or roles are assigned by position",
		"Map every message, the user's to the provider's user and the assistant's to its assistant.", messageSchema...)
	changedOrder = newKind(
		"changed-order",
		"texts, media and tool uses of a message are collected apart, or messages are "+
			"sorted",
		"Map the messages, and the blocks of each, in their order.",
		messageSchema...)
	flatHistory = newWarning("flat-history", "the client writes the whole history as one prompt",
		"Send each message under its own role.")

	lostUse = newKind("lost-tool-use", "only the first tool use of a message is mapped, or none beside a text",
		"Map every tool_use block of a message to a tool call, beside its text.", requirements.Balance...)
	extraUse = newKind("extra-tool-use", "a tool use is sent in two forms, or that of an earlier turn again",
		"Send each tool use once, in its own turn.", requirements.Balance...)
	changedUse = newKind("changed-tool-use", "tool uses are sorted or exchanged, or "+replacedNames,
		"Keep the order of the tool uses. Give each tool one name, in the tools and in the history.")
	changedInput = newKind("changed-input", writtenAnew, "Pass the input of a tool use on as raw JSON.",
		check.ToolUseSchema...)
	sharedID = newKind("shared-id", "ids are made from the tool's name, or from a counter that starts anew",
		"Keep the id of each tool use, or generate one that no other has.", check.ToolUseSchema...)
	roundedNumber = newWarning(
		"rounded-number",
		"numbers are read as doubles, as JavaScript's JSON.parse and Go's any do",
		"Keep big integers with a parser for them in JavaScript, with json.Number or json.RawMessage in Go. Python's parser "+
			"keeps them.",
	)

	lostTool = newKind("lost-tool", "the client limits the number of tools, or skips those with odd names or schemas",
		"Offer the model every tool of the request, or return an error.")
	extraTool = newKind("extra-tool", "the host's own tools, or those of another server, are offered, too",
		"Offer the model only the tools of the sampling request.")
	changedDescription = newKind("changed-description", "descriptions are left out, cut, or exchanged between tools",
		"Pass the description of each tool on. The client may add to it.")
	changedSchema = newKind("changed-schema", "schemas are parsed into types that lack keywords, or fitted to another "+
		"provider", "Pass inputSchema on as raw JSON. Where the provider restricts schemas, as with strict tools, send what "+
		"it accepts.")
	lostChoice = newKind("lost-tool-choice", "toolChoice is not passed on, or not in the provider's term",
		`Send the provider's term. For required it is "required" to OpenAI, {"type":"any"} to Anthropic, ANY to Gemini. `+
			`For none it is "none", {"type":"none"}, NONE, or no tools.`, choiceModes...)
	refusedRequest = newKind(
		"refused-request",
		"tools, a tool choice or a parameter are sent in MCP's form, or in that "+
			"of another provider",
		"Send tools, tool choice and parameters in the provider's form, and what it accepts of a "+
			"schema. Omit what it refuses, such as metadata.",
	)
	refusedFailure = newKind("refused-failure", "the provider wants a failed tool result to have a text, and nothing else",
		`Give a failed result without content a text, such as "the tool failed". Show its images in a block behind it.`)
	invalidRequest = newKind("invalid-request", "a block or a flag is written in another form than that of the provider",
		"Build the request to the model from the provider's types.")
)

// lostBlock has the kind of difference for a block that is missing, by its type.
var lostBlock = map[dialect.BlockType]*kind{dialect.Text: lostText, dialect.Other: lostText, dialect.ToolUse: lostUse,
	dialect.ToolResult: lostResult, dialect.Image: lostMedia, dialect.Audio: lostMedia}

// extraBlock has the kind of difference for a block that the server did not send, by its type.
var extraBlock = map[dialect.BlockType]*kind{dialect.Text: extraText, dialect.Other: extraText,
	dialect.ToolUse: extraUse, dialect.ToolResult: extraResult, dialect.Image: extraMedia, dialect.Audio: extraMedia}

// The differences between the model's reply and the client's result.
var (
	unsaidUse = newKind(
		"lost-tool-use",
		"only the first tool call of a reply is converted, or fragments of a stream are "+
			"joined without regard to the index of their call",
		"Return every tool call of the reply, whatever the finish "+
			"reason is. In a stream keep one call for each index, and read to the end.",
		check.ToolUseSchema...)
	addedUse = newKind("extra-tool-use", "a call is read twice, such as from the fragments and from the end of a stream",
		"Return each tool call of the reply once.", check.ToolUseSchema...)
	renamedUse = newKind("changed-name", replacedNames+", or the client takes the most similar tool",
		"Return the server's name of the tool: keep a table of the names that were replaced.")
	rewrittenInput = newKind("changed-input", writtenAnew,
		"Parse the provider's arguments, and send the object as input, as raw JSON.", check.ToolUseSchema...)
	otherID = newKind("changed-id", "ids are made from the tool's name or its position, or exchanged",
		"Pass the ids of the provider on. If it has none, generate one for each tool use.", check.ToolUseSchema...)
	unsaidText = newKind("lost-text", "the text beside tool uses is dropped, or only the first block is read",
		"Return every text of the reply, also beside tool uses.")
	addedText = newKind("extra-text", "the client adds words of its own, or repeats what a stream sent before",
		"Return the texts of the reply alone.")
	rewrittenText = newKind(
		"changed-text",
		"texts are trimmed or cut, only the first text block of a reply is read, or fragments of a stream are lost or "+
			"decoded apart",
		"Return every text block of the reply. Join the fragments of a text as bytes, and pass it on unchanged.",
	)
	saidBroken = &kind{id: "broken-characters", shownBy: "basic/long",
		cause: "the bytes of the model's stream are decoded in pieces that cut characters",
		fix:   "Decode an event as UTF-8 once all its bytes are there."}
	toldThinking = newKind("extra-thinking", "the provider's reasoning is joined with the answer",
		"Leave thinking out of the result. MCP has no block for it.")
	exchangedOrder = newKind("changed-order", "texts and tool uses of a reply are collected apart",
		"Return the blocks of the reply in their order.")
	otherMedia = newKind("changed-media", "images and audio of a reply are left out, or converted",
		"Return images and audio as they are, with their type.")
	falseReason = newKind(
		"changed-stop-reason",
		"every end becomes endTurn, or words of the provider are mapped to the "+
			"wrong reason",
		"Set stopReason to toolUse if the result has a tool_use block. Map the provider's other words, and "+
			"pass on those that MCP does not have.",
	)
)
