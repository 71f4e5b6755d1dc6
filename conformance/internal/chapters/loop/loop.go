package loop

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
)

// The server runs the loop: it answers each tool use and asks again, with a history that grows, until the model has enough. Then the same with
// an end that the server sets, for as long as the client goes along, twice at once, and many requests at once without a loop. In 2026-07-28
// what is in flight together is several inputs of one result.
var Scenario = check.Scenario{
	ID:        "loop",
	Purpose:   "a tool loop of several rounds, alone and beside others",
	Revisions: check.WithTools,
	Cases: []harness.Case{
		{ID: "loop/three-cities", Handler: inTurn(threeCities.question, 4, nil), Script: threeCities.script, Barrier: true}, // to be refused at the client's own limit
		{ID: "loop/told-to-stop", Handler: inTurn(twoCities.question, 3, tellToStop), Script: eager, Barrier: true},
		{ID: "loop/sixty-four-rounds", Handler: inTurn("How is the weather everywhere?", mostRounds, nil), Script: tireless, Barrier: true},
		{ID: "loop/two-questions", Handler: afterEachOther, Script: forgetful},
		{ID: "loop/two-loops", Handler: sideBySide, Script: twoLoops, Barrier: true},
		{ID: "loop/sixteen-at-once", Handler: allAtOnce, Script: manyLockers, Barrier: true},
	},
	Checks: []check.Check{threeRounds, lastRoundNone, iterationLimit, stopsWithError, stateless, interleaved, concurrent},
}

// tour is a tool loop: the question, the city that the model asks for in each round, and what it says in the end.
type tour struct {
	question string
	cities   []string
	end      string
}

var (
	threeCities = tour{"Which of the three cities is the warmest?", []string{"Paris", "London", "Rome"}, "Rome is the warmest of them."}
	twoCities   = tour{"Which of the two cities is the colder one?", []string{"Paris", "London"}, "London is the colder one."}
	north       = tour{"Which harbour in the north is the windier one?", []string{"Oslo", "Bergen"}, "Bergen is the windier one."}
	south       = tour{"Which harbour in the south is the calmer one?", []string{"Naples", "Genoa"}, "Genoa is the calmer one."}
	lonely      = tour{"Will my sister need her umbrella?", []string{"Reykjavik"}, "She had better take it along."}
)

// weatherIn is what the tool says of each city.
var weatherIn = map[string]string{"Paris": "eighteen degrees", "London": "fifteen degrees", "Rome": "thirty degrees",
	"Oslo": "wind force four", "Bergen": "wind force nine", "Naples": "a light breeze", "Genoa": "a dead calm", "Reykjavik": "sleet and gusts"}

// words are those by which the tour is known, wherever they turn up.
func (t *tour) words() []string {
	words := []string{t.question, t.end}
	for _, city := range t.cities {
		words = append(words, city, weatherIn[city])
	}
	return words
}

// script is a model that asks for one city after the other, and then has enough.
func (t *tour) script(string) []*llm.Rule { return t.rules(llm.Any()) }

// rules are those of the tour's conversation.
func (t *tour) rules(conversation llm.Matcher) []*llm.Rule {
	var rules []*llm.Rule
	for i, city := range t.cities {
		rules = append(rules, llm.When(conversation, llm.Turn(i+1)).Reply(story.Calls([]string{city})...))
	}
	return append(rules, llm.When(conversation).Reply(llm.Text(t.end)))
}

// weatherReports answers each tool use with the weather in its city.
func weatherReports(uses []server.ToolUseContent) []server.ToolResultContent {
	results := make([]server.ToolResultContent, len(uses))
	for i, use := range uses {
		weather := "mild"
		if known, ok := weatherIn[cityIn(use.Input)]; ok {
			weather = known
		}
		results[i] = use.Result(server.Text(weather))
	}
	return results
}

// cityIn is the city that a tool use asks for; "" where it cannot be read.
func cityIn(input json.RawMessage) string {
	var asked struct{ City string }
	_ = json.Unmarshal(input, &asked)
	return asked.City
}

// inTurn is a loop of so many requests at most, the last of which is changed by a function; nil for one that is like the others. It ends
// before where an answer has no tool use.
func inTurn(question string, requests int, last func(*server.CreateMessageParams)) server.Handler {
	return func(s *server.Session) (any, error) {
		ask := s.Ask(question, story.GetWeather)
		for n := 1; ; n++ {
			if n == requests && last != nil {
				last(ask)
			}
			answer, err := s.Sample(ask)
			if err != nil || n == requests || len(server.ToolUses(answer)) == 0 {
				return answer, err
			}
			ask = ask.After(answer, weatherReports)
		}
	}
}

// tellToStop is how a server ends a loop (2025-11-25, client/sampling#multi-turn-tool-loop).
func tellToStop(ask *server.CreateMessageParams) {
	ask.ToolChoice = &server.ToolChoice{Mode: dialect.ChoiceNone}
}

// mostRounds is how far a client is followed before it counts as one without a limit.
const mostRounds = 64

// toolless matches a request in which the model may use no tool.
var toolless = llm.MatcherFunc(func(r *llm.Request) error {
	if r.ToolChoice == dialect.ChoiceNone || len(r.Tools) == 0 {
		return nil
	}
	return fmt.Errorf("the model may use %s", story.Names(r.Tools))
})

// eager is a model that goes on for as long as it may. Where it is not told to stop it does both: it says what it has to say, and goes on.
func eager(string) []*llm.Rule {
	return llm.Script(
		llm.When(llm.Turn(1)).Reply(story.Calls([]string{"Paris"})...),
		llm.When(llm.Turn(2)).Reply(story.Calls([]string{"London"})...),
		llm.When(toolless).Reply(llm.Text(twoCities.end)),
		llm.When().Reply(llm.Text(twoCities.end), story.Calls([]string{"Rome"})[0]),
	)
}

// tireless is a model that always has one more city, unless it is told to stop: a client may do that at its own limit.
func tireless(string) []*llm.Rule {
	return llm.Script(llm.When(toolless).Reply(llm.Text("That is all.")), llm.When().Reply(story.Calls([]string{"Anywhere"})...))
}

// afterEachOther is a loop, and then a question that has nothing to do with it.
func afterEachOther(s *server.Session) (any, error) {
	if answer, err := inTurn(lonely.question, 2, nil)(s); err != nil {
		return answer, err
	}
	return s.Sample(s.Ask("Name a colour."))
}

func forgetful(mark string) []*llm.Rule {
	return append(lonely.rules(conversation(mark, 1)), llm.When().Reply(llm.Text("Teal.")))
}

// loops are those that run side by side, in the order in which they begin.
var loops = []*tour{&north, &south}

// sideBySide runs both loops at once. Which comes first changes from round to round, so that it does not tell which is which.
func sideBySide(s *server.Session) (any, error) {
	var asks []any
	for _, t := range loops {
		asks = append(asks, s.Ask(t.question, story.GetWeather))
	}
	for round := 1; ; round++ {
		answers := s.SampleAll(asks...)
		for i, answer := range answers {
			if answer.Err != nil || round > len(north.cities) {
				return answer.Result, answer.Err
			}
			asks[i] = asks[i].(*server.CreateMessageParams).After(answer.Result, weatherReports)
		}
		slices.Reverse(asks)
	}
}

func twoLoops(mark string) []*llm.Rule {
	var rules []*llm.Rule
	for i, t := range loops {
		rules = append(rules, t.rules(conversation(mark, i+1))...)
	}
	return rules
}

// atOnce is how many requests are in flight together. Many clients have a limit of their own below it, which is their right.
const atOnce = 16

func lockerQuestion(n int) string { return fmt.Sprintf("What opens locker number %d?", n) }
func lockerAnswer(n int) string   { return fmt.Sprintf("It opens with the code %d.", 4096+37*n) }

// allAtOnce asks one question each in as many conversations.
func allAtOnce(s *server.Session) (any, error) {
	asks := make([]any, atOnce)
	for i := range asks {
		asks[i] = s.Ask(lockerQuestion(i + 1))
	}
	for _, answer := range s.SampleAll(asks...) {
		if answer.Err != nil {
			return nil, answer.Err
		}
	}
	return "done", nil
}

func manyLockers(mark string) []*llm.Rule {
	var rules []*llm.Rule
	for n := range atOnce {
		rules = append(rules, llm.When(conversation(mark, n+1)).Reply(llm.Text(lockerAnswer(n+1))))
	}
	return rules
}

// conversation matches the requests of the n-th conversation of the case with the mark, as [server.Session.Ask] numbers them.
func conversation(mark string, n int) llm.Matcher {
	name := conversationName(mark, n)
	return llm.MatcherFunc(func(r *llm.Request) error {
		if !slices.Contains(evidence.Conversations(r.Body, mark), name) {
			return fmt.Errorf("the conversations in it are %s, want %s", strings.Join(evidence.Conversations(r.Body, mark), ", "), name)
		}
		return nil
	})
}

// conversationName is the word by which a conversation of a case is known.
func conversationName(mark string, n int) string { return fmt.Sprintf("%sn%d", mark, n) }
