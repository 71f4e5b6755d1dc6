package variations

import (
	"encoding/json"
	"slices"
	"strings"

	mcp "github.com/mcp-conform/mcp-conform/fakes/client"
	"github.com/mcp-conform/mcp-conform/fakes/client/model"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/internal/proof/mutants"
	"github.com/mcp-conform/mcp-conform/internal/proof/reference"
)

// withTools are the revisions in which content may be an array.
var withTools = having(server.Revision.HasSamplingTools)

// takesArrays reports whether content may be an array in the version that the client and the server agreed on.
func takesArrays(w *mutants.Wire) bool {
	version := server.Revision(w.Header().Get("Mcp-Protocol-Version"))
	return version == "" || version.HasSamplingTools()
}

// meta returns the _meta of an object, which gets one if it has none.
func meta(o object) object {
	m, _ := o["_meta"].(object)
	if m == nil {
		m = object{}
		o["_meta"] = m
	}
	return m
}

// stories are the scenarios whose stories are told again, also behind an image.
const stories = "balance malformed cancel time provider-errors consent transport tasks mrtr"

// textOnly refuses what its model cannot read.
var textOnly = mutants.Edit{Asked: func(s *mutants.Sample) {
	if mutants.SampleFacts(s.Asked).Media {
		s.Refuse(-32603, "the model reads texts only")
	}
}}

// resultVariations differ in what the client sends to the server.
var resultVariations = of(reference.Config{}, "result-",
	edited("no-empty-text", "leaves empty texts out of its results", "answer-texts",
		"basic tool-use parallel", result(func(r object) {
			if blocks, ok := r["content"].([]any); ok {
				r["content"] = slices.DeleteFunc(blocks, func(b any) bool { return b.(object)["text"] == "" })
				meta(r)["com.example/blocks"] = len(blocks)
			}
		}), withTools),
	edited("always-array", "answers with an array of one block", "answer-texts",
		"basic tool-use parallel loop/three-cities mrtr", mutants.Edit{Answered: func(s *mutants.Sample) {
			if block, ok := s.Result["content"].(object); ok && takesArrays(s.Wire) {
				s.Result["content"] = []any{block}
			}
		}}, withTools),
	edited("two-text-blocks", "answers with the text in two blocks", "answer-texts",
		"basic tool-use parallel provider-errors", mutants.Edit{Answered: func(s *mutants.Sample) {
			if block, ok := s.Result["content"].(object); ok && takesArrays(s.Wire) {
				one, other := split(text(block, "text"))
				s.Result["content"] = []any{textBlock(one), textBlock(other)}
			}
		}}, withTools),
	edited("texts-in-lines", "joins the texts of a reply, with a new line between them", "blanks-between-texts",
		"basic/blocks basic/question", result(func(r object) {
			var texts []string
			blocks, _ := r["content"].([]any)
			for _, b := range blocks {
				if b, ok := b.(object); ok && b["type"] == "text" {
					texts = append(texts, text(b, "text"))
				}
			}
			if len(texts) > 1 && len(texts) == len(blocks) {
				r["content"] = textBlock(strings.Join(texts, "\n"))
			}
		}), with(reference.Config{Dialect: dialect.Native}), withTools),
	edited("no-dotted-names", "refuses tools with a dot in their name",
		"refusal", "tool-use parallel/two-cities",
		mutants.Edit{Asked: func(s *mutants.Sample) {
			for _, tool := range objects(s.Asked["tools"]) {
				if strings.Contains(text(tool, "name"), ".") {
					s.Refuse(-32603, "the model takes no dots in names of tools")
				}
			}
		}}, withTools),
	edited("text-only", "refuses images and sound", "refusal", "basic parallel "+stories, textOnly,
		func(v *Variation) { v.Whole = true }),
	edited("no-tools", "declares sampling without tools", "declared-features", stories, mutants.Edit{
		Options: func(w *mutants.Wire, o *mcp.Options, _ *model.Options) {
			if string(o.Capabilities) == `{"sampling":{"tools":{}}}` {
				o.Capabilities = json.RawMessage(`{"sampling":{}}`)
				w.Fire()
			}
		}}, func(v *Variation) { v.Whole = true }),
	edited("no-context", "refuses to include context, which it does not declare", "include-context", "basic/context",
		mutants.Edit{Asked: func(s *mutants.Sample) {
			if context := text(s.Asked, "includeContext"); context != "" && context != "none" {
				s.Refuse(-32602, "includeContext: sampling.context is not declared")
			}
		}}, func(v *Variation) { v.Whole = true }),
	edited("extra-members", "adds members to its results", "extra-members", "basic tool-use parallel mrtr tasks consent",
		result(func(r object) {
			meta(r)["com.example/trace"] = "1"
			r["usage"] = object{"tokens": 3}
		})),
	edited("no-stop-reason", "gives no stop reasons", "stop-reasons", "basic tool-use parallel",
		result(func(r object) { delete(r, "stopReason") })),
	edited("own-stop-reasons", "gives its own stop reasons, and the provider's beside tool uses", "stop-reasons",
		"basic tool-use parallel provider-errors", result(func(r object) {
			r["stopReason"] = "done"
			if blocks, _ := r["content"].([]any); slices.ContainsFunc(blocks, isToolUse) || isToolUse(r["content"]) {
				r["stopReason"] = "function_call"
			}
		}), warns("tool-use/stop-reason-tooluse")),
	edited("token-in-call", "sends a progress token and metadata with each call of a tool",
		"progress", "basic parallel time cancel mrtr",
		out(func(m *mutants.Message) {
			if m.Method() == "tools/call" {
				token := meta(m.Params())
				token["com.example/call"], token["progressToken"] = "7", "progress-7"
			}
		})),
	edited("float-ids", "writes the number in the id of each response with an exponent",
		"json-notation", "basic tool-use transport", out(func(m *mutants.Message) {
			if n, ok := m.Body["id"].(json.Number); ok && m.AnswersSample() && n != "" {
				m.Body["id"] = n + "e0"
			}
		}), having(server.Revision.HasPrimingEvents)),
	edited("content-type", "writes the media type in capitals, with a parameter", "http-case",
		"basic tool-use mrtr", out(func(m *mutants.Message) {
			m.Header.Set("Content-Type", "Application/JSON; charset=UTF-8")
		})),
	edited("wants-a-type", "refuses a result without a type", "no-result-type",
		"mrtr/untyped mrtr/states", mutants.Edit{In: func(m *mutants.Message) {
			if m.Answers("tools/call") && m.Result() != nil && m.Result()["resultType"] == nil {
				m.Result()["resultType"] = "missing"
			}
		}}, having(server.Revision.Modern)),
	edited("accept", "writes the media types that it accepts in capitals, with a parameter", "http-case",
		"basic tool-use transport", out(func(m *mutants.Message) {
			m.Header.Set("Accept", "Application/JSON;q=0.9, Text/Event-Stream; charset=utf-8")
		}), having(server.Revision.HasPrimingEvents)),
)

func isToolUse(block any) bool {
	o, _ := block.(object)
	return o["type"] == "tool_use"
}
