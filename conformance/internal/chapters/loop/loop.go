// Package loop judges tool loops of several rounds, alone and beside others. The server runs the loop: it answers each
// tool use and asks again, with a history that grows, until the model has enough. Further stories: a loop that the
// server ends, one that goes on as long as the client continues, two loops at once, and many requests at once without
// a loop. In 2026-07-28, requests that are in flight together are input requests of one result.
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
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
)

// Scenario holds the cases and checks of this chapter.
var Scenario = check.Scenario{
	ID:        "loop",
	Purpose:   "a tool loop of several rounds, alone and beside others",
	Revisions: check.WithTools,
	Cases:     []harness.Case{growing, ended, endless, afterEachOther, sideBySide, allAtOnce},
	Checks: []check.Check{
		threeRounds, lastRoundNone, iterationLimit, stopsWithError, Stateless, interleaved, concurrent,
	},
}

// tour is a tool loop: the question, the city that the model asks for in each round, and its final text.
type tour struct {
	Question string
	Cities   []string
	End      string
}

// weatherIn is the tool's result for each city. No two tours share a city.
var weatherIn = map[string]string{
	"Paris": "eighteen degrees", "London": "fifteen degrees", "Rome": "thirty degrees",
	"Oslo": "wind force four", "Bergen": "wind force nine",
	"Naples": "a light breeze", "Genoa": "a dead calm", "Reykjavik": "sleet and gusts",
}

// words returns the texts that identify the tour.
func (t tour) words() []string {
	words := []string{t.Question, t.End}
	for _, city := range t.Cities {
		words = append(words, city, weatherIn[city])
	}
	return words
}

// script is a model that asks for one city after the other, and then says the final text.
func (t tour) script(mark string) []*llm.Rule { return t.rules(mark) }

// rules are the script for one conversation. The model says something beside its second tool use.
func (t tour) rules(mark string, conversation ...llm.Matcher) []*llm.Rule {
	var rules []*llm.Rule
	for i, city := range t.Cities {
		said := story.Calls([]string{city})
		if i == 1 {
			said = slices.Insert(said, 0, llm.Text("One moment, please. \n"))
		}
		rules = append(rules, llm.When(append(slices.Clone(conversation), story.Turn(mark, i+1))...).Reply(said...))
	}
	return append(rules, llm.When(conversation...).Reply(llm.Text(t.End)))
}

// inTurn is a loop of at most so many requests. It ends earlier if an answer has no tool use. Choices are the modes of
// the tool choice by request; a request that is not among them has no tool choice.
func inTurn(question string, requests int, choices map[int]string) server.Handler {
	return func(s *server.Session) (any, error) {
		ask := s.Ask(question, story.GetWeather)
		for n := 1; ; n++ {
			ask.ToolChoice = nil
			if mode := choices[n]; mode != "" {
				ask.ToolChoice = &server.ToolChoice{Mode: mode}
			}
			answer, err := s.Sample(ask)
			if err != nil || n == requests || len(server.ToolUses(answer)) == 0 {
				return answer, err
			}
			ask = ask.After(answer, WeatherReports)
		}
	}
}

// WeatherReports answers each tool use with the weather in its city.
func WeatherReports(uses []server.ToolUseContent) []server.ToolResultContent {
	results := make([]server.ToolResultContent, len(uses))
	for i, use := range uses {
		weather, known := weatherIn[cityIn(use.Input)]
		if !known {
			weather = "mild"
		}
		results[i] = use.Result(server.Text(weather))
	}
	return results
}

// cityIn returns the city in the arguments of a tool use; "" for arguments that cannot be decoded.
func cityIn(input json.RawMessage) string {
	var args struct{ City string }
	_ = json.Unmarshal(input, &args)
	return args.City
}

// conversation matches the model requests of the nth conversation of the case with the mark, as [server.Session.Ask]
// numbers them.
func conversation(mark string, n int) llm.Matcher {
	name := ConversationName(mark, n)
	return llm.MatcherFunc(func(r *llm.Request) error {
		if found := evidence.Conversations(r.Body, mark); !slices.Contains(found, name) {
			return fmt.Errorf("expected conversation %s, found %s", name, strings.Join(found, ", "))
		}
		return nil
	})
}

// ConversationName is the word that identifies a conversation of a case.
func ConversationName(mark string, n int) string { return fmt.Sprintf("%sn%d", mark, n) }
