package evidence

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"

	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// Result returns the first answer that is a result; nil when there is none.
func (r *Round) Result() *Answer {
	for i := range r.Answers {
		if r.Answers[i].Err == nil {
			return &r.Answers[i]
		}
	}
	return nil
}

// LastModel returns the request that the round's answer rests on: the last that the model answered with success, or else the last;
// nil when there is none.
func (r *Round) LastExchange() *Exchange {
	for _, x := range slices.Backward(r.Model) {
		if x.End.Status == 200 {
			return x
		}
	}
	if len(r.Model) == 0 {
		return nil
	}
	return r.Model[len(r.Model)-1]
}

// member returns a member of the result as it was written; nil when it is not there.
func (a *Answer) Member(name string) json.RawMessage {
	var o map[string]json.RawMessage
	if json.Unmarshal(a.Result, &o) != nil {
		return nil
	}
	return o[name]
}

// text returns a member that is a string, and whether it is one.
func (a *Answer) Text(name string) (string, bool) {
	var s string
	raw := a.Member(name)
	return s, raw != nil && string(raw) != "null" && json.Unmarshal(raw, &s) == nil
}

// blocks returns what the answer holds, each block with its path relative to the answer; nil when it cannot be read. It is read once.
func (a *Answer) Blocks() []dialect.Block {
	if !a.read {
		a.read, a.held = true, readBlocks(a.Member("content"))
	}
	return a.held
}

func readBlocks(content json.RawMessage) []dialect.Block {
	if content == nil {
		return nil
	}
	req, err := llm.Decode(dialect.Native, "", []byte(`{"maxTokens":1,"messages":[{"role":"assistant","content":`+string(content)+`}]}`))
	if err != nil || len(req.Messages) != 1 {
		return nil
	}
	blocks := req.Messages[0].Content
	for i := range blocks {
		blocks[i].Path = strings.TrimPrefix(blocks[i].Path, "messages[0].")
	}
	return blocks
}

// missed says why the model had no answer for the client: no rule of the script and no recording is like what it was asked. "" where it
// had one.
func (r *Round) CassetteMiss() string {
	if x := r.LastExchange(); x != nil {
		return x.End.Miss
	}
	return ""
}

// answers reports whether a round of the kind was answered with a result.
func (s *Session) Answers(kind func(*Round) bool) bool {
	for _, calls := range s.Calls {
		for _, ev := range calls {
			if slices.ContainsFunc(ev.Rounds, func(r *Round) bool { return r.Result() != nil && kind(r) }) {
				return true
			}
		}
	}
	return false
}

// livedOn reports whether the client was well after an event.
func (s *Session) WentOn(after trace.Ref) bool {
	endedWell := s.Ended != nil && s.Ended.Clean()
	for _, calls := range s.Calls {
		for _, ev := range calls {
			for _, r := range ev.Rounds {
				if a := r.Result(); a != nil && (endedWell || s.Order[after] < s.Order[a.Ref]) {
					return true
				}
			}
		}
	}
	return false
}

// answersAny reports whether any sample of the session was answered with a result.
func (s *Session) AnswersAny() bool {
	for _, calls := range s.Calls {
		for _, ev := range calls {
			if slices.ContainsFunc(ev.Rounds, func(r *Round) bool { return r.Result() != nil }) {
				return true
			}
		}
	}
	return false
}

// uses returns the tool uses in the answer.
func (a *Answer) Uses() []dialect.Block { return Only(a.Blocks(), dialect.ToolUse) }

// only returns the blocks of one type.
func Only(blocks []dialect.Block, t dialect.BlockType) []dialect.Block {
	var found []dialect.Block
	for _, b := range blocks {
		if b.Type == t {
			found = append(found, b)
		}
	}
	return found
}

// turns returns the blocks of a type over all messages, results and uses in the order in which they stand.
func Turns(messages []dialect.Message, t dialect.BlockType) []dialect.Block {
	var found []dialect.Block
	for _, m := range messages {
		found = append(found, Only(m.Content, t)...)
	}
	return found
}

// says reports whether the text stands in any string of the request's body, however deep, also in JSON that is itself in a string.
func (x *Exchange) Says(text string) bool {
	return Contains(Decoded(x.Request.Body), text)
}

func Contains(value any, text string) bool {
	switch v := value.(type) {
	case string:
		if strings.Contains(v, text) {
			return true
		}
		switch inner := Decoded([]byte(v)).(type) {
		case map[string]any, []any:
			return Contains(inner, text)
		}
	case []any:
		for _, item := range v {
			if Contains(item, text) {
				return true
			}
		}
	case map[string]any:
		for _, item := range v {
			if Contains(item, text) {
				return true
			}
		}
	}
	return false
}

// decoded reads JSON with its numbers as they were written; nil for what is none.
func Decoded(raw []byte) any {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	if dec.Decode(&v) != nil {
		return nil
	}
	return v
}

// sameJSON reports whether two documents mean the same: key order aside, and numbers by their value, to the last digit.
func SameJSON(a, b []byte) bool {
	x, y := Decoded(a), Decoded(b)
	return x != nil && y != nil && cmp.Equal(x, y, cmp.Comparer(SameNumber))
}

// sameNumber compares to more digits than any number of ours has, and in no more time for one with a huge exponent.
func SameNumber(a, b json.Number) bool {
	x, okX := new(big.Float).SetPrec(512).SetString(string(a))
	y, okY := new(big.Float).SetPrec(512).SetString(string(b))
	return a == b || okX && okY && !x.IsInf() && x.Cmp(y) == 0
}

// describe names blocks, a line each, with where they stand: tool uses and results by id.
func Describe(blocks []dialect.Block) string {
	if len(blocks) == 0 {
		return "none"
	}
	var lines []string
	for _, b := range blocks {
		line := b.Path + "  "
		switch b.Type {
		case dialect.ToolUse:
			line += fmt.Sprintf("tool use %s: %s(%s)", QuoteID(b.ID), b.Name, Compact(b.Input))
		case dialect.ToolResult:
			line += fmt.Sprintf("result for %s: %q", QuoteID(b.ID), Clip(dialect.PlainText(b.Content)))
		default:
			line += string(b.Type)
		}
		lines = append(lines, line)
	}
	const most = 6
	if more := len(lines) - most; more > 0 {
		lines = append(lines[:most], fmt.Sprintf("… and %d more", more))
	}
	return strings.Join(lines, "\n")
}

func QuoteID(id string) string {
	if id == "" {
		return "(no id)"
	}
	return id
}

// compact returns JSON without its white space, or what it is if it is none.
func Compact(raw []byte) string {
	const most = 64 << 10 // beyond which only the beginning is looked at, where a report shows no more anyway
	if len(raw) > most {
		return fmt.Sprintf("%s… (%d bytes)", strings.ToValidUTF8(string(raw[:400]), ""), len(raw))
	}
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return Clip(string(raw))
	}
	return Clip(b.String())
}

// withoutKey returns the retry of a round's call that lacks its answer, for which null is not enough; nil where there is none.
func (ev *Case) RetryWithoutKey(r *Round) *Place {
	s := ev.Session
	asked := s.Order[r.Asked.Ref]
	for i := asked + 1; i < len(s.Trace.Events); i++ {
		e := &s.Trace.Events[i]
		otherCall := e.Call != 0 && e.Call != s.Trace.Events[asked].Call // 0 for a retry that the server could not tell whose it is
		if e.Case != ev.Case.ID || otherCall || e.Frame == nil || e.Frame.Dir != trace.FromClient {
			continue
		}
		m := s.Message(e)
		isRetry := HasMember(m.Params, "inputResponses") || HasMember(m.Params, "requestState")
		answered := slices.ContainsFunc(r.Answers, func(a Answer) bool { return a.Ref == e.Ref() && string(a.Result) != "null" })
		if m.Method == "tools/call" && isRetry && !answered {
			return &Place{e.Ref(), "params", "the retry"}
		}
	}
	return nil
}

// isError reports whether it is an error that stands in the place of an answer.
func isError(a *Answer) bool {
	return IsNoAnswer(a) && (a.Member("error") != nil || a.Member("code") != nil)
}
