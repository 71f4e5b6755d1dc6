package tap_test

import (
	"context"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/client/model"
	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
)

// amended is a tool that asks with changed params.
func amended(amend func(*server.CreateMessageParams)) []server.Tool {
	return []server.Tool{{Name: "one", Handler: func(s *server.Session) (any, error) {
		p := s.Ask("What is one and one?")
		amend(p)
		_, err := s.Sample(p)
		return "done", err
	}}}
}

func turn(role string, content ...any) server.SamplingMessage {
	return server.SamplingMessage{Role: role, Content: content}
}

var image = object{"type": "image", "mimeType": "image/png", "data": "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAA" +
	"fFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="}

// twice is a tool that asks, and asks again with the answer.
func twice(name, text string, options ...server.RequestOption) server.Tool {
	return server.Tool{Name: name, Handler: func(s *server.Session) (any, error) {
		if s.Revision() > server.V20251125 {
			options = nil
		}
		first, err := server.As[server.Answer](s.Sample(s.Ask(text), options...))
		if err != nil {
			return nil, err
		}
		last, err := server.As[server.Answer](s.Sample(s.Ask("again: "+first.Text()), options...))
		return last.Text(), err
	}}
}

// echo is a model that answers with the question.
func echo() []*llm.Rule {
	return []*llm.Rule{llm.When().Optional().ReplyFunc(func(r *llm.Request) []llm.Block {
		return []llm.Block{llm.Text("re " + dialect.PlainText(r.Messages[len(r.Messages)-1].Content))}
	})}
}

// Nobody is accused for what a model says or fails to say, or for what a server asks.
func TestUnusualModelsAndServers(t *testing.T) {
	one := []server.Tool{asking("one", "What is one and one?")}
	any2 := []*llm.Rule{llm.When().Optional().Reply(llm.Text("two"))}
	again := func(ctx context.Context, ask *model.Model, params object) (object, error) {
		result, err := ask.Sample(ctx, params)
		if err != nil {
			return ask.Sample(ctx, params)
		}
		return result, nil
	}
	asked := llm.When(llm.LastUser("one and one"))
	warm := 0.5
	for _, h := range []host{
		{name: "hangs up, then answers", tools: one, sample: again, rules: []*llm.Rule{
			llm.When(llm.LastUser("one and one")).Times(1).Reply(llm.Text("three or four")).Fault(llm.ResetAfter(2)).Optional(),
			says("one and one", "two")}},
		{name: "thinks", tools: one, dialect: dialect.Anthropic, rules: []*llm.Rule{asked.Optional().
			Reply(llm.Thinking("one more than one", "sig"), llm.Text("two"))}},
		{name: "stops early", tools: one, rules: []*llm.Rule{llm.When(llm.LastUser("one and one")).Optional().
			Reply(llm.Text("two and")).StopReason(dialect.StopMaxTokens)}},
		{name: "refuses", tools: one, rules: []*llm.Rule{llm.When(llm.LastUser("one and one")).Optional().
			Reply(llm.Text("I cannot say.")).StopReason(dialect.StopRefusal)}},
		{name: "calls without text", tools: tools()[:1], rules: []*llm.Rule{rules()[0], rules()[1]}},
		{name: "calls with text", tools: tools()[:1], rules: []*llm.Rule{rules()[0],
			llm.When(llm.LastUser("weather")).Optional().Reply(llm.Text("I will look."),
				llm.Call("get_weather", `{"city":"Paris"}`), llm.Call("get_weather", `{"city":"London"}`))}},
		{name: "settings", rules: any2,
			tools: amended(func(p *server.CreateMessageParams) {
				p.SystemPrompt, p.Temperature, p.StopSequences = "Count.", &warm, []string{"STOP"}
				p.Metadata = object{"a": 1}
				p.ModelPreferences = object{"hints": []any{object{"name": "gpt-4o"}}, "costPriority": 0.5}
			})},
		{name: "history", rules: any2,
			tools: amended(func(p *server.CreateMessageParams) {
				before := []server.SamplingMessage{turn("user", server.Text("Hello")), turn("assistant", server.Text("Hi."))}
				p.Messages = append(before, p.Messages...)
			})},
		{name: "image", rules: any2,
			tools: amended(func(p *server.CreateMessageParams) {
				p.Messages = []server.SamplingMessage{turn("user", server.Text("What is it?"), image)}
			})},
		{name: "only an image", rules: any2,
			tools: amended(func(p *server.CreateMessageParams) {
				p.Messages = []server.SamplingMessage{turn("user", image)}
			})},
		{name: "short texts", rules: []*llm.Rule{llm.When().Optional().Reply(llm.Text("2"))}, own: []string{"Hi"},
			tools: []server.Tool{asking("one", "?"), asking("two", "a"), asking("three", "")}},
		{name: "calls at once", parallel: true, tools: []server.Tool{
			twice("one", "first of one"), twice("two", "first of two"), asking("three", "only of three"),
			{Name: "none", Handler: func(*server.Session) (any, error) { return "nothing", nil }}, tools()[0]},
			rules: append(rules()[:2], echo()...)},
		{name: "on the GET stream", parallel: true, tools: []server.Tool{
			twice("one", "first of one", server.OnGETStream()), twice("two", "first of two", server.OnGETStream()),
			asking("three", "only of three")}, rules: echo()},
		{name: "equal calls at once", parallel: true, tools: []server.Tool{
			twice("one", "first of one"), twice("two", "first of one"), asking("three", "first of one")}, rules: echo()},
		{name: "the text of the host", rules: []*llm.Rule{llm.When().Optional().Reply(llm.Text("2"))}, tools: one,
			own: []string{"What is one and one?"}},
	} {
		eachOf(t, h.name, func(t *testing.T, transport string, revision server.Revision) {
			require.Empty(t, h.failures(t, transport, revision))
		})
	}
}

// What a client loses or adds between the server and the model is named.
func TestHostsThatLoseSomething(t *testing.T) {
	full := amended(func(p *server.CreateMessageParams) {
		p.SystemPrompt, p.StopSequences = "Count slowly.", []string{"STOP"}
		p.Messages = []server.SamplingMessage{turn("user", server.Text("Hello, I count.")),
			turn("assistant", server.Text("Good!")),
			turn("user", server.Text("What is it?"), server.Text("It is small."), image)}
	})
	messages := func(change func([]any) []any) sampler {
		return func(ctx context.Context, ask *model.Model, p object) (object, error) {
			p = maps.Clone(p)
			p["messages"] = change(slices.Clone(p["messages"].([]any)))
			return ask.Sample(ctx, p)
		}
	}
	lastContent := func(from, to int) sampler {
		return messages(func(ms []any) []any {
			ms[2] = object{"role": "user", "content": ms[2].(object)["content"].([]any)[from:to]}
			return ms
		})
	}
	without := func(name string) sampler {
		return func(ctx context.Context, ask *model.Model, p object) (object, error) {
			p = maps.Clone(p)
			delete(p, name)
			return ask.Sample(ctx, p)
		}
	}
	for _, h := range []host{
		{name: "nothing lost"},
		{name: "the system prompt, as it may", sample: without("systemPrompt")},
		{name: "the stop sequences, as it may", sample: without("stopSequences")},
		{name: "the image", fails: "model-was-given", sample: lastContent(0, 2)},
		{name: "a text", fails: "model-was-given", sample: lastContent(1, 3)},
		{name: "all but the image", fails: "model-was-given", sample: lastContent(2, 3)},
		{name: "the first turn", fails: "model-was-given", sample: messages(func(ms []any) []any { return ms[1:] })},
		{name: "the history", fails: "model-was-given", sample: messages(func(ms []any) []any { return ms[2:] })},
		{name: "the last turn", fails: "model-was-given", sample: messages(func(ms []any) []any { return ms[:1] })},
		{name: "the order", fails: "model-was-given", sample: messages(func(ms []any) []any {
			return []any{ms[2], ms[1], ms[0]}
		})},
		{name: "the roles", fails: "model-was-given", sample: messages(func(ms []any) []any {
			ms[1] = object{"role": "user", "content": ms[1].(object)["content"]}
			return ms
		})},
		{name: "an answer with a signature", fails: "server-was-given",
			sample: func(ctx context.Context, ask *model.Model, p object) (object, error) {
				result, err := ask.Sample(ctx, p)
				if err == nil {
					result["content"] = object{"type": "text", "text": "two -- sent by a host"}
				}
				return result, err
			}},
	} {
		h.tools, h.rules = full, []*llm.Rule{llm.When().Optional().Reply(llm.Text("two"))}
		eachOf(t, h.name, func(t *testing.T, transport string, revision server.Revision) {
			ids := h.failures(t, transport, revision)
			if h.fails == "" {
				require.Empty(t, ids)
			} else {
				require.Contains(t, ids, "always/"+h.fails)
			}
		})
	}
}
