package always

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"math/big"
	"slices"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/schema"
)

// messageSchemas are the requests and notifications that a client of a sampling server sends, by method.
var messageSchemas = map[string]schema.Name{
	"initialize":                schema.InitializeRequest,
	"notifications/initialized": schema.InitializedNotification,
	"ping":                      schema.PingRequest,
	"server/discover":           schema.DiscoverRequest,
	"tools/list":                schema.ListToolsRequest,
	"tools/call":                schema.CallToolRequest,
	"prompts/get":               schema.GetPromptRequest,
	"resources/read":            schema.ReadResourceRequest,
	"notifications/cancelled":   schema.CancelledNotification,
	"notifications/progress":    schema.ProgressNotification,
	evidence.TaskStatus:         schema.TaskStatusNotification,
}

// taskResults are the results about tasks, by a member that only they have.
var taskResults = []struct {
	member string
	name   schema.Name
}{{"task", schema.CreateTaskResult}, {"tasks", schema.ListTasksResult}, {"taskId", schema.GetTaskResult}}

var validMessage = check.Check{
	ID:     "valid-message",
	Rule:   "A request, a notification or a task of the client MUST be valid against the revision's schema",
	Levels: check.Must, Negotiated: true,
	Statements: []string{"basic/messages", "basic/01", "schema/ClientCapabilities", "progress/02", "tasks/28"},
	Cause:      "an unset value is written as null, or one kind of request is built without what the others have",
	Fix:        "Build every message from the types of the schema. Omit what has no value.",
	JudgeSession: func(s *evidence.Session) check.Verdict {
		judged := 0
		created := map[string]bool{}
		for _, m := range s.FromClient() {
			if id := evidence.ObjectOf(evidence.ObjectOf(m.Result)["task"]).Text("taskId"); id != "" {
				created[id] = true
			}
		}
		for e, m := range s.FromClient() {
			if v := wrongTask(s, e, m, created); v != nil {
				return *v
			}
			place, raw, name, revision := judgedPart(s, e, m)
			if name == "" {
				continue
			}
			judged++
			if invalid := invalidPart(revision, name, raw); invalid != nil {
				v := check.Fail("expected a valid %s, found %s", name, invalid).Show(place.At(invalid.Path), "%s",
					evidence.Compact(raw))
				if name == schema.CreateTaskResult || name == schema.GetTaskResult {
					v = v.Because("times are numbers, or a member is only in the response that creates the task",
						`Write createdAt and lastUpdatedAt as "2025-11-25T10:30:00Z", and ttl in milliseconds or as null, in every task.`)
				}
				return v
			}
			if m.Method == "" && (name == schema.JSONRPCNotification || name == schema.JSONRPCRequest) {
				return check.Fail("expected the name of a method, found an empty one").ShowJSON(place.At("method"), raw)
			}
		}
		if judged == 0 {
			return check.NotApplicable("the client sent no message of a known method")
		}
		return check.Pass("every message is valid")
	},
}

// wrongTask returns the verdict for a message that names a task that the client did not create; nil for any other.
func wrongTask(s *evidence.Session, e *trace.Event, m *evidence.Message, created map[string]bool) *check.Verdict {
	if !revisionOf(s, e, m).HasTasks() {
		return nil
	}
	at := evidence.Place{Ref: e.Ref(), Label: cmp.Or(m.Method, "a response")}
	params, result := evidence.ObjectOf(m.Params), evidence.ObjectOf(m.Result)
	for _, named := range []struct {
		path string
		task json.RawMessage
		is   bool
	}{
		{"params", m.Params, m.Method == evidence.TaskStatus},
		{"params._meta", evidence.RelatedTask(params), evidence.RelatedTask(params) != nil},
		{"result._meta", evidence.RelatedTask(result), evidence.RelatedTask(result) != nil},
	} {
		if id := evidence.ObjectOf(named.task)["taskId"]; named.is && !created[evidence.ObjectOf(named.task).Text("taskId")] {
			return check.Instead(check.Fail("expected a task of the client as taskId, found %s", check.OrMissing(id)).
				ShowJSON(at.At(named.path), named.task))
		}
	}
	return nil
}

// judgedPart returns the part of a message that a schema of a revision describes. The name is "" for no part.
func judgedPart(s *evidence.Session, e *trace.Event, m *evidence.Message) (
	evidence.Place, json.RawMessage, schema.Name, server.Revision,
) {
	name, known := messageSchemas[m.Method]
	revision := revisionOf(s, e, m)
	if known && !e.Frame.Partial {
		return evidence.Place{Ref: e.Ref(), Label: m.Method}, json.RawMessage(e.Frame.Raw), name, withType(name, revision)
	}
	if envelope := evidence.ObjectOf(json.RawMessage(e.Frame.Raw)); m.Method == "" &&
		!m.IsResponse() && (envelope["method"] != nil || envelope["params"] != nil) {
		name := schema.JSONRPCNotification
		if envelope["id"] != nil {
			name = schema.JSONRPCRequest
		}
		return evidence.Place{Ref: e.Ref(), Label: "a message"}, json.RawMessage(e.Frame.Raw), name, revision
	}
	if revision.HasTasks() && m.IsResponse() {
		result := evidence.ObjectOf(m.Result)
		for _, of := range taskResults {
			if result.Has(of.member) {
				return evidence.Place{Ref: e.Ref(), Path: "result", Label: "a response"}, m.Result, of.name, revision
			}
		}
	}
	return evidence.Place{}, nil, "", ""
}

// withType returns the revision if it has a type, or else the newest one that has it: a client may try the methods of
// another revision.
func withType(name schema.Name, revision server.Revision) server.Revision {
	if schema.Has(string(revision), name) {
		return revision
	}
	return newest(func(r server.Revision) bool { return schema.Has(string(r), name) })
}

// revisionOf is that of the run or, if the server speaks others, the newest of the kind that a message is.
func revisionOf(s *evidence.Session, e *trace.Event, m *evidence.Message) server.Revision {
	if len(s.Trace.Header.ServerRevisions) == 0 {
		return s.Revision
	}
	modern := evidence.ModernVersion(e.Frame, m) != ""
	return newest(func(r server.Revision) bool { return r.Modern() == modern })
}

func newest(is func(server.Revision) bool) server.Revision {
	return slices.Max(slices.DeleteFunc(server.AllRevisions(), func(r server.Revision) bool { return !is(r) }))
}

// invalidPart returns what is wrong with a message or a result; nil for nothing. The answers of a retry are not judged
// here.
func invalidPart(revision server.Revision, name schema.Name, raw []byte) *schema.Error {
	var message, params map[string]json.RawMessage
	if bytes.Contains(raw, []byte(`"inputResponses"`)) && json.Unmarshal(raw, &message) == nil &&
		json.Unmarshal(message["params"], &params) == nil && params != nil &&
		params["inputResponses"] != nil {
		delete(params, "inputResponses")
		message["params"], _ = json.Marshal(params) // was read from JSON
		raw, _ = json.Marshal(message)
	}
	var invalid *schema.Error
	errors.As(schema.Validate(string(revision), name, raw), &invalid)
	return invalid
}

var requestIDs = check.Check{
	ID:     "request-ids",
	Rule:   "The id of a request MUST be a string or an integer that is new in the session",
	Levels: check.Must, Negotiated: true,
	Statements: []string{"basic/messages", "basic/02", "basic/03", "basic/unique-ids"},
	Cause:      "the id is unset or a fraction, or the client counts ids per connection or per kind of request",
	Fix:        "Count requests over the whole session, or generate a new string for each.",
	JudgeSession: func(s *evidence.Session) check.Verdict {
		type key struct{ session, id string }
		used := map[key]evidence.Place{}
		for _, r := range s.Requests {
			place := evidence.Place{Ref: r.Ref, Path: "id", Label: r.Method}
			id, ok := canonicalID(r.ID)
			if !ok {
				return check.Fail("expected a string or an integer as the id of %s, found another value", r.Method).
					Show(place, "%s", r.ID)
			}
			if r.Session == "" { // without a session, each request may have a connection of its own
				continue
			}
			if first, again := used[key{r.Session, id}]; again {
				return check.Fail("expected a new id for each request of the session, found one twice").
					Show(first, "%s", r.ID).Show(place, "%s", r.ID)
			}
			used[key{r.Session, id}] = place
		}
		if len(s.Requests) == 0 {
			return check.NotObserved("the client sent no request")
		}
		return check.Pass("every request had a valid id")
	},
}

// canonicalID returns the same text for equal ids, and whether the id is a string or an integer.
func canonicalID(raw json.RawMessage) (id string, ok bool) {
	if raw[0] == '"' {
		var text string
		err := json.Unmarshal(raw, &text)
		return `"` + text, err == nil
	}
	const bits = 512
	f, _, err := big.ParseFloat(string(raw), 10, bits, big.ToNearestEven)
	if err != nil || !f.IsInt() {
		return "", false
	}
	return f.Text('p', 0), true // in time that does not depend on the exponent
}
