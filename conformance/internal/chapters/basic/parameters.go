package basic

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

// Parameters that every provider accepts, and a word that is easy to find in metadata, whose form differs by provider.
const (
	Temperature  = 0.5
	StopSequence = "###END###"
	MetadataWord = "conformance-user-seven"
)

// The server asks with temperature and stop sequences. Then it asks with the temperature 0 and with metadata, which a
// provider may refuse if the client passes them on.
var tuned = harness.Case{
	ID: "basic/tuned",
	Handler: func(s *server.Session) (any, error) {
		ask := s.Ask("Count to three.")
		warmth := Temperature
		ask.Temperature, ask.StopSequences = &warmth, []string{StopSequence}
		if _, err := s.Sample(ask); err != nil {
			return nil, err
		}
		ask = s.Ask("Count to four.")
		ask.Temperature, ask.Metadata = new(float64), story.Object{"user_id": MetadataWord}
		return s.Sample(ask)
	},
	Script: func(string) []*llm.Rule {
		return []*llm.Rule{
			llm.When(llm.LastUser("to three")).Reply(llm.Text("One, two, ")).StopReason(llm.StopStopSequence).
				Stream(llm.EndBesideFinish),
			llm.When().Reply(llm.Text("One, two, three, four.")),
		}
	},
}

var parameters = check.Check{
	ID: "parameters", Cases: []string{"tuned"},
	Rule:   "Reports whether temperature, stop sequences and metadata are passed on",
	Levels: check.May, Requests: 2, Needs: []check.Need{check.ModelReadsRequest(1)},
	Cause: "the client may change or omit parameters",
	Fix:   nothingToFix,
	Judge: func(e *evidence.Case) check.Verdict {
		x := e.Rounds[0].LastExchange()
		var warmth string
		switch t := x.Request.Temperature; {
		case t == nil:
			warmth = omitted
		case *t == Temperature:
			warmth = "passed on"
		default:
			warmth = fmt.Sprintf("changed to %v", *t)
		}
		unlessZero, metadata := false, "refused before the model is called"
		if y, missing := check.ModelRequest(e.Rounds[1]); missing == nil {
			metadata = passedOn(y.Says(MetadataWord))
			unlessZero = x.Request.Temperature != nil && y.Request.Temperature == nil
		}
		if unlessZero {
			warmth += " unless it is 0"
		} else {
			warmth = partly(warmth, e, evidence.Temperature)
		}
		stops := passedOn(slices.Contains(x.Request.StopSequences, StopSequence))
		return check.Info("temperature is %s, stop sequences are %s, metadata are %s",
			warmth, partly(stops, e, evidence.StopSequences), metadata).
			ShowAs("model received", x.Place, "")
	},
}

// partly adds to what became of a setting that the client passes it on in some requests of the run only.
func partly(what string, e *evidence.Case, setting evidence.Setting) string {
	switch from := e.Session.OmittedFrom[setting]; {
	case from == "":
		return what
	case what == omitted:
		return what + ", but passed on in others"
	default:
		return what + ", but omitted from " + from
	}
}

const omitted = "omitted"

func passedOn(yes bool) string {
	if yes {
		return "passed on"
	}
	return omitted
}

var parametersHarmless = check.Check{
	ID: "parameters-harmless", Cases: []string{"tuned"},
	Rule:   "A request with temperature, stop sequences or metadata gets a result",
	Levels: check.Robust, Requests: 1,
	Cause: "the client rejects an unknown parameter, or sends it under a name that the provider does not know",
	Fix: "Translate temperature and stopSequences into the provider's parameters, or omit them. " +
		"Omit metadata if the provider refuses them.",
	Judge: func(e *evidence.Case) check.Verdict {
		for i, special := range []string{"temperature and stop sequences", "metadata"} {
			if len(e.Rounds) <= i {
				return check.NotSent(e, i+1)
			}
			r := e.Rounds[i]
			if r.Result() != nil {
				continue
			}
			if x := r.LastExchange(); special == "metadata" && x != nil && x.End.Refused != "" {
				return check.Pass("metadata are passed on, and the provider refuses them: %s", x.End.Refused)
			}
			return noResult(e, r, special)
		}
		return check.Pass("requests with parameters got results")
	},
}
