package evidence_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

func TestEachCallOfAToolIsDecodedByItself(t *testing.T) {
	twice := func(s *tracetest.Story) {
		tracetest.Right(s)
		s.Calls()
		tracetest.Right(s)
	}
	again := func(wrong string) func(*tracetest.Story) {
		return func(s *tracetest.Story) {
			tracetest.Right(s)
			s.Calls()
			tracetest.AnswersWith(wrong)(s)
		}
	}
	tracetest.Run(t, catalogue, []tracetest.Test{
		{Name: "each call has its own model call", Check: "always/one-model-call", CaseID: "basic/question", Steps: twice,
			Verdict: report.Pass, Message: "each sampling request cost one model call"},
		{Name: "each request has its own answer", Check: "basic/answered", CaseID: "question", Steps: twice,
			Verdict: report.Pass, Message: "every sampling request got a result"},
		{Name: "the first call is judged", Check: "always/role-assistant", CaseID: "basic/question",
			Steps:   again(tracetest.With(tracetest.Saying("again"), "role", `"user"`)),
			Verdict: report.Pass, Message: "every result has the role"},
		{Name: "also where the first one was not answered", Check: "basic/answered", CaseID: "question", Verdict: report.Fail,
			Message: "expected a result for the sampling request: no response to request 1",
			Steps: func(s *tracetest.Story) {
				s.Asks(tracetest.Asking(story.Question))
				s.Calls()
				tracetest.Right(s)
			}},
		{Name: "the first in which something was asked", Check: "basic/answered", CaseID: "question",
			Verdict: report.Pass, Message: "every sampling request got a result",
			Steps: func(s *tracetest.Story) {
				s.Marks(trace.MarkWithheld, "sampling")
				s.Calls()
				tracetest.Right(s)
			}},
	})
}

// Both calls ask before either is answered, and the model's wire does not say which request is whose.
func TestConcurrentCallsHaveTheirOwnModelRequests(t *testing.T) {
	for _, revision := range tracetest.BothEras {
		s := tracetest.Begin(t, catalogue, revision, dialect.Native, "basic/question")
		s.Asks(tracetest.Asking(story.Question))
		s.Calls()
		s.Asks(tracetest.Asking(story.Question))
		s.Prompts(tracetest.Asking(story.Question)).Prompts(tracetest.Asking(story.Question))
		s.Answers(tracetest.Saying(story.Answer)) // of the second
		s.Call, s.Asked = 1, 1                    // and of the first
		s.Answers(tracetest.Saying(story.Answer))
		got := s.Result("always/one-model-call")
		require.Equal(t, report.Pass, got.Verdict, got.Message)
		require.Equal(t, report.Pass, s.Result("always/model-was-given").Verdict)
	}
}

// The texts say of which call a model request is, also if no answer rests on it, as where a task was cancelled.
func TestConcurrentCallsAreToldApartByTheirTexts(t *testing.T) {
	for _, api := range []string{dialect.Native, dialect.OpenAIChat} {
		s := tracetest.Begin(t, catalogue, server.V20251125, api, "basic/question")
		first, second := tracetest.Asking("Take your time (ponder1)."), tracetest.Asking("Take your time (ponder2).")
		s.Asks(first).Calls().Asks(second).Answers(tracetest.Saying("Wait.")) // as with a task
		body := any(second)
		if api != dialect.Native {
			body = tracetest.AsChat(second)
		}
		s.Prompt(string(jsonvalue.Marshal(body)), trace.ModelEnd{Status: 200, HungUp: true})
		s.Call, s.Asked = 1, 1
		s.Prompts(first).Answers(tracetest.Saying("That is well considered."))
		for _, id := range []string{"always/model-was-given", "always/one-model-call"} {
			require.Equal(t, report.Pass, s.Result(id).Verdict, "%s: %s", id, s.Result(id).Message)
		}
	}
}

// An error rests on no answer of the model, even if one came before it.
func TestAConcurrentCallThatFailedTakesNoAnswerFromAnother(t *testing.T) {
	for failed := range 2 {
		s := tracetest.Begin(t, catalogue, server.V20251125, dialect.Native, "basic/question")
		ask := tracetest.Asking(tracetest.WhenOpen)
		s.Asks(ask).Calls().Asks(ask).Fails(http.StatusTooManyRequests).Prompts(ask)
		s.Call, s.Asked = 1+failed, 1+failed
		s.Refuses(-32603, "rate limited")
		s.Call, s.Asked = 2-failed, 2-failed
		s.Answers(tracetest.Saying(story.Answer))
		calls := evidence.Decode(s.Trace).Calls["basic/question"]
		for i, status := range []int{http.StatusTooManyRequests, http.StatusOK} {
			model := calls[(failed+i)%2].Rounds[0].Model
			require.Len(t, model, 1)
			require.Equal(t, status, model[0].End.Status)
		}
	}
}

// No answer rests on the last request of each story. All requests of a story ask the model for one round.
func TestOtherRequestsGoToTheLikeliestRound(t *testing.T) {
	longer := tracetest.AskingForWeather().After(json.RawMessage(tracetest.TwoUses()), tracetest.WeatherResults)
	failed := trace.ModelEnd{Status: http.StatusInternalServerError}
	for name, c := range map[string]struct {
		tell func(*tracetest.Story)
		want int // the index of that round
	}{
		"a history of its length": {func(s *tracetest.Story) {
			s.Asks(longer).Asks(tracetest.AskingForWeather()).Prompt(string(story.JSON(longer)), failed)
		}, 0},
		"its conversation, although the request cannot be read": {func(s *tracetest.Story) {
			mark := s.Trace.Header.Cases[0].Mark
			s.Asks(tracetest.Asking("First, " + mark + "n1")).Asks(tracetest.Asking("Second, " + mark + "n2"))
			s.Prompt(`{"said": "`+mark+`n1"`, failed)
		}, 0},
		"the latest, if all are answered": {func(s *tracetest.Story) {
			s.Asks(tracetest.AskingForWeather()).Refuses(-1, "no")
			s.Asks(tracetest.AskingForWeather()).Prompts(tracetest.AskingForWeather()).Answers(tracetest.TwoUses())
			s.Prompts(tracetest.AskingForWeather())
		}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			s := tracetest.Begin(t, catalogue, server.V20251125, dialect.Native, "parallel/two-cities")
			c.tell(s)
			rounds := evidence.Decode(s.Trace).Case("parallel/two-cities").Rounds
			require.Len(t, rounds, 2)
			require.Len(t, rounds[c.want].Model, int(s.Models))
			require.Empty(t, rounds[1-c.want].Model)
		})
	}
}

// The states of two calls may be the same. Then a retry of one may continue the other, and its model call came before
// the request that it answers: only the sums count.
func TestConcurrentCallsWithSwappedRetries(t *testing.T) {
	for calls, want := range map[int]report.Verdict{2: report.Pass, 3: report.Fail} {
		ask, answer := tracetest.Asking(story.Question), tracetest.Saying(story.Answer)
		s := tracetest.Begin(t, catalogue, server.V20260728, dialect.Native, "mrtr/states")
		s.Asks(ask).Thinks(ask)
		s.Calls().Asks(ask)
		for range calls - 1 {
			s.Prompts(ask)
		}
		s.Call = 1
		s.Answers(answer)
		s.Add(s.CaseID, trace.Event{End: &trace.ModelEnd{Exchange: 1, Status: 200}})
		s.Call = 2
		s.Answers(answer)
		got := s.Result("always/one-model-call")
		require.Equal(t, want, got.Verdict, got.Message)
	}
}

func TestModelRequestsAreAttributedToRounds(t *testing.T) {
	first, second := tracetest.AskingForWeather(), tracetest.AskingForWeather().After(json.RawMessage(tracetest.TwoUses()),
		tracetest.WeatherResults)
	for name, c := range map[string]struct {
		tell func(*tracetest.Story)
		want [2]int // model requests of the two rounds
	}{
		"one each": {func(s *tracetest.Story) {
			s.Asks(first).Prompts(first).Answers(tracetest.TwoUses()).
				Asks(second).Prompts(second).Answers(tracetest.Saying("Mild."))
		}, [2]int{1, 1}},
		"a second try of each": {func(s *tracetest.Story) {
			s.Asks(first).Prompt("{}", trace.ModelEnd{Status: 500}).Prompts(first).Answers(tracetest.TwoUses())
			s.Asks(second).Prompt("{}", trace.ModelEnd{Status: 500}).Prompts(second).Answers(tracetest.Saying("Mild."))
		}, [2]int{2, 2}},
		"one more after the answer": {func(s *tracetest.Story) {
			s.Asks(first).Prompts(first).Answers(tracetest.TwoUses()).Prompts(first).
				Asks(second).Prompts(second).Answers(tracetest.Saying("Mild."))
		}, [2]int{2, 1}},
		"one before anything was asked": {func(s *tracetest.Story) {
			s.Prompts(first).Asks(first).Prompts(first).Answers(tracetest.TwoUses()).
				Asks(second).Prompts(second).Answers(tracetest.Saying("Mild."))
		}, [2]int{1, 1}},
	} {
		t.Run(name, func(t *testing.T) {
			for _, revision := range tracetest.BothEras {
				s := tracetest.Begin(t, catalogue, revision, dialect.Native, "parallel/two-cities")
				c.tell(s)
				ev := evidence.Decode(s.Trace).Case("parallel/two-cities")
				require.Len(t, ev.Rounds, 2)
				require.Equal(t, c.want, [2]int{len(ev.Rounds[0].Model), len(ev.Rounds[1].Model)})
			}
		})
	}
}

func TestAnIDOfAnotherTypeStillFindsItsRound(t *testing.T) {
	for name, c := range map[string]struct {
		sent, got   string
		known, same bool
	}{
		"a number":                     {"1001", "1001", true, true},
		"a number as a string":         {"1001", `"1001"`, true, false},
		"a number with an exponent":    {"1000", "1.0e3", true, true},
		"a number with a fraction":     {"1001", "1001.0", true, true},
		"another number":               {"1001", "1002", false, false},
		"part of a number":             {"1001", "1001.5", false, false},
		"a number beyond what is held": {"1001", "1e999999999", false, false},
		"a string":                     {`"a-b"`, `"a-b"`, true, true},
		"a string, written otherwise":  {`"a-b"`, `"\u0061-b"`, true, true},
		"another string":               {`"a-b"`, `"a-c"`, false, false},
		"null":                         {"1001", "null", false, false},
		"null for the empty string":    {`""`, "null", true, false},
		"nothing":                      {"1001", "", false, false},
	} {
		require.Equal(t, c.known, evidence.IDText(json.RawMessage(c.sent)) == evidence.IDText(json.RawMessage(c.got)), name)
		require.Equal(t, c.same, evidence.SameID(json.RawMessage(c.sent), json.RawMessage(c.got)), name)
	}
}

func TestSameNumberComparesValues(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"12", "12.0", true}, {"12", "1.2e1", true}, {"12", "13", false}, {"0", "-0", true},
		{"9007199254740993", "9007199254740992", false}, {"9007199254740993", "9007199254740993.0", true},
		{"1e999999999", "1e999999998", false}, {"12", `"12"`, false}, {`{"a":1,"b":[2]}`, `{"b":[2.0],"a":1}`, true},
		{`[1,2]`, `[2,1]`, false}, {"", "", false}, {"{", "{", false},
	} {
		require.Equal(t, c.want, jsonvalue.Same([]byte(c.a), []byte(c.b)), "%s and %s", c.a, c.b)
	}
}

func TestALongAnswerIsClipped(t *testing.T) {
	s := tracetest.Begin(t, catalogue, server.V20251125, dialect.Native, "basic/question")
	long := make([]byte, 5000)
	for i := range long {
		long[i] = 'x'
	}
	tracetest.AnswersWith(tracetest.Saying(string(long)))(s)
	for _, f := range s.Result("basic/stop-reason").Evidence {
		require.Less(t, len(f.Text), 1000)
	}
}
