package main

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/mcp-conform/mcp-conform/conformance"
	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/internal/proof/faults"
)

// fillTags puts the vars in the place of their names in struct tags. kong does this too, but reads all vars again for
// each flag: that took a third of the time that mcp-conform needs to start.
func fillTags(parser *kong.Kong) error {
	known := vars()
	fill := func(tag *string) {
		if strings.Contains(*tag, "${") {
			*tag = os.Expand(*tag, func(name string) string { return cmp.Or(known[name], "${"+name+"}") }) // kong refuses others
		}
	}
	return kong.Visit(parser.Model.Node, func(part kong.Visitable, next kong.Next) error {
		if v, ok := part.(*kong.Value); ok {
			fill(&v.Help)
			fill(&v.Default)
			fill(&v.Enum)
		}
		return next(nil)
	})
}

func vars() map[string]string {
	all := runVars()
	maps.Copy(all, otherVars())
	return all
}

func otherVars() map[string]string {
	providers, variables := upstreams()
	return map[string]string{
		"kinds":     strings.Join(initKinds(), ","),
		"revisions": strings.Join(revisionNames(conformance.Revisions()), ", "),
		"timeout":   harness.DefaultTimeout.String(),
		"jobs":      fmt.Sprint(runtime.NumCPU()),

		"baseline": baselineName,
		"baseline_import": "Take in only the failures that this file lists, in the format of the official suite: " +
			"scenario or scenario:check under client.",

		"report_report": "The files to write: " + strings.Join(formatNames(), ", ") +
			" (default: html=report.html). Of several runs, html is a matrix of clients.",
		"record_modes": "record,record-missing,update,replay,passthrough",
		"record_mode": "record: record everything anew; record-missing: record what the cassette lacks; " +
			"update: also remove what was not used; " +
			"replay: answer from the cassette only; passthrough: record nothing.",
		"record_upstream": "Address of a provider (" + strings.Join(providers, ", ") + ") if not its own; " +
			"may be repeated. Default: " + strings.Join(variables, ", ") + ".",
		"record_ignore": "Member of requests that does not matter, such as max_tokens or thinking.budget_tokens; " +
			"may be repeated.",
		"record_ignore_text": "Text of requests that does not matter, such as a date: a regular expression on " +
			"their JSON; may be repeated.",
		"list_requirements": "List the requirements of the specification: the checks that enforce each " +
			"and the mutants that prove them, or why no check does.",
		"tap_server":       "The server's URL, or its command after --.",
		"verify_server":    "The server's URL, or its command after --.",
		"tap_listen":       "Loopback address for the client, if the server has a URL (default: a free port).",
		"tap_model":        "Pass on requests to the model at this base URL, too, and record them.",
		"tap_model_listen": "Loopback address for requests to the model (default: a free port).",
		"tap_config":       "Only print this configuration of a host, such as mcp.json, with a tap before every server.",
		"replay_ignore": "Leave out this member when requests and answers are compared, such as params.arguments.now, or " +
			"result.content.text of an answer. May be repeated.",
		"verify_ignore": "Leave out this member when responses and requests are compared, such as " +
			"result.structuredContent.time, or params.messages.content.text of a request. May be repeated.",
		"serve_listen": "Address to listen on (default: a free port of 127.0.0.1). An address of another machine " +
			"or of all needs --expose.",
		"serve_expose": "Also answer other machines, such as the containers of a compose file. Needs --key.",
		"serve_key":    "The key that every request must have with --expose.",
		"selftest_conditions": "Limit each mutant to one condition at a time, such as requests with tools. " +
			"List the pairs of mutant and condition that no check names, and those that never fire.",
		"selftest_every": "Play each mutant on every wire that shows its fault, with the whole catalogue on each.",
		"selftest_faults": "Play N random faults instead: edits of messages that nobody wrote a check for. " +
			fmt.Sprintf("Fails if fewer than %d %% of those that show, and are not legal, fail a check.", faults.Goal),
	}
}

func runVars() map[string]string {
	return map[string]string{
		"run_shard": "Play the I-th of N parts of the run, without judging: mcp-conform merge judges the folders of --out " +
			"of all parts.",
		"config":     configName,
		"run_all":    "Run all clients of the configuration.",
		"run_config": "The configuration with the clients' names (default: " + configName + ").",
		"run_baseline": "Known failures, which do not fail the run. The run fails if one of them no longer fails, " +
			"or fails in another way.",
		"run_keep_runs": "Keep only the newest N runs in the folder of --out, and remove the files of older ones.",
		"run_report": "Also write the results as files, such as junit=results.xml,html=report.html: " +
			strings.Join(formatNames(), ", ") + ".",
		"run_client": "Judge a built-in client: builtin:reference, builtin:client-loop, builtin:host or " +
			"builtin:mutant/NAME. With replay:PATH, the client of saved traces.",
		"run_dialect": "Give the client only this model wire format: " + strings.Join(llm.Dialects(), ", ") + ".",
		"run_stdio": "The client launches the server over stdio. " +
			"It finds the command in {server-command}, {config} or its environment.",
		"run_gateway": "The command is a gateway, a bridge or a proxy: it is judged with the built-in client before it. " +
			"{url}, {server-command} or {config} is the server behind it; {listen} or {port} the address on which it " +
			"listens. Without them the client launches it over stdio.",
		"run_header": "Send this header with each request to the gateway; may be repeated.",
		"run_agent": "The client is a host with a model of its own, which the fake model plays, too. " +
			"Implied by {prompt} in the command.",
		"run_template": "Write FILE, with its placeholders filled in, before each start of the client: as {config}, or to " +
			"PATH in its home folder. May be repeated. The client then has a home folder of its own.",
		"run_stdin": "Write this line to the client's standard input; may be repeated. A line with {tool} is written " +
			"for each tool.",
		"run_ready": "Write each --stdin line, and end the input, when this pattern (a regular expression) " +
			"matches the output. {done} waits until a host's model has given its last answer.",
		"run_answer": "Answer a question of the client: when PATTERN matches its output, write TEXT, or NO if its user " +
			"declines. May be repeated. A host may ask only in a terminal: see --pty.",
		"run_has": "What is known of the client: " + strings.Join(harness.Features(), ", ") + ". May be repeated.",
		"run_prepare": "Words of a command that builds the client or looks for what it needs. If it " +
			"fails, nothing is played.",
		"run_install":  "How to install what --prepare does not find.",
		"run_own_home": "Do not give a host a home folder of its own.",
		"run_loop": "Who runs the tool loop of a sampling request: server (the client returns tool uses) or client " +
			"(it calls the server's tools itself). Without the flag the messages show it.",
		"run_llm": "What answers the client's model requests: " +
			"script (the scenarios' scripts) or replay (recorded cassettes).",
		"run_case_timeout": fmt.Sprintf("Time limit of a session with one case "+
			"(default: %s, at most --timeout and at least a third of it).", harness.DefaultCaseTimeout),
		"run_client_timeout": fmt.Sprintf("How long the client waits for the model before it times out. "+
			"It receives this limit and must keep it. Without the flag it receives %s and may have another limit.",
			harness.DefaultClientTimeout),
		"run_explore": fmt.Sprintf("Play N generated conversations in each revision, from the seed (default: %d). "+
			"With the flag, conversations that fail a check are shrunk and kept. 0 plays none.", conformance.DefaultExplore),
		"run_fuzz": "Also play N generated malformed requests in each revision, from the seed. " +
			"Requests that break the client are shrunk and kept.",
		"run_keep": "Folder for what --explore and --fuzz find (default: mcp-conform-conversations).",
		"run_command": "The client's command, after --. {url} is the server's URL, {config} an mcp.json, " +
			"{prompt} a task for a host. Without {url} and {config} the URL comes last. " +
			"With --stdio, {server-command} launches the server.",
	}
}

// upstreams returns the names of all providers, and the variables of their addresses.
func upstreams() (providers, variables []string) {
	for _, name := range llm.APIs() {
		facts := llm.FactsOf(name)
		if slices.Contains(providers, facts.Provider) {
			continue
		}
		providers = append(providers, facts.Provider)
		if facts.BaseVariables != nil {
			variables = append(variables, facts.BaseVariables[0])
		}
	}
	return providers, variables
}
