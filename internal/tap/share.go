package tap

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/dialects"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// exchange is a request to the model, and what came back.
type exchange struct {
	asked  trace.Event
	answer answer
	of     *session // the one that was active last, or that has the call
	claims []claim  // the latest sample first
	call   *call    // nil for a request of the host
}

// claim says how surely a request to the model is for a sampling request.
type claim struct {
	of    *session
	ask   *sample
	grade grade
	texts int // of the whole conversation, if the request has all of them; else 0
}

// compare orders claims, the most certain first. All texts of a conversation tell more than those of its last message:
// another conversation may end with the same message.
func (c claim) compare(other claim) int {
	several := func(c claim) int {
		if c.texts > 1 {
			return c.texts
		}
		return 0
	}
	return cmp.Or(several(other)-several(c), int(other.grade-c.grade))
}

// grade says what ties a request to the model to an open sampling request.
type grade int

const (
	nothing grade = iota
	// related has a text of the conversation, or an answer that is the client's.
	related
	// quoted has the texts of the last message within longer ones: with a frame around them, or in a question about them.
	quoted
	// exact has the texts of the last message.
	exact
)

// shareModel gives each model exchange to the session that has the sampling request it is for, or else to the one that
// was last active. A sampling request takes the requests that are tied to it most closely: a host that first asks a
// model whether the question is safe asks that for itself.
func shareModel(sessions []*session, events []trace.Event) []*session {
	if len(sessions) == 0 && len(events) > 0 {
		sessions = []*session{{}}
	}
	exchanges := pair(events)
	best := map[*sample]grade{}
	numbers := slices.Sorted(maps.Keys(exchanges))
	for _, n := range numbers {
		x := exchanges[n]
		for _, s := range sessions {
			if x.of == nil || s.lastBefore(x.asked.At) > x.of.lastBefore(x.asked.At) {
				x.of = s
			}
		}
		x.claim(sessions)
		for _, c := range x.claims {
			best[c.ask] = max(best[c.ask], c.grade)
		}
	}
	taken := map[*sample]bool{}
	for _, n := range numbers {
		x := exchanges[n]
		x.claims = slices.DeleteFunc(x.claims, func(c claim) bool { return c.grade < best[c.ask] })
		if len(x.claims) == 0 {
			continue
		}
		c := x.choose(taken)
		x.of, x.call, taken[c.ask] = c.of, c.ask.call, true
	}
	give(exchanges, events)
	return sessions
}

// choose returns the claim that holds, of the best ones. Of samples that ask the same, it is one that got this answer
// and no other yet, at best one that was open until the answer came, and of those the one that ended first.
func (x *exchange) choose(taken map[*sample]bool) claim {
	yes := func(is bool) int {
		if is {
			return 1
		}
		return 0
	}
	best := slices.DeleteFunc(x.claims, func(c claim) bool { return c.compare(x.claims[0]) > 0 })
	return slices.MinFunc(best, func(a, b claim) int {
		return cmp.Or(
			yes(x.answer.says(b.ask.result))-yes(x.answer.says(a.ask.result)),
			yes(taken[a.ask])-yes(taken[b.ask]),
			yes(b.ask.until >= x.answer.at)-yes(a.ask.until >= x.answer.at),
			cmp.Compare(a.ask.until, b.ask.until),
		)
	})
}

// pair reads the exchanges of the model's events, by number.
func pair(events []trace.Event) map[int64]*exchange {
	all := map[int64]*exchange{}
	for _, e := range events {
		switch {
		case e.Request != nil:
			all[e.Request.Exchange] = &exchange{asked: e, answer: answer{dialect: e.Request.Dialect}}
		case e.Chunk != nil && all[e.Chunk.Exchange] != nil:
			all[e.Chunk.Exchange].answer.add(e)
		}
	}
	return all
}

// claim finds the samples that the request may be for.
func (x *exchange) claim(sessions []*session) {
	body := jsonvalue.Decode(x.asked.Request.Body)
	if body == nil {
		return
	}
	for _, s := range sessions {
		for _, one := range slices.Backward(s.samples) {
			if one.from > x.asked.At || x.asked.At > one.until {
				continue
			}
			if g, texts := one.gradeOf(body, &x.answer); g > nothing {
				x.claims = append(x.claims, claim{s, one, g, texts})
			}
		}
	}
	slices.SortStableFunc(x.claims, claim.compare)
}

// gradeOf grades a request to the model that was sent while the sample was open. It returns how many texts the
// conversation has, if the request has all of them.
func (one *sample) gradeOf(body any, a *answer) (g grade, texts int) {
	params, err := jsonvalue.ReadObject(one.params)
	if err != nil {
		return nothing, 0
	}
	messages := jsonvalue.Messages(params)
	if len(messages) == 0 {
		return nothing, 0
	}
	last, all := textsOf(messages[len(messages)-1]["content"]), []string(nil)
	for _, m := range messages {
		all = append(all, textsOf(m["content"])...)
	}
	says := func(text string) bool { return jsonvalue.Contains(body, text) }
	lacks := func(text string) bool { return !says(text) }
	if !slices.ContainsFunc(all, lacks) {
		texts = len(all)
	}
	every := func(has func(text string) bool) bool {
		return len(last) > 0 && !slices.ContainsFunc(last, func(text string) bool { return !has(text) })
	}
	switch {
	case every(func(text string) bool { return slices.Contains(stringsIn(body), text) }):
		return exact, texts
	case every(says):
		return quoted, texts
	case slices.ContainsFunc(all, func(text string) bool {
		return utf8.RuneCountInString(text) >= shortest && says(text)
	}), a.says(one.result):
		return related, texts
	}
	return nothing, texts
}

// shortest is the length of a text that two conversations do not share by chance.
const shortest = 12

// textsOf returns the texts of content blocks, also of those in results.
func textsOf(content any) []string {
	var texts []string
	jsonvalue.EachString(content, "content", func(path, text string) bool {
		if strings.HasSuffix(path, "text") && text != "" && text != "text" { // the name of the member comes, too
			texts = append(texts, text)
		}
		return true
	})
	return texts
}

func stringsIn(v any) []string {
	var all []string
	jsonvalue.EachString(v, "", func(_, text string) bool {
		all = append(all, text)
		return true
	})
	return all
}

// give gives the events of each exchange to its session.
func give(exchanges map[int64]*exchange, events []trace.Event) {
	for _, e := range events {
		var x *exchange
		switch {
		case e.Request != nil:
			x = exchanges[e.Request.Exchange]
			copied := *e.Request
			copied.Host = x.call == nil && !copied.SideRequest
			e.Request = &copied
		case e.Chunk != nil:
			x = exchanges[e.Chunk.Exchange]
		case e.End != nil:
			x = exchanges[e.End.Exchange]
		}
		if x == nil {
			continue
		}
		if e.End != nil {
			x.answer.finish(&e)
		}
		if x.call != nil {
			e.Case = x.call.id
		}
		x.of.events = append(x.of.events, e)
	}
}

// answer is what the model has answered so far.
type answer struct {
	dialect string
	data    []byte
	at      time.Duration // of the last part
}

func (a *answer) add(e trace.Event) { a.data, a.at = append(a.data, e.Chunk.Data...), e.At }

// finish corrects the end of an answer that came whole: the client may have gone on, and hung up, before the end was
// seen.
func (a *answer) finish(e *trace.Event) {
	if reply, err := dialects.DecodeReply(a.dialect, a.data); err != nil || !reply.Complete {
		return
	}
	end := *e.End
	end.HungUp, end.Closed = false, false
	e.End, e.At = &end, a.at
}

// says reports whether the texts of the answer are those of the client's result.
func (a *answer) says(result json.RawMessage) bool {
	reply, err := dialects.DecodeReply(a.dialect, a.data)
	if err != nil || result == nil {
		return false
	}
	var said []string
	for _, b := range reply.Content {
		if b.Text != "" {
			said = append(said, b.Text)
		}
	}
	return len(said) > 0 && slices.Equal(said, textsOf(jsonvalue.Decode(jsonvalue.Part(result, "content"))))
}
