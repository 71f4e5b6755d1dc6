package reference

import (
	"encoding/base64"
	"net/http"
)

// transportFaults are the ways in which the wire to the server can be broken.
type transportFaults struct {
	movesOver           bool // to the stream that was opened with GET, once something was asked there, and refuses what comes on another
	deafListening       bool // to what the server asks on the stream that was opened with GET
	plainIsAnError      bool // as the response of a call
	takesRequestsForIts bool // responses, where they have the same id
	answersRepeats      bool // of a request that it has taken
	neverResumes        bool
	hasty               bool // does not wait before it comes back
	fromTheStart        bool // comes back for everything, and answers that again
	endsWithSession     bool // makes no other one
	keepsSessionID      bool // that was lost, when it initializes anew
	forgetsHandlers     bool // in a session that is not the first
	dropsVersion        bool // from the headers of its answers
	postsArrays         bool
	neverDeletes        bool // the session
	cyclesIDs           bool // of its requests

	// In reading a stream of events.
	oneDataLine, wantsSpaces, linesEndInLF, keepsMark bool
}

// encodesNames puts names that have to be encoded into headers in a way of its own.
func encodesNames(encode func(string) string) func(map[string]any, http.Header) {
	return func(params map[string]any, h http.Header) {
		if name, ok := params["name"].(string); ok && headerValue(name) != name {
			h.Set("Mcp-Name", encode(name))
		}
	}
}

// twoInOne are two messages in one body.
const twoInOne = `[{"jsonrpc":"2.0","method":"notifications/roots/list_changed"},{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}]`

var transportMutants = []Mutant{
	{Name: "moves-over", Doc: "has nobody for requests on the stream of its call any more, once one came on the stream that it opened with GET", Kills: []string{"transport/on-post-stream"},
		Also: []string{"transport/id-collision"}, Wire: true, Era: "legacy", broken: faults{transport: transportFaults{movesOver: true}}},
	{Name: "deaf-listener", Doc: "opens a stream with GET and reads no requests from it", Kills: []string{"transport/on-get-stream"},
		Wire: true, Era: "legacy", broken: faults{transport: transportFaults{deafListening: true}}},
	{Name: "wants-streams", Doc: "takes a call's response for a failure where it is plain JSON", Kills: []string{"transport/accepts-json"}, Also: []string{"client/ends-cleanly"},
		Wire: true, Era: "legacy", broken: faults{transport: transportFaults{plainIsAnError: true}}},
	{Name: "accepts-streams-only", Doc: "does not say that it accepts JSON", Kills: []string{"transport/accept-header"},
		Wire: true, broken: faults{allHeaders: func(_ string, h http.Header) { h.Set("Accept", "text/event-stream") }}},
	{Name: "ids-collide", Doc: "takes a request of the server for the response to its own that has the same id", Kills: []string{"transport/id-collision"},
		Wire: true, Era: "legacy", broken: faults{transport: transportFaults{takesRequestsForIts: true}}},
	{Name: "answers-repeats", Doc: "answers a request as often as it comes", Kills: []string{"transport/duplicate-request"},
		Wire: true, Era: "legacy", broken: faults{transport: transportFaults{answersRepeats: true}}},
	{Name: "never-comes-back", Doc: "takes the end of a connection for the end of the call", Kills: []string{"transport/reconnects"}, Also: []string{"client/ends-cleanly"},
		Wire: true, Era: "legacy", broken: faults{transport: transportFaults{neverResumes: true}}},
	{Name: "comes-back-at-once", Doc: "comes back for a stream without waiting as long as it was told", Kills: []string{"transport/retry-honoured"},
		Wire: true, Era: "legacy", broken: faults{transport: transportFaults{hasty: true}}},
	{Name: "comes-back-from-the-start", Doc: "names the first event of a stream when it comes back, and answers again what it is sent again", Kills: []string{"transport/answers-once"},
		Also: []string{"transport/duplicate-request", "transport/reconnects"}, Wire: true, Era: "legacy", broken: faults{transport: transportFaults{fromTheStart: true}}},
	{Name: "ends-with-the-session", Doc: "starts no other session when the server has lost its own", Kills: []string{"transport/session-lost"},
		Wire: true, Era: "legacy", broken: faults{transport: transportFaults{endsWithSession: true}}},
	{Name: "keeps-the-session-id", Doc: "initializes under the id of the session that was lost", Kills: []string{"transport/session-lost"},
		Wire: true, Era: "legacy", broken: faults{transport: transportFaults{keepsSessionID: true}}},
	{Name: "forgets-handlers", Doc: "registers nobody for sampling in a session that is not its first", Kills: []string{"transport/handlers-survive"},
		Wire: true, Era: "legacy", broken: faults{transport: transportFaults{forgetsHandlers: true}}},
	{Name: "answers-without-version", Doc: "posts its answers without the protocol version", Kills: []string{"transport/response-post"},
		Wire: true, Era: "legacy", broken: faults{transport: transportFaults{dropsVersion: true}}},
	{Name: "posts-arrays", Doc: "posts two messages as one array", Kills: []string{"transport/one-message"},
		Wire: true, Era: "legacy", broken: faults{transport: transportFaults{postsArrays: true}}},
	{Name: "never-deletes", Doc: "leaves its session to the server", Kills: []string{"transport/ends-session"},
		Wire: true, Era: "legacy", broken: faults{transport: transportFaults{neverDeletes: true}}},
	{Name: "cycles-ids", Doc: "gives its requests ids that it has given before", Kills: []string{"transport/own-ids"},
		Wire: true, Era: "legacy", broken: faults{transport: transportFaults{cyclesIDs: true}}},
	{Name: "names-as-they-are", Doc: "puts any name into a header as it is", Kills: []string{"transport/header-value"}, Also: []string{"declare/http-headers"},
		Wire: true, Era: "modern", broken: faults{header: encodesNames(func(name string) string { return name })}},
	{Name: "marks-in-capitals", Doc: "writes the markers of an encoded name in capitals", Kills: []string{"transport/header-value"}, Also: []string{"declare/http-headers"},
		Wire: true, Era: "modern", broken: faults{header: encodesNames(func(name string) string { return "=?BASE64?" + base64.StdEncoding.EncodeToString([]byte(name)) + "?=" })}},
	{Name: "one-data-line", Doc: "keeps one of an event's data lines", Kills: []string{"transport/sse-details"}, Also: []string{"client/ends-cleanly"},
		Wire: true, broken: faults{transport: transportFaults{oneDataLine: true}}},
	{Name: "wants-a-space", Doc: "reads only fields with a space behind the colon", Kills: []string{"transport/sse-details"}, Also: []string{"client/ends-cleanly"},
		Wire: true, broken: faults{transport: transportFaults{wantsSpaces: true}}},
	{Name: "lines-end-in-lf", Doc: "knows no line end but LF", Kills: []string{"transport/sse-rare"}, Also: []string{"client/ends-cleanly"},
		Wire: true, Era: "legacy", broken: faults{transport: transportFaults{linesEndInLF: true}}},
	{Name: "keeps-the-mark", Doc: "takes a byte order mark for a part of the first field's name", Kills: []string{"transport/sse-rare"}, Also: []string{"client/ends-cleanly"},
		Wire: true, broken: faults{transport: transportFaults{keepsMark: true}}},
}
