package reference

// loopLimit is where clients that stop, hang or die in a long loop do so.
const loopLimit = 10

var loopMutants = []Mutant{
	{Name: "forgets-the-middle", Doc: "gives the model the question and the last round of a loop", Kills: []string{"loop/three-rounds"},
		broken: faults{params: func(p map[string]any) {
			messages, _ := p["messages"].([]any)
			if n := len(messages); turnOf(p) > 2 && len(idsOf(messages[n-1], "tool_result", "toolUseId")) > 0 {
				p["messages"] = []any{messages[0], messages[n-2], messages[n-1]}
			}
		}}},
	{Name: "stops-after-ten", Wire: true, Doc: "refuses to go along with a loop for more than ten rounds, as it may", Kills: []string{"loop/iteration-limit"},
		broken: faults{refusesWhen: func(p map[string]any) bool { return turnOf(p) > loopLimit }}},
	{Name: "hangs-after-ten", Wire: true, Era: "legacy", Hangs: true, Doc: "leaves the server without an answer after ten rounds of a loop", Kills: []string{"loop/stops-with-error"},
		Also: []string{"loop/iteration-limit", "client/ends-cleanly"}, broken: faults{hangsAfter: loopLimit}},
	{Name: "dies-after-ten", Wire: true, Doc: "ends itself after ten rounds of a loop", Kills: []string{"loop/stops-with-error"},
		Also: []string{"loop/iteration-limit", "client/ends-cleanly"}, broken: faults{diesAfter: loopLimit}},
	{Name: "shares-the-question", Doc: "keeps the question of a loop where the next one finds it", Kills: []string{"loop/interleaved"},
		broken: faults{sharesFirst: true}},
	{Name: "ignores-digits", Doc: "answers requests that differ in digits alike", Kills: []string{"loop/concurrent"},
		broken: faults{ignoresDigits: true}},
	{Name: "forgets-over-twelve", Wire: true, Hangs: true, Doc: "drops what is over twelve questions in a call", Kills: []string{"loop/concurrent"}, Also: []string{"client/ends-cleanly", "cancel/malformed-cancel"},
		broken: faults{forgetsOver: 12}},
}
