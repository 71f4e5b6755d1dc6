package main

import (
	"fmt"
	"runtime"
	"strings"

	"github.com/mcp-conform/mcp-conform/conformance"
	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/harness"
)

// vars are the values in struct tags: defaults, and the help texts that are too long for a tag.
func vars() map[string]string {
	return map[string]string{
		"revisions": strings.Join(revisionNames(conformance.Revisions()), ", "),
		"timeout":   harness.DefaultTimeout.String(),
		"jobs":      fmt.Sprint(runtime.NumCPU()),

		"run_client":  "Judge a built-in client: builtin:reference or builtin:mutant/NAME.",
		"run_dialect": "Give the client only this model wire format: " + strings.Join(llm.Dialects(), ", ") + ".",
		"run_stdio": "The client launches the server over stdio. " +
			"It finds the command in {server-command}, {config} or its environment.",
		"run_llm": "What answers the client's model requests: " +
			"script (the scenarios' scripts) or replay (recorded cassettes).",
		"run_case_timeout": fmt.Sprintf("Time limit of a session with one case "+
			"(default: %s, at most --timeout and at least a third of it).", harness.DefaultCaseTimeout),
		"run_client_timeout": fmt.Sprintf("How long the client waits for the model before it times out. "+
			"It receives this limit and must keep it. Without the flag it receives %s and may have another limit.",
			harness.DefaultClientTimeout),
		"run_fuzz": "Also play N generated malformed requests in each revision, from the seed. " +
			"Requests that break the client are minimized and kept.",
		"run_command": "The client's command, after --. {url} is the server's URL, {config} an mcp.json, " +
			"{prompt} a task for a host. Without {url} and {config} the URL comes last. " +
			"With --stdio, {server-command} launches the server.",
		"record_modes": "record,record-missing,replay,passthrough",
		"record_mode": "record: record everything anew; record-missing: record what the cassette lacks; " +
			"replay: answer from the cassette only; passthrough: record nothing.",
		"record_upstream": "Address of a provider (openai, anthropic, gemini, ollama, native) if not its own; " +
			"may be repeated.",
		"list_requirements": "List the requirements of the specification: the checks that enforce each " +
			"and the mutants that prove them, or why no check does.",
		"serve_listen":   "Loopback address to listen on (default: a free port of 127.0.0.1).",
		"selftest_every": "Play each mutant on every wire that shows its fault, with the whole catalogue on each.",
	}
}
