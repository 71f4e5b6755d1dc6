package loop

import (
	"fmt"
	"slices"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
)

// Loops run at the same time, and have as many cities each. A loop's index is the number of its conversation, less
// one.
var Loops = []tour{
	{"Which harbour in the north is the windier one?", []string{"Oslo", "Bergen"}, "Bergen is the windier one."},
	{"Which harbour in the south is the calmer one?", []string{"Naples", "Genoa"}, "Genoa is the calmer one."},
}

// LoopRounds is the number of rounds of each loop, with the one of the final text.
var LoopRounds = len(Loops[0].Cities) + 1

// Two loops run at the same time. The order of their requests changes from round to round, so that it does not
// identify the loop.
var sideBySide = harness.Case{ID: "loop/two-loops", Barrier: true,
	Handler: func(s *server.Session) (any, error) {
		var asks []any
		for _, t := range Loops {
			asks = append(asks, s.Ask(t.Question, story.GetWeather))
		}
		for round := 1; ; round++ {
			for i, answer := range s.SampleAll(asks...) {
				if answer.Err != nil || round == LoopRounds {
					return answer.Result, answer.Err
				}
				asks[i] = asks[i].(*server.CreateMessageParams).After(answer.Result, WeatherReports)
			}
			slices.Reverse(asks)
		}
	},
	Script: func(mark string) []*llm.Rule {
		var rules []*llm.Rule
		for i, t := range Loops {
			rules = append(rules, t.rules(mark, conversation(mark, i+1))...)
		}
		return rules
	}}

var interleaved = check.Check{
	ID: "interleaved", Cases: []string{"two-loops"},
	Rule:   "Two tool loops that run at the same time do not mix",
	Levels: check.Robust, Requests: 2,
	Cause: "the client keeps the history, or the current request, in a variable that all requests share",
	Fix:   "Keep all state of a sampling request in a value of its own, such as the handler's local variables.",
	Judge: func(e *evidence.Case) check.Verdict {
		for _, r := range e.Rounds {
			if v := withoutModel(e, r); v != nil {
				return *v
			}
			n := ConversationOf(r, e.Case.Mark)
			if n < 1 || n > len(Loops) {
				return check.NotObserved("sampling request %d does not say its conversation", r.N).ShowJSON(r.Asked, r.Raw)
			}
			if v, found := mixed(r, Loops[n-1], Loops[len(Loops)-n]); found {
				return showRound(v, r)
			}
		}
		for _, r := range e.Rounds {
			if how := check.HowRefused(e, r); how != "" {
				return check.NotApplicable("the client does not accept both loops at once: %s", how)
			}
			if _, unread := check.ReadableResult(e, r); unread != nil {
				return *unread
			}
		}
		if sent := len(e.Rounds); sent < len(Loops)*LoopRounds {
			return check.NotSent(e, sent+1)
		}
		return check.Pass("each loop had its own results, and the model its own history of each")
	},
}

// mixed searches a round of one loop for texts of the other, and for a result with no text of either.
func mixed(r *evidence.Round, own, other tour) (check.Verdict, bool) {
	for _, x := range r.Model {
		for _, word := range other.words() {
			if x.Request != nil && x.Says(word) {
				return check.Fail("expected only texts of one loop in the model request, found %q of the other loop", word), true
			}
		}
	}
	a := r.Result()
	if a == nil || a.Blocks() == nil {
		return check.Verdict{}, false
	}
	says := func(word string) bool {
		return evidence.Holds(a.Blocks(), word) || slices.Contains(evidence.RequestedCities(a), word)
	}
	for _, word := range other.words() {
		if says(word) {
			return check.Fail("expected only texts of one loop in the result, found %q of the other loop", word), true
		}
	}
	// Which of its own words is due depends on the history that the model received. Other checks judge that.
	return check.Unasked("the result of a request has no text of either loop"), !slices.ContainsFunc(own.words(), says)
}

// showRound adds the question of a round, what the model received for it, and the client's responses.
func showRound(v check.Verdict, r *evidence.Round) check.Verdict {
	v = v.ShowAs("server sent", r.Asked.At("messages"), "%s", evidence.DescribeMessages(r.Params.Messages[:1]))
	for _, x := range r.Model {
		if x.Request != nil {
			v = v.ShowAs("model received", x.Place, "%s", evidence.Compact(x.Request.Body))
		}
	}
	for _, a := range r.Answers {
		v = v.ShowResult(&a)
	}
	return v
}

// AtOnce is how many requests are in flight together. Many clients have a lower limit of their own, as they may.
const AtOnce = 16

// LockerQuestion is exported for the tests, which are in a package of their own.
func LockerQuestion(n int) string { return fmt.Sprintf("What opens locker number %d?", n) }

// LockerAnswer is exported for the tests, which are in a package of their own.
func LockerAnswer(n int) string { return fmt.Sprintf("It opens with the code %d.", 4096+37*n) }

// Sixteen questions, each in a conversation of its own, are in flight together. Each has a limit of its own, and is
// answered by a model of its own.
var allAtOnce = harness.Case{ID: "loop/sixteen-at-once", Barrier: true,
	Handler: func(s *server.Session) (any, error) {
		asks := make([]any, AtOnce)
		for i := range asks {
			ask := s.Ask(LockerQuestion(i + 1))
			ask.MaxTokens = 100 * (i + 1)
			asks[i] = ask
		}
		for _, answer := range s.SampleAll(asks...) {
			if answer.Err != nil {
				return nil, answer.Err
			}
		}
		return "done", nil
	},
	Script: func(mark string) []*llm.Rule {
		var rules []*llm.Rule
		for n := 1; n <= AtOnce; n++ {
			rules = append(rules, llm.When(conversation(mark, n)).Reply(llm.Text(LockerAnswer(n))).
				Model(fmt.Sprintf("scripted-model-%d", n)))
		}
		return rules
	}}

var concurrent = check.Check{
	ID: "concurrent", Cases: []string{"sixteen-at-once"},
	Rule:   "Each of many requests in flight gets one response: its own content, or an error",
	Levels: check.Robust, Requests: AtOnce,
	Cause: "the client drops requests that are over its limit, or keeps a result in a variable that all requests share",
	Fix:   "Return the model's answer to each request, one by one if necessary, or an error above your limit.",
	Judge: func(e *evidence.Case) check.Verdict {
		for _, r := range e.Rounds {
			if why := r.CassetteMiss(); why != "" {
				return check.NotObserved("the model had no answer for one of the requests: %s", evidence.Clip(why))
			}
		}
		results, refused := 0, 0
		var open []*evidence.Round
		for _, r := range e.Rounds {
			if v := wrongAnswer(e, r); v != nil {
				return *v
			}
			switch {
			case r.Result() != nil:
				results++
			case len(r.Answers) > 0:
				refused++
			default:
				open = append(open, r)
			}
		}
		if results == 0 && !e.Session.AnswersAny() {
			return check.AnswersNothing(e, 1)
		}
		if len(open) > 0 {
			return noResponse(e, open, results)
		}
		return check.Pass("%d of %d requests in flight got their own result, %d an error", results, AtOnce, refused)
	},
}

// wrongAnswer judges the responses to one of many requests; nil if there is one with the right content, an error, or
// none.
func wrongAnswer(e *evidence.Case, r *evidence.Round) *check.Verdict {
	n := ConversationOf(r, e.Case.Mark)
	if n == 0 {
		return check.Instead(check.NotObserved("sampling request %d does not say its conversation", r.N).
			ShowJSON(r.Asked, r.Raw))
	}
	if len(r.Answers) > 1 && !e.Revision.Modern() {
		v := check.Fail("expected one response to each of %d requests in flight, found %d to one", AtOnce, len(r.Answers)).
			Show(r.Asked, "%s", LockerQuestion(n))
		for _, a := range r.Answers {
			v = v.ShowJSON(a.Place, append(a.RawErr, a.Result...))
		}
		return &v
	}
	a := r.Result()
	if a == nil {
		return nil
	}
	if unread := check.UnreadableContent(a); unread != nil {
		return unread
	}
	own := replies(r)
	if slices.ContainsFunc(own, func(text string) bool { return evidence.Holds(a.Blocks(), text) }) {
		return nil
	}
	found := "another text"
	for _, other := range e.Rounds {
		if slices.ContainsFunc(replies(other), func(text string) bool { return evidence.Holds(a.Blocks(), text) }) {
			found = fmt.Sprintf("the one to question %d", ConversationOf(other, e.Case.Mark))
		}
	}
	if len(own) == 0 && found == "another text" {
		return nil // the client answers by itself
	}
	v := check.Fail("expected the answer to question %d of %d in flight, found %s", n, AtOnce, found).
		Show(r.Asked, "%s", LockerQuestion(n))
	for _, text := range own {
		v = v.ShowAs("model said", r.LastExchange().Place, "%q", text)
	}
	return check.Instead(v.ShowMembers(a, "content"))
}

// replies returns the texts of the model's replies to a round.
func replies(r *evidence.Round) []string {
	var texts []string
	for _, x := range r.CompletedCalls() {
		if reply := x.Reply(); reply != nil && evidence.Joined(reply.Content) != "" {
			texts = append(texts, evidence.Joined(reply.Content))
		}
	}
	return texts
}

// noResponse judges requests without a response. In 2026-07-28 a client may leave all of them unfulfilled, but not
// some.
func noResponse(e *evidence.Case, open []*evidence.Round, results int) check.Verdict {
	first := open[0]
	how := "no result and no error"
	if e.Revision.Modern() {
		if results == 0 {
			return check.UnsettledSince(e, first.Asked).
				Or(check.Pass("the client does not fulfil %d requests at once, and continues", AtOnce))
		}
		how = "the retry has other keys, and not its own"
	}
	return check.Fail("expected %d responses, %d are missing, first that to request %d: %s%s",
		AtOnce, len(open), first.N, how, e.WhySilent(e.FirstCall)).ShowJSON(first.Asked, first.Raw).ShowOutput(e.Session)
}

// ConversationOf returns which conversation of the case a round belongs to, from 1; 0 if its params do not say.
func ConversationOf(r *evidence.Round, mark string) int {
	for n := 1; n <= AtOnce; n++ {
		if slices.Contains(r.Conversations, ConversationName(mark, n)) {
			return n
		}
	}
	return 0
}
