package basic

import (
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/report"
)

// Models of several providers by name, small ones and large ones, so that a client of any provider may know one of each; and parts of the
// small ones' names.
var (
	smallModels = []string{"gpt-4o-mini", "claude-3-5-haiku", "gemini-2.0-flash", "llama3.2:1b"}
	largeModels = []string{"gpt-4.1", "claude-opus-4", "gemini-2.5-pro", "llama3.3"}
	nameParts   = []string{"4o-mini", "haiku", "2.0-flash", "3.2:1b"}
)

// The rounds of the case, by what they prefer.
const (
	roundNothing = iota
	roundSmall
	roundLarge
	roundSmallFirst
	roundLargeFirst
	roundNumbers
	roundSmallAndNumbers
	roundParts
	hintRounds
)

// cleverest are numbers that ask for the opposite of a small model.
var cleverest = story.Object{"intelligencePriority": 1, "costPriority": 0, "speedPriority": 0}

// preferred is what each round prefers.
var preferred = [hintRounds]story.Object{
	roundSmall:           hints(nil, smallModels),
	roundLarge:           hints(nil, largeModels),
	roundSmallFirst:      hints(nil, smallModels, largeModels),
	roundLargeFirst:      hints(nil, largeModels, smallModels),
	roundNumbers:         cleverest,
	roundSmallAndNumbers: hints(cleverest, smallModels),
	roundParts:           hints(nil, nameParts),
}

// hints are preferences with the names as hints, beside others.
func hints(beside story.Object, names ...[]string) story.Object {
	list := []any{}
	for _, name := range slices.Concat(names...) {
		list = append(list, story.Object{"name": name})
	}
	all := story.Object{"hints": list}
	for name, value := range beside {
		all[name] = value
	}
	return all
}

// hinted asks the same over and over, with other preferences each time. Which models the client has nobody knows: what it makes of one
// round is held against what it makes of another.
var hinted = harness.Case{
	ID: "basic/hints",
	Handler: func(s *server.Session) (any, error) {
		for _, preferences := range preferred {
			ask := s.Ask("Which model are you?")
			if preferences != nil {
				ask.ModelPreferences = preferences
			}
			if _, err := s.Sample(ask); err != nil {
				return nil, err
			}
		}
		return "done", nil
	},
	Script: story.Says("A scripted one."),
}

// modelsAsked are the models that were asked in the rounds, or the verdict for one that was not.
func modelsAsked(e *evidence.Case) (models [hintRounds]string, missing *check.Verdict) {
	for i := range models {
		x, missing := check.ModelRequest(e.Rounds[i])
		if missing != nil {
			return models, missing
		}
		models[i] = x.Request.Model
	}
	return models, nil
}

// sawModels shows which models were asked in some of the rounds.
func sawModels(v check.Verdict, e *evidence.Case, models [hintRounds]string, rounds ...int) check.Verdict {
	for _, i := range rounds {
		v = v.ShowAs("server sent", e.Rounds[i].Asked.At("modelPreferences"), "%s", evidence.Compact(story.JSON(preferred[i]))).
			ShowAs("model asked", e.Rounds[i].LastExchange().Place, "%q", models[i])
	}
	return v
}

var hintRule = []string{"2025-03-26/schema/ModelPreferences", "2025-06-18/schema/ModelPreferences", "2025-11-25/schema/04", "2026-07-28/schema/04"}

var hintsRespected = check.Check{
	ID: "hints-respected", Rule: "hints have a say in which model is asked", Levels: check.Everywhere(report.Should), Requests: hintRounds, Cases: []string{"hints"},
	Statements: []string{"2025-03-26/sampling/security", "2025-06-18/sampling/security", "2025-11-25/sampling/16", "2026-07-28/sampling/23"},
	Cause:      "modelPreferences are not read, or the client has one model only",
	Fix:        "choose the first model whose name holds a hint, or one like it of the client's own; with one model only there is nothing to mend",
	Judge: func(e *evidence.Case) check.Verdict {
		models, missing := modelsAsked(e)
		if missing != nil {
			return *missing
		}
		if models[roundSmall] == models[roundNothing] && models[roundLarge] == models[roundNothing] {
			return sawModels(check.Fail("the model that is asked is the same whatever is hinted at"), e, models, roundNothing, roundSmall, roundLarge)
		}
		return sawModels(check.Pass("hints change which model is asked"), e, models, roundSmall, roundLarge)
	},
}

var hintsInOrder = check.Check{
	ID: "hints-in-order", Rule: "where hints have a say, the first that matches decides", Levels: check.Everywhere(report.Must), Requests: hintRounds, Cases: []string{"hints"},
	Statements: hintRule,
	Cause:      "the client goes through its own models, and takes the first that fits any hint, or lets a later hint win",
	Fix:        "go through the hints in order, and take the first that fits one of the client's models",
	Judge: func(e *evidence.Case) check.Verdict {
		models, missing := modelsAsked(e)
		if missing != nil {
			return *missing
		}
		none, small, large := models[roundNothing], models[roundSmall], models[roundLarge]
		if small == none || large == none || small == large {
			return check.NotApplicable("it takes two hints that each change which model is asked to see which of them comes first")
		}
		for round, want := range map[int][2]string{roundSmallFirst: {small, large}, roundLargeFirst: {large, small}} {
			if models[round] == want[1] {
				return sawModels(check.Fail("a later hint decided which model is asked, where an earlier one matches"), e, models, roundSmall, roundLarge, round)
			}
		}
		if models[roundSmallFirst] != small || models[roundLargeFirst] != large {
			return sawModels(check.Warn("the hints of two rounds, put together, lead to a model of neither"), e, models, roundSmall, roundLarge, roundSmallFirst, roundLargeFirst)
		}
		return sawModels(check.Pass("the first hint that matches decides"), e, models, roundSmallFirst, roundLargeFirst)
	},
}

var hintSubstring = check.Check{
	ID: "hint-substring", Rule: "a hint that is part of a model's name matches it", Levels: check.Everywhere(report.Should), Requests: hintRounds, Cases: []string{"hints"},
	Statements: []string{"2025-03-26/schema/ModelHint", "2025-06-18/schema/ModelHint", "2025-11-25/schema/05", "2026-07-28/schema/05"},
	Cause:      "hints are looked up as whole names",
	Fix:        "match a hint against any part of a model's name",
	Judge: func(e *evidence.Case) check.Verdict {
		models, missing := modelsAsked(e)
		if missing != nil {
			return *missing
		}
		small, parts := models[roundSmall], models[roundParts]
		i := slices.IndexFunc(smallModels, func(name string) bool { return strings.Contains(small, name) })
		switch {
		case small == models[roundNothing] || i < 0:
			return check.NotApplicable("the client asks none of the models that are hinted at by their names")
		case parts != small && !slices.ContainsFunc(nameParts, func(part string) bool { return strings.Contains(parts, part) }):
			return sawModels(check.Fail("%q, as part of the name %q, did not match it", nameParts[i], small), e, models, roundSmall, roundParts)
		}
		return sawModels(check.Pass("a part of a model's name matches it"), e, models, roundParts)
	},
}

var hintsOverNumbers = check.Check{
	ID: "hints-over-numbers", Rule: "hints count for more than priorities in numbers", Levels: check.Everywhere(report.Should), Requests: hintRounds, Cases: []string{"hints"},
	Statements: []string{"2025-03-26/schema/ModelPreferences", "2025-06-18/schema/ModelPreferences", "2025-11-25/schema/06", "2026-07-28/schema/06"},
	Cause:      "models are scored by the numbers, and hints are looked at when two score the same",
	Fix:        "narrow the models down by the hints first, and let the numbers decide among what is left",
	Judge: func(e *evidence.Case) check.Verdict {
		models, missing := modelsAsked(e)
		if missing != nil {
			return *missing
		}
		small, numbers, both := models[roundSmall], models[roundNumbers], models[roundSmallAndNumbers]
		// Numbers may choose among several models that a hint fits.
		fits := func(model string) bool {
			return model == small || slices.ContainsFunc(smallModels, func(name string) bool { return strings.Contains(model, name) })
		}
		switch {
		case small == models[roundNothing]:
			return check.NotApplicable("the hint alone changes nothing")
		case numbers == models[roundNothing]:
			return check.NotApplicable("the numbers alone change nothing")
		case both == numbers && !fits(both):
			return sawModels(check.Fail("the numbers decided which model is asked, against a hint"), e, models, roundSmall, roundNumbers, roundSmallAndNumbers)
		}
		return sawModels(check.Pass("the hint decides, whatever the numbers say"), e, models, roundSmallAndNumbers)
	},
}
