package always

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
	"github.com/mcp-conform/mcp-conform/internal/toolschema"
)

var answered = check.Check{
	ID:         "answered",
	Rule:       "A client that declares sampling serves every valid request that its model can answer",
	Levels:     check.Robust,
	ServerLoop: true,
	Cause: "one kind of request is refused, or one kind of reply is not understood, often only with tools, in later " +
		"rounds or in streams",
	Fix: "Serve requests with tools, histories, parameters and arrays of blocks like the plain ones. Read every reply " +
		"of the model that its provider documents.",
	Judge: func(e *evidence.Case) check.Verdict {
		served := 0
		for _, r := range e.Rounds {
			if r.Result() != nil {
				served++
			} else if v := unserved(e, r); v != nil {
				return *v
			}
		}
		if served == 0 {
			return check.NotApplicable("the client returned no result, for a reason that the trace explains")
		}
		return check.Pass("every valid request got a result")
	},
}

// unserved returns the verdict for a valid request that the client should have answered with a result; nil if it may
// have had a reason: a user who declines, a cancellation, a model that fails, or a request that some clients or
// providers cannot serve. A case before which something broke the client counts where it ran again.
func unserved(e *evidence.Case, r *evidence.Round) *check.Verdict {
	if !r.IsValid() || e.Case.UnservedAfter != "" || excused(e, r) || mayBeDeclined(e.Session, r) || !saidNo(e, r) {
		return nil
	}
	found := ""
	at := []evidence.Place{r.Asked}
	x := r.LastExchange()
	asked := x != nil && belongs(e, r, x)
	switch {
	case asked && hasAnswer(r) && othersAnswered(e, r):
		found, at = "none although the model answered", append(at, x.Place)
	case x == nil && refusesPlain(e, r):
		found = "a refusal without a request to the model"
	default:
		return nil
	}
	if len(r.Answers) > 0 {
		at = append(at, r.Answers[0].Place)
	}
	v := check.Fail("sampling request %d: expected a result, found %s%s", r.N, found, e.WhyNoResult(r.N)).At(at...)
	if x == nil {
		v = explainRefusal(v, e.Session, r)
	}
	return &v
}

// explainRefusal names what the client seems to refuse in a request.
func explainRefusal(v check.Verdict, s *evidence.Session, r *evidence.Round) check.Verdict {
	for _, one := range specials {
		if one.is(r) && !refusedWithout(s, r, one.is) {
			return one.explain(v)
		}
	}
	return v
}

type special struct {
	*kind
	is func(r *evidence.Round) bool
}

// specials are what some clients refuse in a request, and why.
var specials = []special{
	{newKind("refused-unknown-member", "the client decodes params strictly", "Ignore unknown members."),
		func(r *evidence.Round) bool {
			return slices.ContainsFunc(slices.Collect(maps.Keys(evidence.ObjectOf(r.Raw))), func(name string) bool {
				return !paramNames[name]
			})
		}},
	{newKind("refused-many-tools", "the client has a low limit for tools",
		"Pass 64 tools on. Return an error with the limit only if there are more."),
		func(r *evidence.Round) bool { return len(r.Params.Tools) > 30 }},
	{newKind("refused-context", "the client refuses a context that it does not have",
		"Ignore includeContext if the client adds no context."),
		func(r *evidence.Round) bool { return evidence.HasMember(r.Raw, "includeContext") }},
	{newKind("refused-parameter", "the client rejects a parameter that it does not know",
		"Translate temperature and stopSequences into the provider's parameters, or omit them. Omit metadata if the "+
			"provider refuses them."),
		func(r *evidence.Round) bool {
			return slices.ContainsFunc([]string{"temperature", "stopSequences", "metadata"}, func(name string) bool {
				return evidence.HasMember(r.Raw, name)
			})
		}},
	{newKind("refused-block", "the client takes tool uses and results only in an array, a result only with content, or a "+
		"tool use only at the end of its message", "Read content that is not an array as an array of one block. Accept "+
		"results without content, and texts behind tool uses: the schema allows them."),
		func(r *evidence.Round) bool { return slices.ContainsFunc(r.Params.Messages, unusualBlocks) }},
	{newKind("refused-array", "the client's message type has only one of the two forms of content",
		"Take content in both forms: a block, and an array of blocks, which may be one."),
		func(r *evidence.Round) bool {
			return slices.ContainsFunc(r.Params.Messages, func(m dialect.Message) bool {
				return len(m.Content) > 0 && strings.HasSuffix(m.Content[0].Path, "]")
			})
		}},
}

// refusedWithout reports whether the client refused another plain request with the same error, to which the special
// does not apply.
func refusedWithout(s *evidence.Session, r *evidence.Round, is func(*evidence.Round) bool) bool {
	said := func(r *evidence.Round) string {
		if len(r.Answers) == 0 || r.Answers[0].Err == nil {
			return ""
		}
		return r.Answers[0].Err.Message
	}
	return said(r) != "" && slices.ContainsFunc(s.Trace.Header.Cases, func(c trace.Case) bool {
		return slices.ContainsFunc(s.Case(c.ID).Rounds, func(other *evidence.Round) bool {
			return said(other) == said(r) && other.IsValid() && isPlain(other) && !is(other)
		})
	})
}

// unusualBlocks reports whether a message has a tool use or a result alone, a result without content, or a text behind
// a tool use.
func unusualBlocks(m dialect.Message) bool {
	n := len(m.Content)
	return slices.ContainsFunc(m.Content, func(b dialect.Block) bool {
		isResult := b.Type == dialect.ToolResult
		return isResult && len(b.Content) == 0 || n == 1 && (isResult || b.Type == dialect.ToolUse) ||
			b.Type == dialect.ToolUse && m.Content[n-1].Type == dialect.Text
	})
}

// paramNames has the members of CreateMessageRequestParams in all revisions.
var paramNames = jsonvalue.Set("_meta task messages modelPreferences systemPrompt includeContext temperature " +
	"maxTokens stopSequences metadata tools toolChoice")

// refusesPlain reports whether the client refused a plain request and asked no model. In a story of transport, a client
// that says nothing may not have read the request, which other checks judge.
func refusesPlain(e *evidence.Case, r *evidence.Round) bool {
	if strings.HasPrefix(e.Case.ID, "transport/") && len(r.Answers) == 0 {
		return false
	}
	return isPlain(r) && (!hasImage(r) || e.Session.ServesImagesLike(r)) && e.Session.AnswersAny() &&
		(askedNothing(e, r) && seesModel(e.Session) || saysInvalid(r)) && othersPlain(e, r)
}

// seesModel reports whether a session has the requests to the model. A tap may record the server's side only: then the
// model may have failed, which the trace does not show.
func seesModel(s *evidence.Session) bool {
	return !s.Trace.Header.Tapped || len(s.Exchanges) > 0
}

func hasImage(r *evidence.Round) bool {
	return r.Params != nil && len(evidence.BlocksOf(r.Params.Messages, dialect.Image)) > 0
}

func hasAnswer(r *evidence.Round) bool { return r.AnsweredWhole() && usable(r, r.LastExchange()) }

// othersAnswered reports whether the same holds of all that a result of 2026-07-28 asks for beside a round: a client
// that cannot fulfil one request ends the call.
func othersAnswered(e *evidence.Case, r *evidence.Round) bool {
	return !besides(e, r, func(other *evidence.Round) bool { return other.Params == nil || !hasAnswer(other) })
}

func othersPlain(e *evidence.Case, r *evidence.Round) bool {
	return !besides(e, r, func(other *evidence.Round) bool {
		return !other.IsValid() || !isPlain(other) || other != r && hasImage(other)
	})
}

// besides reports whether a result of 2026-07-28 asks, beside a round, for something else than samples, or for a sample
// that is meant.
func besides(e *evidence.Case, r *evidence.Round, meant func(*evidence.Round) bool) bool {
	for _, from := range e.InputRequiredResults() {
		if from.InputRequired.Ref != r.Asked.Ref {
			continue
		}
		for _, method := range from.InputRequired.Requests {
			if method != "sampling/createMessage" {
				return true
			}
		}
	}
	return e.Revision.Modern() && slices.ContainsFunc(e.Rounds, func(other *evidence.Round) bool {
		return other.Asked.Ref == r.Asked.Ref && meant(other)
	})
}

// askedNothing reports whether no request to the model can be for a round. Of concurrent ones, the wire may not tell;
// a client that limits them asks the model at least for one.
func askedNothing(e *evidence.Case, r *evidence.Round) bool {
	s := e.Session
	return len(s.Unmarked) == 0 && (e.Alone(r) || !slices.ContainsFunc(s.Exchanges[e.Case.ID],
		func(x *evidence.Exchange) bool { return x.Began > s.Order[r.Asked.Ref] }))
}

// saysInvalid reports whether the client says that the params are invalid. One that is busy with other requests says
// something else.
func saysInvalid(r *evidence.Round) bool {
	return len(r.Answers) > 0 && r.Answers[0].Err != nil && r.Answers[0].Err.Code == evidence.CodeInvalidParams
}

func saidNo(e *evidence.Case, r *evidence.Round) bool {
	if len(r.Answers) > 0 {
		response := e.Session.Trace.Find(r.Answers[0].Ref).Frame.Raw
		return r.Answers[0].Err != nil && !evidence.ObjectOf(json.RawMessage(response)).Has("result")
	}
	if e.Revision.Modern() {
		return e.RetryWithoutKey(r) == nil && e.Session.Unsettled(r.Asked) == ""
	}
	return gaveUp(e)
}

// gaveUp reports whether the client closed the stream of a call and says that the call failed. It did not abandon it on
// purpose.
func gaveUp(e *evidence.Case) bool {
	return e.StreamClosed() != nil && e.ReportedOutcome() == harness.Failed
}

// excused reports whether something else explains that a request has no result. Clients limit the rounds of a call, and
// those of a tool loop that they run themselves. Two calls of a tool ask the model the same.
func excused(e *evidence.Case, r *evidence.Round) bool {
	s := e.Session
	if s.Trace.Header.Decision != "" || s.Trace.Header.Replayed || s.Lost || r.AsksForTask() || r.RefusedWithoutTask() ||
		r.CassetteMiss() != "" || check.RefusedBeside(e, r) != "" || mayBeLimit(e, r) ||
		len(s.Calls[e.Case.ID]) > 1 || len(r.CompletedCalls()) > 1 || abandoned(e, r) {
		return true
	}
	return slices.ContainsFunc(e.Rounds, func(other *evidence.Round) bool {
		return other != r && (other.Hostile || other.RawID != nil && evidence.SameID(other.RawID, r.RawID))
	})
}

// mayBeLimit reports whether the client may have refused a round because there were too many. It then served others of
// the call: several before it, if they came one by one. It serves none that follows, or nothing sets the round apart
// from those that it serves. It asked no model first, unless it counts the rounds of a call in 2026-07-28.
func mayBeLimit(e *evidence.Case, r *evidence.Round) bool {
	served := func(rounds []*evidence.Round) bool {
		return slices.ContainsFunc(rounds, func(one *evidence.Round) bool { return one.Result() != nil })
	}
	asked, modern := r.AnsweredWhole(), e.Revision.Modern()
	switch {
	case len(e.Rounds) <= mostRounds, r.N <= mostRounds && e.Alone(r):
		return false
	case asked && !modern, (asked || !modern) && !served(e.Rounds):
		return false
	}
	return !served(e.Rounds[r.N-1:]) || !asked && !slices.ContainsFunc(specials, func(one special) bool {
		return one.is(r) && !refusedWithout(e.Session, r, one.is)
	})
}

// mayBeDeclined reports whether the user of a recorded session may have declined the request or its answer.
func mayBeDeclined(s *evidence.Session, r *evidence.Round) bool {
	return s.Trace.Header.Tapped && len(r.Answers) > 0 && r.Answers[0].Err != nil &&
		r.Answers[0].Err.Code == evidence.CodeDeclined
}

func abandoned(e *evidence.Case, r *evidence.Round) bool {
	cancels, _ := e.CallCancels()
	closed := e.StreamClosed() != nil && !gaveUp(e)
	return len(cancels) > 0 || e.Cancelled(r) != nil || closed || e.Reported(harness.Abandoned) != nil
}

const (
	// mostRounds are the sampling requests of one call, and the turns of one history, that every client serves.
	mostRounds = 5
	// mostBytes are the bytes of a request or a reply that every client takes.
	mostBytes = 64 << 10
)

// usable reports whether the model's reply is one that a client can pass on: texts and valid uses of offered tools.
func usable(r *evidence.Round, x *evidence.Exchange) bool {
	reply := x.Reply()
	if reply == nil || !reply.Complete || misbehaves(x) ||
		!slices.Contains([]dialect.StopReason{dialect.EndTurn, dialect.StopToolUse}, reply.StopReason) {
		return false
	}
	const mostUses = 8 // a client may limit them, and the length of a reply
	uses, ids := x.Calls(), map[string]bool{}
	if len(uses) > mostUses || len(x.Answer) > mostBytes {
		return false
	}
	for _, use := range uses {
		if !isValidUse(r, use) || use.ID != "" && ids[use.ID] {
			return false
		}
		ids[use.ID] = true
	}
	switch r.Params.ToolChoice {
	case "none":
		return len(uses) == 0 && hasText(reply.Content)
	case "required":
		return len(uses) > 0
	}
	return len(uses) > 0 || hasText(reply.Content)
}

func isValidUse(r *evidence.Round, use dialect.Block) bool {
	i := indexOf(r.Params.Tools, use.Name)
	if i < 0 {
		return false
	}
	schema, err := toolschema.Compile(r.Params.Tools[i].InputSchema)
	return err != nil || schema.Check(use.Name, use.Input) == ""
}

func hasText(blocks []dialect.Block) bool { return strings.TrimSpace(dialect.PlainText(blocks)) != "" }

// plainName matches the names and ids that every provider takes.
var plainName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,40}$`)

// isPlain reports whether every provider takes a request, and every client that declares what it needs: it has texts,
// images, tool uses and their results, in moderation. A client without tools may read one block of each message.
func isPlain(r *evidence.Round) bool {
	const mostTools = 64
	p := r.Params
	turns := p.Messages
	if len(r.Raw) > mostBytes || len(p.Tools) > mostTools || len(turns) > 2*mostRounds || len(turns) == 0 ||
		turns[0].Role != dialect.User || turns[len(turns)-1].Role != dialect.User || !plainSettings(p) ||
		wantsContext(r) && !r.Declared.Declares("sampling", "context") {
		return false
	}
	names := map[string]bool{}
	for _, t := range p.Tools {
		if !plainName.MatchString(t.Name) || names[t.Name] {
			return false
		}
		names[t.Name] = true
	}
	several := r.Declared.Declares("sampling", "tools")
	return !slices.ContainsFunc(turns, func(m dialect.Message) bool {
		return len(m.Content) > 1 && !several || !plainBlocks(&m, names)
	})
}

func plainSettings(p *dialect.Request) bool {
	const leastTokens, mostTokens = 16, 8192
	return p.MaxTokens != nil && *p.MaxTokens >= leastTokens && *p.MaxTokens <= mostTokens &&
		evidence.PlainTemperature(p.Temperature) && evidence.PlainStops(p.StopSequences) &&
		(p.ToolChoice == "" || len(p.Tools) > 0)
}

// plainBlock reports the same of a block, beside tools with these names.
func plainBlocks(m *dialect.Message, tools map[string]bool) bool {
	return !slices.ContainsFunc(m.Content, func(b dialect.Block) bool {
		return !plainBlock(&b, tools) || b.Type == dialect.Image && m.Role != dialect.User
	})
}

func plainBlock(b *dialect.Block, tools map[string]bool) bool {
	switch b.Type {
	case dialect.Text:
		return strings.TrimSpace(b.Text) != ""
	case dialect.Image:
		return true
	case dialect.ToolUse:
		return plainName.MatchString(b.ID) && tools[b.Name]
	case dialect.ToolResult:
		return (len(b.Content) == 0 || hasText(b.Content)) &&
			len(evidence.Only(b.Content, dialect.Text)) == len(b.Content)
	}
	return false
}
