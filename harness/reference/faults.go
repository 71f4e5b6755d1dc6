package reference

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"time"
)

// faults are the ways in which the client can be broken. The zero value is the correct client.
type faults struct {
	// What is edited on its way: the params of a sampling request before the model is asked, the body sent to the model, the result,
	// and the JSON-RPC response (first era).
	params, body, result, response func(map[string]any)
	// What the client declares, less than which it holds itself to; and the _meta and headers of a request with these params (second era).
	declared func(map[string]any)
	meta     func(params, meta map[string]any)
	header   func(params map[string]any, header http.Header)
	wrongness
	// What the client refuses although it should not.
	refusesWhen func(params map[string]any) bool
	refusal     *rpcError // with which it does so; nil for an internal error

	// What it does about histories that cannot be right: the rules that it does not know, the code that it refuses others with, 0 for
	// the right one, and an edit that makes them right.
	overlooks   []string
	invalidCode int
	repairs     func(params map[string]any)

	asksInvalid      bool // the model, before it refuses a history that cannot be right
	diesOfImbalance  bool
	ignoresImbalance bool // leaves such a request without an answer

	// Faults in many requests, and in long loops.
	hangsAfter    int  // so many rounds; 0 for never
	diesAfter     int  // so many rounds; 0 for never
	forgetsOver   int  // so many first questions of a call; 0 for none
	sharesFirst   bool // the first message of a conversation with the others
	ignoresDigits bool // takes requests that differ in digits for the same, and answers them alike

	servesUndeclared  bool // what it does not declare
	dropsUndeclared   bool // tools and their choice, where it does not declare them, and answers the rest
	overlooksChoice   bool // of a tool, where it does not declare tools
	asksUndeclared    bool // the model, before it refuses what it does not declare
	diesWhenItRefuses bool // what it does not declare
	consent           consentFaults
	echoesSystem      bool // puts the system prompt before the answer
	remembers         bool // tells the model what was asked before
	neverConnects     bool
	logsOnThePipe     bool
	failsAtTheEnd     bool
	declaresNothing   bool
	neverAnswers      bool
	refuses           bool
	answersTwice      bool
	answersAGhost     bool // beside each request of the server
	asksTwice         bool
	runsTools         bool // executes the tool uses itself, on the requesting server
	runsUnoffered     bool // of those, the ones that nobody offered
	stopsAtFinish     bool // heeds no more from the chunk with the finish reason on
	keepsLastStreamed bool // of several streamed tool calls
	idsFromNames      bool // gives tool uses their tool's name for an id
	resultsAsTheyCame bool // gives results back under their tool's name alone, in the server's order

	// Faults about a provider that fails.
	overlooksRefusals bool // that stand apart from the text
	mendsStreams      bool // adds the end that a stream lacks
	diesOfFailures    bool
	// The answer, or the error, after a failure; and whether the model is asked again after the n-th, and when.
	onFailure func(m *model, err error) (map[string]any, *rpcError)
	again     func(n int, err error) (bool, time.Duration)
	// What is added to the headers of every request to the server.
	allHeaders   func(key string, header http.Header)
	keyInAddress bool // of the model, as Gemini takes it
	keyInMeta    bool // of requests to the server (second era)
	keyInURL     bool // of the server

	// Faults of time.
	waitsForEver    bool // for the model
	limitsHeader    bool // of the model's answer, and nothing behind it
	limitsSilence   bool // of the model, and not its answer as a whole
	limitsAttempts  bool // to ask the model, each by itself
	pongsByText     bool // of the ping's id
	hasty           bool // gives up at a sixteenth of its limit
	keepsPartial    bool // takes what it has when its limit passes for the answer
	blocksPings     bool // until it has answered what it was asked before
	tokenAsText     bool // in its progress
	progressStands  bool
	progressGoesOn  bool // after the answer
	oneToken        bool // for all of its requests
	fractionalToken bool // in them

	// Faults about cancels: of the server's requests, and of the client's own.
	ignoresCancel        bool
	worksOnCancelled     bool // and says nothing
	answersCancelled     bool // with an error
	cancelsAll           bool // that is running, by whatever cancel
	taintedByCancel      bool // gives the next request an error
	refusesStrangeCancel bool // of a request that it never had
	refusesLateCancel    bool // of a request that it has answered
	diesOfStrangeCancel  bool
	diesOfBadCancel      bool
	givesUpSilently      bool
	cancelsByText        bool // of its request's id
	leavesModelRunning   bool // when it gives up a call
	cancelsEnded         bool // that came back for input
	retriesGivenUp       bool
	diesOfLateResponse   bool

	// Faults in reading a stream of Anthropic's.
	ignoresIndex    bool // takes every block for the first
	offersAnyway    bool // tools where the choice is none (Ollama)
	thinksAloud     bool // gives what the model thinks to the server (Ollama)
	pingIsAnError   bool
	keepsFirstInput bool // the empty input with which a tool use begins

	// Faults in speaking Gemini.
	stopsAfterFinish    bool // reads no further than the chunk with the finish reason
	mintsNoIDs          bool // where the model has none
	forgetsSignatures   bool
	resultsByName       bool // keeps one result for each tool
	ownSchemas          bool // writes schemas in the model's own form, of which it knows a part
	argsAsText          bool // restates arguments as the JSON text of them
	trustsModel         bool // passes on tool uses that the request does not allow
	inventsUses         bool // where one is required and the model makes none
	believesStop        bool // drops tool uses beside the reason for an end
	emptiesBadArguments bool // makes arguments that are no object one that is empty

	rounds    roundFaults
	transport transportFaults
	batches   batchFaults
	pipes     pipeFaults
	versions  versionFaults
	tasks     taskFaults
}

func edit(f func(map[string]any), o map[string]any) {
	if f != nil {
		f(o)
	}
}

// runTools calls the tools that the model wants on the server, or of them those that nobody offered: what a client must leave to the server.
func (m *model) runTools(ctx context.Context, w wire, params json.RawMessage, result map[string]any) {
	asked, _ := object(params) // what cannot be read offers nothing
	tools, _ := asked["tools"].([]any)
	for _, use := range ofType(result["content"], "tool_use") {
		offered := slices.ContainsFunc(tools, func(t any) bool { return t.(map[string]any)["name"] == use["name"] })
		if offered && !m.config.broken.runsTools {
			continue
		}
		// The server does not know the tool, which is no matter here.
		_, _ = w.request(ctx, "tools/call", map[string]any{"name": use["name"], "arguments": use["input"]})
	}
}

// remember adds to the system prompt what was asked before.
func (m *model) remember(params map[string]any) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.before != "" {
		params["systemPrompt"] = text(params, "systemPrompt") + "\nBefore this, the user said: " + m.before
	}
	eachMessage(params, func(message map[string]any) {
		for _, b := range ofType(message["content"], "text") {
			m.before = text(b, "text")
		}
	})
}

// ofType returns the blocks of a type in content.
func ofType(content any, kind string) []map[string]any {
	blocks, _ := blocksOf(content) // what cannot be read has none
	var found []map[string]any
	for _, b := range blocks {
		if b["type"] == kind {
			found = append(found, b)
		}
	}
	return found
}

// eachMessage calls f with each message of the params.
func eachMessage(params map[string]any, f func(m map[string]any)) {
	messages, _ := params["messages"].([]any)
	for _, item := range messages {
		if m, ok := item.(map[string]any); ok {
			f(m)
		}
	}
}

// eachResult calls f with each tool result in the params.
func eachResult(params map[string]any, f func(b map[string]any)) {
	eachMessage(params, func(m map[string]any) {
		for _, b := range ofType(m["content"], "tool_result") {
			f(b)
		}
	})
}

// eachUse calls f with each tool use of a result.
func eachUse(result map[string]any, f func(i int, use map[string]any)) {
	for i, use := range ofType(result["content"], "tool_use") {
		f(i, use)
	}
}

// keep makes content hold at most n blocks of a type; other blocks stay.
func keep(holder map[string]any, kind string, n int) {
	blocks, err := blocksOf(holder["content"])
	if err != nil {
		return
	}
	kept := []any{}
	for _, b := range blocks {
		if b["type"] == kind {
			if n == 0 {
				continue
			}
			n--
		}
		kept = append(kept, b)
	}
	holder["content"] = kept
}

// viaFloat64 reads every number as a float64, as careless JSON code does: 9007199254740993 becomes …992.
func viaFloat64(v any) any {
	var careless any
	if err := json.Unmarshal(marshal(v), &careless); err != nil {
		panic(fmt.Sprintf("reference: %v", err))
	}
	return careless
}
