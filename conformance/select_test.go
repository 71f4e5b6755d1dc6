package conformance

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/conformance/internal/always"
	"github.com/mcp-conform/mcp-conform/conformance/internal/chapters/explore"
	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/baseline"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/replaced"
)

// chosen returns the cases that a selection plays in a revision, and the checks that it judges, without those of every
// case.
func chosen(t *testing.T, revision server.Revision, only, skip []string) (cases, checks []string) {
	t.Helper()
	s, err := newSelection(only, skip, nil)
	require.NoError(t, err)
	for _, c := range s.cases(revision) {
		cases = append(cases, c.ID)
	}
	for _, scenario := range catalogue() {
		for _, check := range scenario.Checks {
			if !scenario.EveryCase && s.check(&scenario, &check) {
				checks = append(checks, scenario.ID+"/"+check.ID)
			}
		}
	}
	return cases, checks
}

// scenariosBut returns all scenarios but one.
func scenariosBut(id string) (others []string) {
	for _, s := range catalogue() {
		if s.ID != id {
			others = append(others, s.ID)
		}
	}
	return others
}

func TestASelectionChoosesCasesAndChecks(t *testing.T) {
	var everyCase, everyCheck, basicChecks []string
	for _, s := range catalogue() {
		for _, c := range s.Cases {
			if slices.Contains(s.Revisions, server.V20251125) &&
				(c.Revisions == nil || slices.Contains(c.Revisions, server.V20251125)) {
				everyCase = append(everyCase, c.ID)
			}
		}
		for _, c := range s.Checks {
			if !s.EveryCase {
				everyCheck = append(everyCheck, s.ID+"/"+c.ID)
			}
			if s.ID == "basic" {
				basicChecks = append(basicChecks, s.ID+"/"+c.ID)
			}
		}
	}
	for name, c := range map[string]struct {
		only, skip    []string
		cases, checks []string
	}{
		"nothing said":         {nil, nil, everyCase, everyCheck},
		"everything":           {[]string{"*"}, nil, everyCase, everyCheck},
		"a scenario":           {[]string{"basic"}, nil, everyCaseOf("basic"), basicChecks},
		"a scenario by a glob": {[]string{"bas*"}, nil, everyCaseOf("basic"), basicChecks},
		"all of a scenario":    {[]string{"basic/*"}, nil, everyCaseOf("basic"), basicChecks},
		"a check": {[]string{"parallel/results-reach-model"}, nil, []string{"parallel/two-cities"},
			[]string{"parallel/results-reach-model"}},
		"a check of two cases": {[]string{"declare/over-declared"}, nil,
			[]string{"declare/sampling", "declare/tools"}, []string{"declare/over-declared"}},
		"checks by a glob": {[]string{"parallel/results-*"}, nil,
			[]string{"parallel/two-cities"}, []string{"parallel/results-reach-model"}},
		"a case": {[]string{"tool-use/says-stop"}, nil, []string{"tool-use/says-stop"},
			[]string{"tool-use/stop-beside-calls"}},
		"cases by a glob": {[]string{"parallel/late*"}, nil, []string{"parallel/late-fragment"},
			[]string{"parallel/late-delta"}},
		"a case and a check": {[]string{"parallel/late-fragment", "declare/over-declared"}, nil,
			[]string{"declare/sampling", "declare/tools", "parallel/late-fragment"},
			[]string{"declare/over-declared", "parallel/late-delta"}},
		"all but scenarios": {nil, scenariosBut("tool-use"), everyCaseOf("tool-use"), everyCheckOf("tool-use")},
		"a scenario less checks": {[]string{"parallel"},
			[]string{"parallel/*result*", "parallel/*delta", "parallel/late*", "parallel/[it]*ed", "parallel/re*-*",
				"parallel/failing*", "parallel/thirty*", "parallel/alike", "parallel/after-*"},
			[]string{"parallel/two-cities"}, []string{"parallel/streamed-uses"}},
		"all but a case": {[]string{"tool-use", "parallel"}, []string{"parallel/*"}, everyCaseOf("tool-use"),
			everyCheckOf("tool-use")},
		"a case that shows several": {[]string{"basic/truncated"}, []string{"basic/[b-r]*"},
			[]string{"basic/truncated"},
			[]string{"basic/answered", "basic/stop-reason"}},
		"a case for the rules alone": {[]string{"basic/failing"}, nil, []string{"basic/failing"}, nil},
		"nothing left":               {[]string{"basic"}, []string{"*"}, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			cases, checks := chosen(t, server.V20251125, c.only, c.skip)
			require.Equal(t, c.cases, cases)
			require.Equal(t, c.checks, checks)
		})
	}
}

func TestARunJudgesTheRulesOfEveryCaseUnlessItSkipsThem(t *testing.T) {
	everyCase, _ := chosen(t, server.V20251125, nil, nil)
	for name, c := range map[string]struct {
		only, skip []string
		judged     bool
		cases      []string
	}{
		"a case":                {[]string{"basic/question"}, nil, true, []string{"basic/question"}},
		"a rule of every case":  {[]string{"always/valid-message"}, nil, true, everyCase},
		"every rule":            {[]string{"always"}, nil, true, everyCase},
		"a case without a rule": {[]string{"basic/question"}, []string{"always/valid*"}, false, []string{"basic/question"}},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := newSelection(c.only, c.skip, nil)
			require.NoError(t, err)
			require.Equal(t, c.judged, s.check(&always.Scenario, &always.Scenario.Checks[0]))
			cases, _ := chosen(t, server.V20251125, c.only, c.skip)
			require.Equal(t, c.cases, cases)
		})
	}
}

func everyCaseOf(scenario string) []string {
	var ids []string
	for _, s := range catalogue() {
		if s.ID == scenario {
			for _, c := range s.Cases {
				ids = append(ids, c.ID)
			}
		}
	}
	return ids
}

func everyCheckOf(scenario string) []string {
	var ids []string
	for _, s := range catalogue() {
		for _, c := range s.Checks {
			if s.ID == scenario {
				ids = append(ids, s.ID+"/"+c.ID)
			}
		}
	}
	return ids
}

func TestARevisionPlaysItsOwnCases(t *testing.T) {
	for _, revision := range []server.Revision{server.V20250326, server.V20250618} {
		cases, _ := chosen(t, revision, nil, nil)
		require.Equal(t, []string{"declare/sampling", "declare/undeclared-sampling", "basic/question", "basic/truncated",
			"basic/empty", "basic/failing", "basic/ids",
			"basic/long", "basic/tuned", "basic/hints", "basic/turns", "basic/asked-again", "basic/assistant-first",
			"basic/assistant-last", "basic/image", "basic/audio", "basic/image-later", "basic/audio-later", "basic/extras",
			"basic/context", "basic/thinking"}, cases[:21],
			"the revision has no tools and no arrays")
		var scenarios []string
		for _, id := range cases {
			scenario, _, _ := strings.Cut(id, "/")
			scenarios = append(scenarios, scenario)
		}
		require.Equal(t, []string{"declare", "basic", "malformed", "cancel", "provider-errors", "consent", "transport"},
			slices.Compact(scenarios))
	}
	cases, _ := chosen(t, server.V20260728, []string{"cancel/stops-work"}, nil)
	require.Empty(t, cases, "the check has no level in the revision")
	cases, _ = chosen(t, server.V20260728, nil, nil)
	require.NotContains(t, cases, "basic/ids", "the revision has no requests of the server")
}

func TestOnlyTheSelectionIsJudged(t *testing.T) {
	s := tracetest.Begin(t, catalogue(), server.V20251125, dialect.Native, "basic/question")
	tracetest.Right(s)
	selected, err := newSelection([]string{"basic/a*", "basic/stop-*"}, []string{"basic/stop-reason", "always/[a-u]*",
		"always/valid-m*"}, nil)
	require.NoError(t, err)
	rs, err := judgeSelected([]*trace.Trace{s.Ends(trace.Process{}).Trace}, selected)
	require.NoError(t, err)
	var ids []string
	for _, r := range rs.Results {
		ids = append(ids, r.ID())
	}
	require.Equal(t, []string{"client/connects", "client/sampled", "client/ends-cleanly", "always/valid-result",
		"basic/answered"}, ids,
		"every run judges the client as a whole")
}

func TestAnEmptySelectionSuggestsNames(t *testing.T) {
	for name, c := range map[string]struct {
		only, skip []string
		want       string
	}{
		"a typing error": {[]string{"paralel"}, nil,
			`"paralel" matches no scenario, case or check; did you mean parallel?`},
		"a check's typing error": {[]string{"parallel/streamd-uses"}, nil,
			`"parallel/streamd-uses" matches no scenario, case or check; did you mean parallel/streamed-uses, ` +
				`parallel/repeated-names?`},
		"a check alone": {[]string{"late-delta"}, nil,
			`"late-delta" matches no scenario, case or check; did you mean parallel/late-delta?`},
		"nothing like it": {[]string{"zzzzzzzz"}, nil, `"zzzzzzzz" matches no scenario, case or check`},
		"a glob of nothing": {[]string{"basic/z*"}, nil,
			`"basic/z*" matches no scenario, case or check; did you mean basic, basic/ids?`},
		"one of several": {[]string{"basic", "bsaic"}, nil,
			`"bsaic" matches no scenario, case or check; did you mean basic?`},
		"to be skipped": {nil, []string{"paralel"},
			`"paralel" matches no scenario, case or check; did you mean parallel?`},
		"the client, always there": {nil, []string{"client/connects"},
			`"client/connects" matches no scenario, case or check`},
		"a bad pattern": {[]string{"basic/[a"}, nil, `pattern "basic/[a": syntax error in pattern`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := newSelection(c.only, c.skip, nil)
			var wrong *SelectionError
			require.ErrorAs(t, err, &wrong)
			require.Equal(t, c.want, err.Error())
		})
	}
	_, err := newSelection([]string{"[a"}, nil, nil)
	var wrong *SelectionError
	require.ErrorAs(t, err, &wrong)
	require.ErrorIs(t, wrong.Err, path.ErrBadPattern)
}

func TestEveryNameOfTheCatalogueSelectsSomething(t *testing.T) {
	t.Parallel()
	for _, name := range allNames() {
		if name == explore.ID {
			continue // Its cases are generated for a run.
		}
		require.True(t, slices.ContainsFunc(server.AllRevisions(), func(revision server.Revision) bool {
			cases, _ := chosen(t, revision, []string{name}, nil)
			return len(cases) > 0
		}), name)
	}
}

func TestTheLevelsAreKnown(t *testing.T) {
	for _, s := range catalogue() {
		for _, c := range s.Checks {
			for revision, level := range c.Levels {
				require.Contains(t, report.Levels(), level, "%s/%s in %s", s.ID, c.ID, revision)
			}
		}
	}
}

func TestDeletedChecksNameTheRuleThatReplacedThem(t *testing.T) {
	names := allNames()
	for old, rule := range replaced.Rules {
		require.NotContains(t, names, old)
		require.Contains(t, names, rule)
		_, err := newSelection([]string{old}, nil, nil)
		require.EqualError(t, err, fmt.Sprintf("%q matches no scenario, case or check: %s replaced it", old, rule))
		_, err = (&baseline.Entry{Check: old, Messages: []string{"x"}, Reason: "y"}).Validate(BaselineChecks())
		require.EqualError(t, err, fmt.Sprintf("unknown check %q: %s replaced it", old, rule))
	}
}
