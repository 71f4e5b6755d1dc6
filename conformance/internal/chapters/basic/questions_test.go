package basic

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

func TestHints(t *testing.T) {
	// asks is a client that asks these models in the rounds of the case.
	asks := func(models [hintRounds]string) func(*tracetest.Story) {
		return func(s *tracetest.Story) {
			for i, model := range models {
				p := tracetest.Asking("Which model are you?")
				if preferred[i] != nil {
					p.ModelPreferences = preferred[i]
				}
				body := tracetest.With(string(story.JSON(tracetest.AsChat(p))), "model", fmt.Sprintf("%q", model))
				s.Asks(p).Prompt(body, trace.ModelEnd{Status: 200}).Answers(tracetest.Saying("A scripted one."))
			}
		}
	}
	// The rounds: nothing, small, large, small first, large first, numbers, small and numbers, parts.
	right := [hintRounds]string{"own", "gpt-4o-mini", "gpt-4.1", "gpt-4o-mini", "gpt-4.1", "gpt-4.1", "gpt-4o-mini", "gpt-4o-mini"}
	but := func(round int, model string) [hintRounds]string {
		changed := right
		changed[round] = model
		return changed
	}
	one := [hintRounds]string{"own", "own", "own", "own", "own", "own", "own", "own"}
	mapped := [hintRounds]string{"own", "fast", "deep", "fast", "deep", "own", "fast", "own"}
	given := [hintRounds]string{"own", "gpt-4o-mini", "gpt-4.1", "gpt-4o-mini", "gpt-4.1", "own", "gpt-4o-mini", "4o-mini"}
	dated := [hintRounds]string{"claude-sonnet-4-5", "claude-3-5-haiku-20241022", "claude-opus-4-1", "claude-3-5-haiku-20241022", "claude-opus-4-1", "claude-opus-4-1", "claude-3-5-haiku-latest", "claude-3-5-haiku-20241022"}
	numbersInPart := right
	numbersInPart[roundNumbers], numbersInPart[roundSmallAndNumbers] = "gpt-4o-mini-high", "gpt-4o-mini-high"
	var tellings []tracetest.Test
	add := func(check, name string, models [hintRounds]string, verdict report.Verdict, message string) {
		tellings = append(tellings, tracetest.Test{Name: name, Check: "basic/" + check, CaseID: "hints", Steps: asks(models), Dialects: tracetest.OpenAI, Verdict: verdict, Message: message})
	}
	const inOrder, over, part = "the first hint that matches decides", "the hint decides, whatever the numbers say", "a part of a model's name matches it"
	add("hints-respected", "by choosing a model", right, report.Pass, "hints change which model is asked")
	add("hints-respected", "by choosing one like it", mapped, report.Pass, "hints change which model is asked")
	add("hints-respected", "by choosing a large one alone", [hintRounds]string{"own", "own", "gpt-4.1", "gpt-4.1", "gpt-4.1", "own", "own", "own"}, report.Pass, "hints change which model is asked")
	add("hints-respected", "not at all", one, report.Warn, "the model that is asked is the same whatever is hinted at")

	add("hints-in-order", "the first", right, report.Pass, inOrder)
	add("hints-in-order", "the first, mapped", mapped, report.Pass, inOrder)
	add("hints-in-order", "the first, as it is given", given, report.Pass, inOrder)
	add("hints-in-order", "the first, dated", dated, report.Pass, inOrder)
	add("hints-in-order", "the last", but(roundSmallFirst, "gpt-4.1"), report.Fail, "a later hint decided which model is asked, where an earlier one matches")
	add("hints-in-order", "always the small one", but(roundLargeFirst, "gpt-4o-mini"), report.Fail, "a later hint decided which model is asked, where an earlier one matches")
	add("hints-in-order", "neither", but(roundSmallFirst, "own"), report.Warn, "the hints of two rounds, put together, lead to a model of neither")
	add("hints-in-order", "there is one model", one, report.NotApplicable, "it takes two hints that each change which model is asked to see which of them comes first")
	add("hints-in-order", "the client's own choice is a small one", [hintRounds]string{"gpt-4o-mini", "gpt-4o-mini", "gpt-4.1", "gpt-4o-mini", "gpt-4.1", "gpt-4.1", "gpt-4o-mini", "gpt-4o-mini"},
		report.NotApplicable, "it takes two hints that each change which model is asked to see which of them comes first")

	add("hint-substring", "a part", right, report.Pass, part)
	add("hint-substring", "a part, dated", dated, report.Pass, part)
	add("hint-substring", "a part, as it is given", given, report.Pass, part)
	add("hint-substring", "a part that fits another model, too", but(roundParts, "gpt-4o-mini-2024-07-18"), report.Pass, part)
	add("hint-substring", "the whole only", but(roundParts, "own"), report.Warn, `"4o-mini", as part of the name "gpt-4o-mini", did not match it`)
	add("hint-substring", "mapped", mapped, report.NotApplicable, "the client asks none of the models that are hinted at by their names")
	add("hint-substring", "there is one model", one, report.NotApplicable, "the client asks none of the models that are hinted at by their names")

	add("hints-over-numbers", "the hint", right, report.Pass, over)
	add("hints-over-numbers", "the hint, with another form of its name", dated, report.Pass, over)
	add("hints-over-numbers", "numbers among what the hint leaves", numbersInPart, report.Pass, over)
	add("hints-over-numbers", "the numbers", but(roundSmallAndNumbers, "gpt-4.1"), report.Warn, "the numbers decided which model is asked, against a hint")
	add("hints-over-numbers", "numbers are not read", given, report.NotApplicable, "the numbers alone change nothing")
	add("hints-over-numbers", "hints are not read", one, report.NotApplicable, "the hint alone changes nothing")
	tracetest.Run(t, catalogue, tellings)
}

// text is a message of one text.
func text(role, said string) server.SamplingMessage {
	return server.SamplingMessage{Role: role, Content: server.Text(said)}
}

func TestHistories(t *testing.T) {
	history := []server.SamplingMessage{text("user", "one"), text("assistant", "two"), text("user", "three"), text("user", "four")}
	given := func(messages ...server.SamplingMessage) func(*tracetest.Story) {
		return func(s *tracetest.Story) {
			sent, changed := tracetest.Asking(""), tracetest.Asking("")
			sent.Messages, changed.Messages = history, messages
			s.Asks(sent).Prompts(changed).Answers(tracetest.Saying("five"))
		}
	}
	const arrived = "the history reached the model in order"
	lost := func(n int) string {
		return fmt.Sprintf("message %d of the history did not reach the model in its place and under its role", n)
	}
	tracetest.Run(t, catalogue, []tracetest.Test{
		{Name: "as it was", Check: "basic/multi-turn", CaseID: "turns", Steps: given(history...), Verdict: report.Pass, Message: arrived},
		{Name: "neighbours merged", Check: "basic/multi-turn", CaseID: "turns", Steps: given(text("user", "one"), text("assistant", "two"), text("user", "three\n\nfour")), Verdict: report.Pass, Message: arrived},
		{Name: "neighbours merged without a word between them", Check: "basic/multi-turn", CaseID: "turns", Dialects: tracetest.Native, Verdict: report.Pass, Message: arrived,
			Steps: given(text("user", "one"), text("assistant", "two"), server.SamplingMessage{Role: "user", Content: []any{server.Text("three"), server.Text("four")}})},
		{Name: "after messages of the client's own", Check: "basic/multi-turn", CaseID: "turns", Verdict: report.Pass, Message: arrived,
			Steps: given(append([]server.SamplingMessage{text("user", "Hello."), text("assistant", "Hello."), text("user", "Now:")}, history...)...)},
		{Name: "with the system prompt in the first", Check: "basic/multi-turn", CaseID: "turns", Verdict: report.Pass, Message: arrived,
			Steps: given(text("user", "You are helpful.\n\none"), text("assistant", "two"), text("user", "three"), text("user", "four (please)"))},
		{Name: "with filler between neighbours", Check: "basic/multi-turn", CaseID: "turns", Verdict: report.Pass, Message: arrived,
			Steps: given(text("user", "one"), text("assistant", "two"), text("user", "three"), text("assistant", "Yes?"), text("user", "four"))},
		{Name: "as one text", Check: "basic/multi-turn", CaseID: "turns", Steps: given(text("user", "User: one\nAssistant: two\nUser: three\nUser: four")), Verdict: report.Warn,
			Message: "the history reached the model in its order, and without its roles: as one text of the user"},
		{Name: "the last alone", Check: "basic/multi-turn", CaseID: "turns", Steps: given(text("user", "four")), Verdict: report.Fail, Message: lost(1)},
		{Name: "without what the model said", Check: "basic/multi-turn", CaseID: "turns", Steps: given(text("user", "one"), text("user", "three"), text("user", "four")), Verdict: report.Fail, Message: lost(2)},
		{Name: "in another order", Check: "basic/multi-turn", CaseID: "turns", Steps: given(text("user", "three"), text("user", "four"), text("assistant", "two"), text("user", "one")), Verdict: report.Fail, Message: lost(2)},
		{Name: "roles swapped", Check: "basic/multi-turn", CaseID: "turns", Steps: given(text("assistant", "one"), text("user", "two"), text("assistant", "three"), text("user", "four")), Verdict: report.Fail, Message: lost(1)},
	})
}

func TestBlocksAndArraysOfThem(t *testing.T) {
	array := func(texts ...string) *server.CreateMessageParams {
		blocks := []any{}
		for _, said := range texts {
			blocks = append(blocks, server.Text(said))
		}
		p := tracetest.Asking("")
		p.Messages[0].Content = blocks
		return p
	}
	block, ofOne, ofThree := tracetest.Asking(blockText), array(blockText), array("first", "second", "third")
	told := func(given ...*server.CreateMessageParams) func(*tracetest.Story) {
		return func(s *tracetest.Story) {
			for i, sent := range []*server.CreateMessageParams{block, ofOne, ofThree} {
				s.Asks(sent).Prompts(given[i]).Answers(tracetest.Saying("So it is."))
			}
		}
	}
	right := told(block, ofOne, ofThree)
	tracetest.Run(t, catalogue, []tracetest.Test{
		{Name: "both", Check: "basic/single-and-array", CaseID: "blocks", Steps: right, Verdict: report.Pass, Message: "both were answered"},
		{Name: "the block alone", Check: "basic/single-and-array", CaseID: "blocks", In: tracetest.InA, Verdict: report.Fail,
			Steps: func(s *tracetest.Story) {
				tracetest.Asked(block, tracetest.Saying("So."))(s)
				s.Asks(ofOne).Refuses(-32602, "content: want an object")
			},
			Message: `content as an array of one block was not answered, and as the block alone it was: request 2 was answered by the error "content: want an object" (code -32602)`},
		{Name: "neither", Check: "basic/single-and-array", CaseID: "blocks", Steps: func(s *tracetest.Story) { s.Asks(block) }, Verdict: report.NotObserved,
			Message: "the play did not get as far as sampling request 2: no answer came for request 1"},

		{Name: "alike", Check: "basic/same-effect", CaseID: "blocks", Steps: right, Verdict: report.Pass, Message: "both reached the model alike"},
		{Name: "alike, within more", Check: "basic/same-effect", CaseID: "blocks", Steps: told(tracetest.Asking("At noon: "+blockText), tracetest.Asking("At one: "+blockText), ofThree), Verdict: report.Pass, Message: "both reached the model alike"},
		{Name: "as JSON", Check: "basic/same-effect", CaseID: "blocks", Steps: told(block, tracetest.Asking(string(story.JSON(ofOne.Messages[0].Content))), ofThree), Verdict: report.Fail,
			Message: "the text of an array of one block did not reach the model, and that of the block alone did"},
		{Name: "empty", Check: "basic/same-effect", CaseID: "blocks", Steps: told(block, tracetest.Asking("[object Object]"), ofThree), Verdict: report.Fail,
			Message: "the text of an array of one block did not reach the model, and that of the block alone did"},
		{Name: "neither as it was", Check: "basic/same-effect", CaseID: "blocks", Steps: told(tracetest.Asking("?"), tracetest.Asking("?"), ofThree), Verdict: report.NotObserved,
			Message: "the text of a block alone did not reach the model (see basic/prompt-reaches-model)"},

		{Name: "in order", Check: "basic/content-array", CaseID: "blocks", Steps: right, Verdict: report.Pass, Message: "the blocks reached the model in order"},
		{Name: "as one text", Check: "basic/content-array", CaseID: "blocks", Steps: told(block, ofOne, tracetest.Asking("first\nsecond\nthird")), Verdict: report.Pass, Message: "the blocks reached the model in order"},
		{Name: "as several messages", Check: "basic/content-array", CaseID: "blocks", Verdict: report.Pass, Message: "the blocks reached the model in order",
			Steps: func(s *tracetest.Story) {
				several := tracetest.Asking("")
				several.Messages = []server.SamplingMessage{text("user", "first"), text("user", "second"), text("user", "third")}
				told(block, ofOne, several)(s)
			}},
		{Name: "the first alone", Check: "basic/content-array", CaseID: "blocks", Steps: told(block, ofOne, tracetest.Asking("first")), Verdict: report.Fail, Message: "block 2 of the message did not reach the model in its place"},
		{Name: "in reverse", Check: "basic/content-array", CaseID: "blocks", Steps: told(block, ofOne, array("third", "second", "first")), Verdict: report.Fail, Message: "block 2 of the message did not reach the model in its place"},
	})
}

func TestMediaAndWhatIsSaidBesideThem(t *testing.T) {
	for _, c := range []struct {
		caseID, kind string
		medium       any
		other        any // another form of it
	}{
		{"image", "image", server.Image("image/png", story.WeatherMap), server.Image("image/jpeg", []byte("another form"))},
		{"audio", "audio", server.Audio("audio/wav", silence), server.Audio("audio/wav", []byte("another form"))},
	} {
		sent := tracetest.Asking("")
		sent.Messages[0].Content = []any{c.medium, server.Text(besideText)}
		given := func(blocks ...any) func(*tracetest.Story) {
			return func(s *tracetest.Story) {
				changed := tracetest.Asking("")
				changed.Messages[0].Content = blocks
				s.Asks(sent).Prompts(changed).Answers(tracetest.Saying("Nothing much."))
			}
		}
		refused := func(s *tracetest.Story) { s.Asks(sent).Refuses(-32602, "text only").PassesBarrier() }
		declined := `, and says so: "text only" (code -32602)`
		tracetest.Run(t, catalogue, []tracetest.Test{
			{Name: "reaches the model", Check: "basic/media", CaseID: c.caseID, Steps: given(c.medium, server.Text(besideText)), Verdict: report.Pass, Message: "the " + c.kind + " reached the model"},
			{Name: "in another form", Check: "basic/media", CaseID: c.caseID, Steps: given(server.Text(besideText), c.other), Verdict: report.Pass, Message: "the " + c.kind + " reached the model"},
			{Name: "in a part that is nobody's", Check: "basic/media", CaseID: c.caseID, Dialects: tracetest.Native, Verdict: report.Pass, Message: "the " + c.kind + " reached the model",
				Steps: given(story.Object{"type": "file", "file": "data:x;base64," + story.Base64Of(map[string][]byte{"image": story.WeatherMap, "audio": silence}[c.kind])}, server.Text(besideText))},
			{Name: "is refused", Check: "basic/media", CaseID: c.caseID, In: tracetest.InA, Steps: refused, Verdict: report.Pass, Message: "the client does not pass " + c.kind + " on" + declined},
			{Name: "is refused by silence", Check: "basic/media", CaseID: c.caseID, In: tracetest.InB, Steps: func(s *tracetest.Story) { s.Asks(sent).PassesBarrier() }, Verdict: report.Pass,
				Message: "the client does not pass " + c.kind + " on, and says so: it did not fulfil the input request"},
			{Name: "is dropped", Check: "basic/media", CaseID: c.caseID, Steps: given(server.Text(besideText)), Verdict: report.Fail, Message: "the " + c.kind + " never reached the model, and no error says so"},
			{Name: "has a word in its place", Check: "basic/media", CaseID: c.caseID, Steps: given(server.Text("["+c.kind+"]"), server.Text(besideText)), Verdict: report.Fail,
				Message: "the " + c.kind + " never reached the model, and no error says so"},

			{Name: "text with it", Check: "basic/text-beside-media", CaseID: c.caseID, Steps: given(server.Text(besideText), c.medium), Verdict: report.Pass, Message: "the text beside the " + c.kind + " reached the model"},
			{Name: "text without it", Check: "basic/text-beside-media", CaseID: c.caseID, Steps: given(server.Text("Said: " + besideText)), Verdict: report.Pass, Message: "the text beside the " + c.kind + " reached the model"},
			{Name: "no text", Check: "basic/text-beside-media", CaseID: c.caseID, Steps: given(c.medium), Verdict: report.Fail, Message: "the text beside the " + c.kind + " never reached the model"},
			{Name: "refused", Check: "basic/text-beside-media", CaseID: c.caseID, In: tracetest.InA, Steps: refused, Verdict: report.NotApplicable, Message: "the client does not pass " + c.kind + " on" + declined},
		})
	}
}

func TestWhatTheClientDoesNotKnow(t *testing.T) {
	sent := func() *server.CreateMessageParams {
		p := tracetest.Asking("What is the weather?", story.GetWeather)
		p.Messages = append(p.Messages,
			server.SamplingMessage{Role: "assistant", Content: []any{story.Object{"type": "tool_use", "id": "u", "name": "get_weather", "input": story.Object{}, "_meta": extraMeta}}},
			server.SamplingMessage{Role: "user", Content: []any{story.Object{"type": "tool_result", "toolUseId": "u", "content": []any{server.Text("windy")}, "_meta": extraMeta}}})
		return p
	}
	given := func(i int, meta any) func(*tracetest.Story) {
		return func(s *tracetest.Story) {
			changed := sent()
			if i > 0 {
				changed.Messages[i].Content.([]any)[0].(story.Object)["_meta"] = meta
			}
			s.Asks(sent()).Prompts(changed).Answers(tracetest.Saying("Windy."))
		}
	}
	const kept = "_meta went with the tool use and its result"
	tracetest.Run(t, catalogue, []tracetest.Test{
		{Name: "is let be", Check: "basic/unknown-extras", CaseID: "extras", Steps: tracetest.Right, Verdict: report.Pass, Message: "a request with unknown fields was answered"},
		{Name: "is an error to it", Check: "basic/unknown-extras", CaseID: "extras", In: tracetest.InA, Verdict: report.Fail,
			Steps: func(s *tracetest.Story) {
				s.Asks(tracetest.Asking("?")).Refuses(-32602, "unknown field")
				s.PassesBarrier()
			},
			Message: `a request with unknown fields was not answered: request 1 was answered by the error "unknown field" (code -32602)`},
		{Name: "is an error, as all is", Check: "basic/unknown-extras", CaseID: "extras", In: tracetest.InA, Steps: func(s *tracetest.Story) { s.Asks(tracetest.Asking("?")).Refuses(-1, "no") },
			Verdict: report.NotObserved, Message: "the client answers no request at all (see basic/answered)"},

		{Name: "goes with its block", Check: "basic/meta-preserved", CaseID: "meta", Steps: given(0, nil), Dialects: tracetest.Native, Verdict: report.Pass, Message: kept},
		{Name: "goes with its block, in another order", Check: "basic/meta-preserved", CaseID: "meta", Dialects: tracetest.Native, Verdict: report.Pass, Message: kept,
			Steps: given(1, story.Object{"com.example/trace": "trace-word-nine"})},
		{Name: "is lost from the use", Check: "basic/meta-preserved", CaseID: "meta", Steps: given(1, nil), Dialects: tracetest.Native, Verdict: report.Warn, Message: "the _meta of a tool_use did not go with it"},
		{Name: "is lost from the result", Check: "basic/meta-preserved", CaseID: "meta", Steps: given(2, story.Object{}), Dialects: tracetest.Native, Verdict: report.Warn, Message: "the _meta of a tool_result did not go with it"},
		{Name: "has no place with the provider", Check: "basic/meta-preserved", CaseID: "meta", Steps: given(0, nil), Dialects: tracetest.OpenAI, Verdict: report.NotApplicable, Message: "the provider's format has no place for _meta"},
		{Name: "is lost with its block", Check: "basic/meta-preserved", CaseID: "meta", Dialects: tracetest.Native, Verdict: report.NotObserved,
			Message: "the tool_uses of the history did not reach the model (see parallel/results-reach-model)",
			Steps: func(s *tracetest.Story) {
				s.Asks(sent()).Prompts(tracetest.Asking("?")).Answers(tracetest.Saying("Windy."))
			}},
	})
}

func TestContexts(t *testing.T) {
	mark := (&harness.Case{ID: "basic/context"}).Mark()
	ask := func(n int, said string) *server.CreateMessageParams {
		p := tracetest.Asking(said)
		p.SystemPrompt = fmt.Sprintf("You are a helpful assistant. (conversation %sn%d)", mark, n)
		return p
	}
	// leaks is a client that adds something to the second request.
	leaks := func(more string) func(*tracetest.Story) {
		return func(s *tracetest.Story) {
			s.Asks(ask(1, "The code word is swordfish.")).Prompts(ask(1, "The code word is swordfish.")).Answers(tracetest.Saying("Fine."))
			s.Asks(ask(2, "What do you know?")).Prompts(ask(2, "What do you know?"+more)).Answers(tracetest.Saying("Nothing."))
		}
	}
	const clean = "the model was given nothing of another conversation"
	tracetest.Run(t, catalogue, []tracetest.Test{
		{Name: "nothing", Check: "basic/no-foreign-context", CaseID: "context", Steps: leaks(""), Verdict: report.Pass, Message: clean},
		{Name: "the client's own words", Check: "basic/no-foreign-context", CaseID: "context", Steps: leaks(" It is noon. mk is a word."), Verdict: report.Pass, Message: clean},
		{Name: "its own mark", Check: "basic/no-foreign-context", CaseID: "context", Steps: leaks(" (conversation " + mark + "n2)"), Verdict: report.Pass, Message: clean},
		{Name: "the conversation before", Check: "basic/no-foreign-context", CaseID: "context", Steps: leaks(" (conversation " + mark + "n1)"), Verdict: report.Fail,
			Message: "the model was given something of another conversation (" + mark + "n1, of basic/context)"},
		{Name: "a conversation whose number begins alike", Check: "basic/no-foreign-context", CaseID: "context", Steps: leaks(" (conversation " + mark + "n21)"), Verdict: report.Fail,
			Message: "the model was given something of another conversation (" + mark + "n21, of basic/context)"},

		{Name: "all answered", Check: "basic/include-context", CaseID: "context", Verdict: report.Info, Message: "none is answered, thisServer is answered, allServers is answered",
			Steps: func(s *tracetest.Story) {
				leaks("")(s)
				for n := 3; n < 5; n++ {
					s.Asks(ask(n, "?")).Prompts(ask(n, "?")).Answers(tracetest.Saying("Nothing."))
				}
			}},
		{Name: "one refused", Check: "basic/include-context", CaseID: "context", In: tracetest.InA, Verdict: report.Info, Message: "none is answered, thisServer is not answered, allServers was not asked",
			Steps: func(s *tracetest.Story) { leaks("")(s); s.Asks(ask(3, "?")).Refuses(-32602, "out of use") }},
	})
}

func TestConversationsInAText(t *testing.T) {
	for text, want := range map[string][]string{
		"":                              nil,
		"mkabc":                         nil,
		"mkabcn":                        nil,
		"(mkabcn1)":                     {"mkabcn1"},
		"mkabcn1mkabcn12 mkabcn1 mkabc": {"mkabcn1", "mkabcn12"},
		"mkabcnmkabcn3":                 {"mkabcn3"},
	} {
		require.Equal(t, want, evidence.Conversations([]byte(text), "mkabc"), text)
	}
	require.Nil(t, evidence.Conversations([]byte("n1 n2"), ""), "a case without a mark has none")
}
