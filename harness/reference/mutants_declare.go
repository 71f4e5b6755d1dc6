package reference

import "net/http"

// withoutSampling edits a declaration, and withoutTools the sampling in it.
func withoutSampling(declared map[string]any) { delete(declared, "sampling") }

func withoutTools(declared map[string]any) {
	if sampling, ok := declared["sampling"].(map[string]any); ok {
		delete(sampling, "tools")
	}
}

// onRetry edits the _meta of retries.
func onRetry(f func(meta map[string]any)) func(params, meta map[string]any) {
	return func(params, meta map[string]any) {
		if params["inputResponses"] != nil {
			f(meta)
		}
	}
}

var declareMutants = []Mutant{
	{Name: "answers-undeclared", Wire: true, Doc: "declares nothing, and answers sampling all the same", Kills: []string{"declare/sampling-declared"},
		Also: []string{"client/sampled"}, broken: faults{declared: withoutSampling}},
	{Name: "declares-on-calls-only", Wire: true, Doc: "declares sampling with the requests that need it, and with no others", Kills: []string{"declare/sampling-declared"},
		Era: "modern", broken: faults{meta: func(params, meta map[string]any) {
			if params["name"] == nil {
				withoutSampling(meta["io.modelcontextprotocol/clientCapabilities"].(map[string]any))
			}
		}}},
	{Name: "retries-undeclared", Wire: true, Doc: "forgets to declare sampling when it retries", Kills: []string{"declare/sampling-declared"}, Era: "modern",
		broken: faults{meta: onRetry(func(meta map[string]any) {
			withoutSampling(meta["io.modelcontextprotocol/clientCapabilities"].(map[string]any))
		})}},
	{Name: "tools-undeclared", Wire: true, Doc: "declares sampling without tools, and answers with tool use", Kills: []string{"declare/tools-declared"},
		broken: faults{declared: withoutTools}},
	{Name: "declares-true", Wire: true, Doc: "switches tools on with true", Kills: []string{"declare/shape"},
		broken: faults{declared: func(declared map[string]any) {
			if sampling, ok := declared["sampling"].(map[string]any); ok && sampling["tools"] != nil {
				sampling["tools"] = true
			}
		}}},
	{Name: "no-version-on-retry", Wire: true, Doc: "leaves the protocol version out of the _meta of retries", Kills: []string{"declare/meta-fields"}, Also: []string{"mrtr/rounds"}, Era: "modern",
		broken: faults{meta: onRetry(func(meta map[string]any) { delete(meta, "io.modelcontextprotocol/protocolVersion") })}},
	{Name: "no-client-info", Wire: true, Doc: "does not say which client it is", Kills: []string{"declare/client-info"}, Era: "modern",
		broken: faults{meta: func(_, meta map[string]any) { delete(meta, "io.modelcontextprotocol/clientInfo") }}},
	{Name: "no-name-on-retry", Wire: true, Doc: "leaves the header Mcp-Name out of retries", Kills: []string{"declare/http-headers"}, Also: []string{"mrtr/rounds"}, Era: "modern",
		broken: faults{header: func(params map[string]any, header http.Header) {
			if params["inputResponses"] != nil {
				header.Del("Mcp-Name")
			}
		}}},
	{Name: "refuses-tools", Wire: true, Doc: "declares tools and answers every request that has them with an error", Kills: []string{"declare/over-declared"}, Also: []string{"malformed/tolerated"},
		broken: faults{refusesWhen: func(p map[string]any) bool { return p["tools"] != nil }}},
	{Name: "serves-undeclared", Wire: true, Doc: "answers whoever asks, without a look at what was declared",
		Kills: []string{"declare/undeclared-sampling-refused", "declare/undeclared-tools-refused", "declare/undeclared-toolchoice-refused"},
		Also:  []string{"declare/no-model-call"}, broken: faults{servesUndeclared: true}},
	{Name: "drops-undeclared-tools", Wire: true, Doc: "drops tools that were not declared, and answers the rest",
		Kills: []string{"declare/undeclared-tools-refused", "declare/undeclared-toolchoice-refused"}, Also: []string{"declare/no-model-call"},
		broken: faults{dropsUndeclared: true}},
	{Name: "overlooks-choice", Wire: true, Doc: "refuses undeclared tools, and overlooks a tool choice alone", Kills: []string{"declare/undeclared-toolchoice-refused"},
		Also: []string{"declare/no-model-call"}, broken: faults{overlooksChoice: true}},
	{Name: "asks-before-it-looks", Wire: true, Doc: "asks the model, and then refuses what was not declared", Kills: []string{"declare/no-model-call"},
		broken: faults{asksUndeclared: true}},
	{Name: "dies-when-it-refuses", Wire: true, Doc: "ends itself over a request that it has to refuse", Kills: []string{"declare/alive"}, Also: []string{"client/ends-cleanly"},
		broken: faults{diesWhenItRefuses: true}},
}
