package basic

import (
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/internal/dialects"
)

// Names of small and large models of all providers, so that a client of any provider may know one of each; and parts of
// the small ones' names.
var (
	smallModels = named(func(f *dialect.Facts) string { return f.SmallModel })
	largeModels = named(func(f *dialect.Facts) string { return f.LargeModel })
	nameParts   = named(func(f *dialect.Facts) string { return f.SmallPart })
)

func named(of func(*dialect.Facts) string) (names []string) {
	for _, d := range dialects.APIs() {
		facts := dialects.FactsOf(d)
		if name := of(&facts); name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// The rounds of the case, by the preferences of the sampling request.
const (
	RoundNothing = iota
	roundSmall
	roundLarge
	RoundSmallFirst
	RoundLargeFirst
	RoundNumbers
	RoundSmallAndNumbers
	RoundParts
	HintRounds
)

// cleverest are priorities for the opposite of a small model.
var cleverest = story.Object{"intelligencePriority": 1, "costPriority": 0, "speedPriority": 0}

// Preferred is exported for the tests, which are in a package of their own.
var Preferred = [HintRounds]story.Object{
	roundSmall:           hints(nil, smallModels),
	roundLarge:           hints(nil, largeModels),
	RoundSmallFirst:      hints(nil, smallModels, largeModels),
	RoundLargeFirst:      hints(nil, largeModels, smallModels),
	RoundNumbers:         cleverest,
	RoundSmallAndNumbers: hints(cleverest, smallModels),
	RoundParts:           hints(nil, nameParts),
}

// hints returns preferences with the names as hints, and with the priorities.
func hints(priorities story.Object, names ...[]string) story.Object {
	list := []any{}
	for _, name := range slices.Concat(names...) {
		list = append(list, story.Object{"name": name})
	}
	all := story.Object{"hints": list}
	for name, value := range priorities {
		all[name] = value
	}
	return all
}

// The server asks the same question with different preferences. Nobody knows which models the client has, so the checks
// compare the rounds with each other.
var hinted = harness.Case{
	ID: "basic/hints",
	Handler: func(s *server.Session) (any, error) {
		for _, preferences := range Preferred {
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

// everyRoundHasModel needs a model request in each round.
var everyRoundHasModel = func() (needs []check.Need) {
	for i := range HintRounds {
		needs = append(needs, check.ModelReadsRequest(i+1))
	}
	return needs
}()

// modelsCalled returns the names of the models that the client called, by round.
func modelsCalled(e *evidence.Case) (models [HintRounds]string) {
	for i := range models {
		models[i] = e.Rounds[i].LastExchange().Request.Model
	}
	return models
}

// showRounds shows the preferences and the called model of some rounds.
func showRounds(v check.Verdict, e *evidence.Case, rounds ...int) check.Verdict {
	models := modelsCalled(e)
	for _, i := range rounds {
		r := e.Rounds[i]
		v = v.ShowAs("server sent", r.Asked.At("modelPreferences"), "%s", evidence.Compact(story.JSON(Preferred[i]))).
			ShowAs("model called", r.LastExchange().Place, "%q", models[i])
	}
	return v
}

var hintsRespected = check.Check{
	ID: "hints-respected", Cases: []string{"hints"},
	Rule:   "Model hints SHOULD influence which model is called",
	Levels: check.Advice, Requests: HintRounds, Needs: everyRoundHasModel,
	Statements: []string{"sampling/23"},
	Cause:      "the client does not read modelPreferences, or has only one model",
	Fix: "Call the first model whose name contains a hint, or an equivalent model of your own. " +
		"Declare one-model if the client has only one.",
	Judge: func(e *evidence.Case) check.Verdict {
		models := modelsCalled(e)
		if own := models[RoundNothing]; models[roundSmall] == own && models[roundLarge] == own {
			if e.Session.Supports[harness.OneModel] {
				return check.NotApplicable("the client announces that it has one model: %q", own)
			}
			return showRounds(check.Fail("expected hints to change the called model, found %q with and without hints: "+
				"respect them or, if it has one model, %s", own, check.HowToDeclare(e.Session, harness.OneModel)),
				e, RoundNothing, roundSmall,
				roundLarge)
		}
		return showRounds(check.Pass("hints change which model is called"), e, roundSmall, roundLarge)
	},
}

// preferencesRule is the comment on all preferences, before each field had its own.
var preferencesRule = []string{"schema/ModelPreferences"}

var hintsInOrder = check.Check{
	ID: "hints-in-order", Cases: []string{"hints"},
	Rule:   "If the client uses hints, the first matching hint MUST win",
	Levels: check.Must, Requests: HintRounds, Needs: everyRoundHasModel,
	Statements: append(preferencesRule, "schema/04"),
	Cause:      "the client takes the first of its own models that matches any hint, or a later hint wins",
	Fix:        "Loop over the hints in order, and take the first that matches one of the client's models.",
	Judge: func(e *evidence.Case) check.Verdict {
		models := modelsCalled(e)
		own, small, large := models[RoundNothing], models[roundSmall], models[roundLarge]
		if small == own || large == own || small == large {
			return check.NotApplicable("the order of hints shows only where two hints each change the called model")
		}
		for _, two := range []struct {
			round       int
			first, last string
		}{{RoundSmallFirst, small, large}, {RoundLargeFirst, large, small}} {
			if models[two.round] == two.last {
				v := check.Fail("expected %q, by the first hint, found %q, by a later one", two.first, two.last)
				return showRounds(v, e, roundSmall, roundLarge, two.round)
			}
		}
		if models[RoundSmallFirst] != small || models[RoundLargeFirst] != large {
			return showRounds(check.Warn("expected the model of one of two hints, found a third model"),
				e, roundSmall, roundLarge, RoundSmallFirst, RoundLargeFirst)
		}
		return showRounds(check.Pass("the first matching hint wins"), e, RoundSmallFirst, RoundLargeFirst)
	},
}

var hintSubstring = check.Check{
	ID: "hint-substring", Cases: []string{"hints"},
	Rule:   "A hint that is part of a model's name SHOULD match it",
	Levels: check.Should, Requests: HintRounds, Needs: everyRoundHasModel,
	Statements: []string{"schema/05"},
	Cause:      "the client looks hints up as complete names",
	Fix:        "Match a hint against any part of a model's name.",
	Judge: func(e *evidence.Case) check.Verdict {
		models := modelsCalled(e)
		small, parts := models[roundSmall], models[RoundParts]
		i := nameIn(small, smallModels)
		switch {
		case small == models[RoundNothing] || i < 0:
			return check.NotApplicable("the client calls none of the models that the hints name")
		case parts != small && nameIn(parts, nameParts) < 0:
			return showRounds(check.Fail("expected the hint %q to match %q, found %q called", nameParts[i], small, parts),
				e, roundSmall, RoundParts)
		}
		return showRounds(check.Pass("a part of a model's name matches it"), e, RoundParts)
	},
}

// nameIn returns the index of the first of the names that the model's name contains; -1 for none.
func nameIn(model string, names []string) int {
	return slices.IndexFunc(names, func(name string) bool { return strings.Contains(model, name) })
}

var hintsOverNumbers = check.Check{
	ID: "hints-over-numbers", Cases: []string{"hints"},
	Rule:   "Hints SHOULD take precedence over numeric priorities",
	Levels: check.Should, Requests: HintRounds, Needs: everyRoundHasModel,
	Statements: append(preferencesRule, "schema/06"),
	Cause:      "the client scores models by the numbers, and uses hints only for a tie",
	Fix:        "Filter the models by the hints first. Let the numbers choose among the rest.",
	Judge: func(e *evidence.Case) check.Verdict {
		models := modelsCalled(e)
		own, small := models[RoundNothing], models[roundSmall]
		numbers, both := models[RoundNumbers], models[RoundSmallAndNumbers]
		switch {
		case small == own:
			return check.NotApplicable("the hint alone changes nothing")
		case numbers == own:
			return check.NotApplicable("the numbers alone change nothing")
		case both == numbers && both != small && nameIn(both, smallModels) < 0: // several models may match the hint
			return showRounds(check.Fail("expected a model that matches the hint, found %q, by the numbers", both),
				e, roundSmall, RoundNumbers, RoundSmallAndNumbers)
		}
		return showRounds(check.Pass("the hint takes precedence over the numbers"), e, RoundSmallAndNumbers)
	},
}
