package reference

import (
	"regexp"

	"github.com/mcp-conform/mcp-conform/fakes/server"
)

var fruit = regexp.MustCompile(`this is number [1-9][0-9]\.`)

var consentMutants = []Mutant{
	{Name: "overrules-the-person", Wire: true, Doc: "asks the model whatever the person says", Kills: []string{"consent/declined", "consent/no-model-call"},
		broken: faults{consent: consentFaults{overrules: true}}},
	{Name: "asks-ahead-of-the-person", Wire: true, Doc: "asks the model while the person still decides", Kills: []string{"consent/no-model-call"},
		broken: faults{consent: consentFaults{asksAhead: true}}},
	{Name: "refusal-as-internal-error", Wire: true, Doc: "has one code for all errors, and so for the person's refusal", Kills: []string{"consent/declined-code"},
		In: []server.Revision{server.V20251125}, broken: faults{consent: consentFaults{code: codeInternal}}},
	{Name: "makes-up-refusals", Wire: true, Doc: "answers in the model's place that the person has declined", Kills: []string{"consent/declined", "consent/no-made-up-answer"},
		broken: faults{consent: consentFaults{makesUp: true}}},
	{Name: "retries-without-input", Wire: true, Doc: "sends the call again without what the person declined", Kills: []string{"consent/declined-mrtr"}, Era: "modern",
		broken: faults{consent: consentFaults{retriesWithout: true}}},
	{Name: "error-as-input", Wire: true, Doc: "sends the call again with an error where the answer belongs", Kills: []string{"consent/no-made-up-answer"},
		Also: []string{"consent/declined"}, Era: "modern", broken: faults{consent: consentFaults{answersWithError: true}}},
	{Name: "delivers-unseen", Wire: true, Doc: "gives the answer to the server before the person has seen it", Kills: []string{"consent/declined-after"},
		broken: faults{consent: consentFaults{delivers: true}}},
	{Name: "tells-what-was-refused", Wire: true, Doc: "says in the error what the model had answered", Kills: []string{"consent/declined-after"},
		In: []server.Revision{server.V20251125}, broken: faults{consent: consentFaults{tells: true}}},
	{Name: "dies-when-declined", Wire: true, Doc: "ends itself when the person declines", Kills: []string{"consent/alive"}, Also: []string{"client/ends-cleanly"},
		broken: faults{consent: consentFaults{dies: true}}},
	{Name: "limits-bursts", Wire: true, Doc: "refuses all but the first few of many requests", Kills: []string{"consent/burst"}, Era: "legacy",
		broken: faults{refusesWhen: isBeyondNine}},
	{Name: "leaves-out-of-bursts", Wire: true, Doc: "answers the first few of many requests and sends the call again without the others", Kills: []string{"consent/declined-mrtr", "consent/burst"},
		Era: "modern", broken: faults{refusesWhen: isBeyondNine, refusal: errLeftOut}},
}

// isBeyondNine reports whether a request is one of many at once, and not among the first nine.
func isBeyondNine(params map[string]any) bool {
	over := false
	eachMessage(params, func(message map[string]any) {
		for _, b := range ofType(message["content"], "text") {
			over = over || fruit.MatchString(text(b, "text"))
		}
	})
	return over
}
