package conformance

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

func TestAToolThatIsCalledTwicePlaysTwice(t *testing.T) {
	twice := func(s *story) {
		right(s)
		s.calls()
		right(s)
	}
	again := func(wrong string) func(*story) {
		return func(s *story) {
			right(s)
			s.calls()
			answersWith(wrong)(s)
		}
	}
	hold(t, catalogue, []telling{
		{name: "each call has its own model call", check: "basic/one-model-call", caseID: "question", tell: twice,
			verdict: report.Pass, message: "each request cost one model call"},
		{name: "each request has its own answer", check: "basic/answered", caseID: "question", tell: twice,
			verdict: report.Pass, message: "every sampling request was answered with a result"},
		{name: "the first call is judged", check: "basic/text-intact", caseID: "question", tell: again(saying("something else")),
			verdict: report.Pass, message: "the text came through unchanged"},
		{name: "also where the first one was not answered", check: "basic/answered", caseID: "question", verdict: report.Fail,
			message: "the client did not answer a sampling request with a result: no answer came for request 1",
			tell: func(s *story) {
				s.asks(asking(question))
				s.calls()
				right(s)
			}},
		{name: "the first in which something was asked", check: "basic/text-intact", caseID: "question", verdict: report.Pass, message: "the text came through unchanged",
			tell: func(s *story) {
				s.marks(trace.MarkWithheld, "sampling")
				s.calls()
				right(s)
			}},
	})
}

// Both calls ask before either is answered, and the model's wire does not say which request is whose.
func TestTwoCallsAtOnceHaveTheirOwnModelRequests(t *testing.T) {
	for _, revision := range bothEras {
		s := begin(t, catalogue, revision, dialect.Native, "basic/question")
		s.asks(asking(question))
		s.calls()
		s.asks(asking(question))
		s.prompts(asking(question)).prompts(asking(question))
		s.answers(saying(answer)) // of the second
		s.call, s.asked = 1, 1    // and of the first
		s.answers(saying(answer))
		got := s.result("basic/one-model-call")
		require.Equal(t, report.Pass, got.Verdict, got.Message)
		require.Equal(t, report.Pass, s.result("basic/prompt-reaches-model").Verdict)
	}
}

func TestAModelRequestBelongsToTheRoundThatItIsMadeFor(t *testing.T) {
	first, second := askingForWeather(), askingForWeather().After(json.RawMessage(twoUses()), weatherResults)
	for name, c := range map[string]struct {
		tell func(*story)
		want [2]int // model requests of the two rounds
	}{
		"one each": {func(s *story) {
			s.asks(first).prompts(first).answers(twoUses()).asks(second).prompts(second).answers(saying("Mild."))
		}, [2]int{1, 1}},
		"a second try of each": {func(s *story) {
			s.asks(first).prompt("{}", trace.ModelEnd{Status: 500}).prompts(first).answers(twoUses())
			s.asks(second).prompt("{}", trace.ModelEnd{Status: 500}).prompts(second).answers(saying("Mild."))
		}, [2]int{2, 2}},
		"one more after the answer": {func(s *story) {
			s.asks(first).prompts(first).answers(twoUses()).prompts(first).asks(second).prompts(second).answers(saying("Mild."))
		}, [2]int{2, 1}},
		"one before anything was asked": {func(s *story) {
			s.prompts(first).asks(first).prompts(first).answers(twoUses()).asks(second).prompts(second).answers(saying("Mild."))
		}, [2]int{1, 1}},
	} {
		t.Run(name, func(t *testing.T) {
			for _, revision := range bothEras {
				s := begin(t, catalogue, revision, dialect.Native, "parallel/two-cities")
				c.tell(s)
				ev := Decode(s.trace).Case("parallel/two-cities")
				require.Len(t, ev.Rounds, 2)
				require.Equal(t, c.want, [2]int{len(ev.Rounds[0].Model), len(ev.Rounds[1].Model)})
			}
		})
	}
}

func TestIDsAreKnownLooselyAndHeldExactly(t *testing.T) {
	for name, c := range map[string]struct {
		sent, got   string
		known, same bool
	}{
		"a number":                     {"1001", "1001", true, true},
		"a number as a string":         {"1001", `"1001"`, true, false},
		"a number with an exponent":    {"1000", "1.0e3", true, false},
		"a number with a fraction":     {"1001", "1001.0", true, false},
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
		require.Equal(t, c.known, idText(json.RawMessage(c.sent)) == idText(json.RawMessage(c.got)), name)
		require.Equal(t, c.same, sameID(json.RawMessage(c.sent), json.RawMessage(c.got)), name)
	}
}

func TestNumbersAreTheSameByTheirValue(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"12", "12.0", true}, {"12", "1.2e1", true}, {"12", "13", false}, {"0", "-0", true},
		{"9007199254740993", "9007199254740992", false}, {"9007199254740993", "9007199254740993.0", true},
		{"1e999999999", "1e999999998", false}, {"12", `"12"`, false}, {`{"a":1,"b":[2]}`, `{"b":[2.0],"a":1}`, true},
		{`[1,2]`, `[2,1]`, false}, {"", "", false}, {"{", "{", false},
	} {
		require.Equal(t, c.want, sameJSON([]byte(c.a), []byte(c.b)), "%s and %s", c.a, c.b)
	}
}

func TestALongAnswerIsClippedInAReport(t *testing.T) {
	s := begin(t, catalogue, server.V20251125, dialect.Native, "basic/question")
	long := make([]byte, 5000)
	for i := range long {
		long[i] = 'x'
	}
	answersWith(saying(string(long)))(s)
	for _, f := range s.result("basic/text-intact").Evidence {
		require.Less(t, len(f.Text), 1000)
	}
}
