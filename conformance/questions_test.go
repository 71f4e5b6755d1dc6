package conformance

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

func TestHints(t *testing.T) {
	// asks is a client that asks these models in the rounds of the case.
	asks := func(models [hintRounds]string) func(*story) {
		return func(s *story) {
			for i, model := range models {
				p := asking("Which model are you?")
				if preferred[i] != nil {
					p.ModelPreferences = preferred[i]
				}
				body := with(string(asJSON(asChat(p))), "model", fmt.Sprintf("%q", model))
				s.asks(p).prompt(body, trace.ModelEnd{Status: 200}).answers(saying("A scripted one."))
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
	var tellings []telling
	add := func(check, name string, models [hintRounds]string, verdict report.Verdict, message string) {
		tellings = append(tellings, telling{name: name, check: "basic/" + check, caseID: "hints", tell: asks(models), dialects: openAI, verdict: verdict, message: message})
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
	hold(t, catalogue, tellings)
}

// text is a message of one text.
func text(role, said string) server.SamplingMessage {
	return server.SamplingMessage{Role: role, Content: server.Text(said)}
}

func TestHistories(t *testing.T) {
	history := []server.SamplingMessage{text("user", "one"), text("assistant", "two"), text("user", "three"), text("user", "four")}
	given := func(messages ...server.SamplingMessage) func(*story) {
		return func(s *story) {
			sent, changed := asking(""), asking("")
			sent.Messages, changed.Messages = history, messages
			s.asks(sent).prompts(changed).answers(saying("five"))
		}
	}
	const arrived = "the history reached the model in order"
	lost := func(n int) string {
		return fmt.Sprintf("message %d of the history did not reach the model in its place and under its role", n)
	}
	hold(t, catalogue, []telling{
		{name: "as it was", check: "basic/multi-turn", caseID: "turns", tell: given(history...), verdict: report.Pass, message: arrived},
		{name: "neighbours merged", check: "basic/multi-turn", caseID: "turns", tell: given(text("user", "one"), text("assistant", "two"), text("user", "three\n\nfour")), verdict: report.Pass, message: arrived},
		{name: "neighbours merged without a word between them", check: "basic/multi-turn", caseID: "turns", dialects: native, verdict: report.Pass, message: arrived,
			tell: given(text("user", "one"), text("assistant", "two"), server.SamplingMessage{Role: "user", Content: []any{server.Text("three"), server.Text("four")}})},
		{name: "after messages of the client's own", check: "basic/multi-turn", caseID: "turns", verdict: report.Pass, message: arrived,
			tell: given(append([]server.SamplingMessage{text("user", "Hello."), text("assistant", "Hello."), text("user", "Now:")}, history...)...)},
		{name: "with the system prompt in the first", check: "basic/multi-turn", caseID: "turns", verdict: report.Pass, message: arrived,
			tell: given(text("user", "You are helpful.\n\none"), text("assistant", "two"), text("user", "three"), text("user", "four (please)"))},
		{name: "with filler between neighbours", check: "basic/multi-turn", caseID: "turns", verdict: report.Pass, message: arrived,
			tell: given(text("user", "one"), text("assistant", "two"), text("user", "three"), text("assistant", "Yes?"), text("user", "four"))},
		{name: "as one text", check: "basic/multi-turn", caseID: "turns", tell: given(text("user", "User: one\nAssistant: two\nUser: three\nUser: four")), verdict: report.Warn,
			message: "the history reached the model in its order, and without its roles: as one text of the user"},
		{name: "the last alone", check: "basic/multi-turn", caseID: "turns", tell: given(text("user", "four")), verdict: report.Fail, message: lost(1)},
		{name: "without what the model said", check: "basic/multi-turn", caseID: "turns", tell: given(text("user", "one"), text("user", "three"), text("user", "four")), verdict: report.Fail, message: lost(2)},
		{name: "in another order", check: "basic/multi-turn", caseID: "turns", tell: given(text("user", "three"), text("user", "four"), text("assistant", "two"), text("user", "one")), verdict: report.Fail, message: lost(2)},
		{name: "roles swapped", check: "basic/multi-turn", caseID: "turns", tell: given(text("assistant", "one"), text("user", "two"), text("assistant", "three"), text("user", "four")), verdict: report.Fail, message: lost(1)},
	})
}

func TestBlocksAndArraysOfThem(t *testing.T) {
	array := func(texts ...string) *server.CreateMessageParams {
		blocks := []any{}
		for _, said := range texts {
			blocks = append(blocks, server.Text(said))
		}
		p := asking("")
		p.Messages[0].Content = blocks
		return p
	}
	block, ofOne, ofThree := asking(blockText), array(blockText), array("first", "second", "third")
	told := func(given ...*server.CreateMessageParams) func(*story) {
		return func(s *story) {
			for i, sent := range []*server.CreateMessageParams{block, ofOne, ofThree} {
				s.asks(sent).prompts(given[i]).answers(saying("So it is."))
			}
		}
	}
	right := told(block, ofOne, ofThree)
	hold(t, catalogue, []telling{
		{name: "both", check: "basic/single-and-array", caseID: "blocks", tell: right, verdict: report.Pass, message: "both were answered"},
		{name: "the block alone", check: "basic/single-and-array", caseID: "blocks", in: inA, verdict: report.Fail,
			tell: func(s *story) {
				asked(block, saying("So."))(s)
				s.asks(ofOne).refuses(-32602, "content: want an object")
			},
			message: `content as an array of one block was not answered, and as the block alone it was: request 2 was answered by the error "content: want an object" (code -32602)`},
		{name: "neither", check: "basic/single-and-array", caseID: "blocks", tell: func(s *story) { s.asks(block) }, verdict: report.NotObserved,
			message: "the play did not get as far as sampling request 2: no answer came for request 1"},

		{name: "alike", check: "basic/same-effect", caseID: "blocks", tell: right, verdict: report.Pass, message: "both reached the model alike"},
		{name: "alike, within more", check: "basic/same-effect", caseID: "blocks", tell: told(asking("At noon: "+blockText), asking("At one: "+blockText), ofThree), verdict: report.Pass, message: "both reached the model alike"},
		{name: "as JSON", check: "basic/same-effect", caseID: "blocks", tell: told(block, asking(string(asJSON(ofOne.Messages[0].Content))), ofThree), verdict: report.Fail,
			message: "the text of an array of one block did not reach the model, and that of the block alone did"},
		{name: "empty", check: "basic/same-effect", caseID: "blocks", tell: told(block, asking("[object Object]"), ofThree), verdict: report.Fail,
			message: "the text of an array of one block did not reach the model, and that of the block alone did"},
		{name: "neither as it was", check: "basic/same-effect", caseID: "blocks", tell: told(asking("?"), asking("?"), ofThree), verdict: report.NotObserved,
			message: "the text of a block alone did not reach the model (see basic/prompt-reaches-model)"},

		{name: "in order", check: "basic/content-array", caseID: "blocks", tell: right, verdict: report.Pass, message: "the blocks reached the model in order"},
		{name: "as one text", check: "basic/content-array", caseID: "blocks", tell: told(block, ofOne, asking("first\nsecond\nthird")), verdict: report.Pass, message: "the blocks reached the model in order"},
		{name: "as several messages", check: "basic/content-array", caseID: "blocks", verdict: report.Pass, message: "the blocks reached the model in order",
			tell: func(s *story) {
				several := asking("")
				several.Messages = []server.SamplingMessage{text("user", "first"), text("user", "second"), text("user", "third")}
				told(block, ofOne, several)(s)
			}},
		{name: "the first alone", check: "basic/content-array", caseID: "blocks", tell: told(block, ofOne, asking("first")), verdict: report.Fail, message: "block 2 of the message did not reach the model in its place"},
		{name: "in reverse", check: "basic/content-array", caseID: "blocks", tell: told(block, ofOne, array("third", "second", "first")), verdict: report.Fail, message: "block 2 of the message did not reach the model in its place"},
	})
}

func TestMediaAndWhatIsSaidBesideThem(t *testing.T) {
	for _, c := range []struct {
		caseID, kind string
		medium       any
		other        any // another form of it
	}{
		{"image", "image", server.Image("image/png", weatherMap), server.Image("image/jpeg", []byte("another form"))},
		{"audio", "audio", server.Audio("audio/wav", silence), server.Audio("audio/wav", []byte("another form"))},
	} {
		sent := asking("")
		sent.Messages[0].Content = []any{c.medium, server.Text(besideText)}
		given := func(blocks ...any) func(*story) {
			return func(s *story) {
				changed := asking("")
				changed.Messages[0].Content = blocks
				s.asks(sent).prompts(changed).answers(saying("Nothing much."))
			}
		}
		refused := func(s *story) { s.asks(sent).refuses(-32602, "text only").passesBarrier() }
		declined := `, and says so: "text only" (code -32602)`
		hold(t, catalogue, []telling{
			{name: "reaches the model", check: "basic/media", caseID: c.caseID, tell: given(c.medium, server.Text(besideText)), verdict: report.Pass, message: "the " + c.kind + " reached the model"},
			{name: "in another form", check: "basic/media", caseID: c.caseID, tell: given(server.Text(besideText), c.other), verdict: report.Pass, message: "the " + c.kind + " reached the model"},
			{name: "in a part that is nobody's", check: "basic/media", caseID: c.caseID, dialects: native, verdict: report.Pass, message: "the " + c.kind + " reached the model",
				tell: given(object{"type": "file", "file": "data:x;base64," + base64Of(map[string][]byte{"image": weatherMap, "audio": silence}[c.kind])}, server.Text(besideText))},
			{name: "is refused", check: "basic/media", caseID: c.caseID, in: inA, tell: refused, verdict: report.Pass, message: "the client does not pass " + c.kind + " on" + declined},
			{name: "is refused by silence", check: "basic/media", caseID: c.caseID, in: inB, tell: func(s *story) { s.asks(sent).passesBarrier() }, verdict: report.Pass,
				message: "the client does not pass " + c.kind + " on, and says so: it did not fulfil the input request"},
			{name: "is dropped", check: "basic/media", caseID: c.caseID, tell: given(server.Text(besideText)), verdict: report.Fail, message: "the " + c.kind + " never reached the model, and no error says so"},
			{name: "has a word in its place", check: "basic/media", caseID: c.caseID, tell: given(server.Text("["+c.kind+"]"), server.Text(besideText)), verdict: report.Fail,
				message: "the " + c.kind + " never reached the model, and no error says so"},

			{name: "text with it", check: "basic/text-beside-media", caseID: c.caseID, tell: given(server.Text(besideText), c.medium), verdict: report.Pass, message: "the text beside the " + c.kind + " reached the model"},
			{name: "text without it", check: "basic/text-beside-media", caseID: c.caseID, tell: given(server.Text("Said: " + besideText)), verdict: report.Pass, message: "the text beside the " + c.kind + " reached the model"},
			{name: "no text", check: "basic/text-beside-media", caseID: c.caseID, tell: given(c.medium), verdict: report.Fail, message: "the text beside the " + c.kind + " never reached the model"},
			{name: "refused", check: "basic/text-beside-media", caseID: c.caseID, in: inA, tell: refused, verdict: report.NotApplicable, message: "the client does not pass " + c.kind + " on" + declined},
		})
	}
}

func TestWhatTheClientDoesNotKnow(t *testing.T) {
	sent := func() *server.CreateMessageParams {
		p := asking("What is the weather?", getWeather)
		p.Messages = append(p.Messages,
			server.SamplingMessage{Role: "assistant", Content: []any{object{"type": "tool_use", "id": "u", "name": "get_weather", "input": object{}, "_meta": extraMeta}}},
			server.SamplingMessage{Role: "user", Content: []any{object{"type": "tool_result", "toolUseId": "u", "content": []any{server.Text("windy")}, "_meta": extraMeta}}})
		return p
	}
	given := func(i int, meta any) func(*story) {
		return func(s *story) {
			changed := sent()
			if i > 0 {
				changed.Messages[i].Content.([]any)[0].(object)["_meta"] = meta
			}
			s.asks(sent()).prompts(changed).answers(saying("Windy."))
		}
	}
	const kept = "_meta went with the tool use and its result"
	hold(t, catalogue, []telling{
		{name: "is let be", check: "basic/unknown-extras", caseID: "extras", tell: right, verdict: report.Pass, message: "a request with unknown fields was answered"},
		{name: "is an error to it", check: "basic/unknown-extras", caseID: "extras", in: inA, verdict: report.Fail,
			tell:    func(s *story) { s.asks(asking("?")).refuses(-32602, "unknown field"); s.passesBarrier() },
			message: `a request with unknown fields was not answered: request 1 was answered by the error "unknown field" (code -32602)`},
		{name: "is an error, as all is", check: "basic/unknown-extras", caseID: "extras", in: inA, tell: func(s *story) { s.asks(asking("?")).refuses(-1, "no") },
			verdict: report.NotObserved, message: "the client answers no request at all (see basic/answered)"},

		{name: "goes with its block", check: "basic/meta-preserved", caseID: "meta", tell: given(0, nil), dialects: native, verdict: report.Pass, message: kept},
		{name: "goes with its block, in another order", check: "basic/meta-preserved", caseID: "meta", dialects: native, verdict: report.Pass, message: kept,
			tell: given(1, object{"com.example/trace": "trace-word-nine"})},
		{name: "is lost from the use", check: "basic/meta-preserved", caseID: "meta", tell: given(1, nil), dialects: native, verdict: report.Warn, message: "the _meta of a tool_use did not go with it"},
		{name: "is lost from the result", check: "basic/meta-preserved", caseID: "meta", tell: given(2, object{}), dialects: native, verdict: report.Warn, message: "the _meta of a tool_result did not go with it"},
		{name: "has no place with the provider", check: "basic/meta-preserved", caseID: "meta", tell: given(0, nil), dialects: openAI, verdict: report.NotApplicable, message: "the provider's format has no place for _meta"},
		{name: "is lost with its block", check: "basic/meta-preserved", caseID: "meta", dialects: native, verdict: report.NotObserved,
			message: "the tool_uses of the history did not reach the model (see parallel/results-reach-model)",
			tell:    func(s *story) { s.asks(sent()).prompts(asking("?")).answers(saying("Windy.")) }},
	})
}

func TestContexts(t *testing.T) {
	mark := (&harness.Case{ID: "basic/context"}).Mark()
	ask := func(n int, said string) *server.CreateMessageParams {
		p := asking(said)
		p.SystemPrompt = fmt.Sprintf("You are a helpful assistant. (conversation %sn%d)", mark, n)
		return p
	}
	// leaks is a client that adds something to the second request.
	leaks := func(more string) func(*story) {
		return func(s *story) {
			s.asks(ask(1, "The code word is swordfish.")).prompts(ask(1, "The code word is swordfish.")).answers(saying("Fine."))
			s.asks(ask(2, "What do you know?")).prompts(ask(2, "What do you know?"+more)).answers(saying("Nothing."))
		}
	}
	const clean = "the model was given nothing of another conversation"
	hold(t, catalogue, []telling{
		{name: "nothing", check: "basic/no-foreign-context", caseID: "context", tell: leaks(""), verdict: report.Pass, message: clean},
		{name: "the client's own words", check: "basic/no-foreign-context", caseID: "context", tell: leaks(" It is noon. mk is a word."), verdict: report.Pass, message: clean},
		{name: "its own mark", check: "basic/no-foreign-context", caseID: "context", tell: leaks(" (conversation " + mark + "n2)"), verdict: report.Pass, message: clean},
		{name: "the conversation before", check: "basic/no-foreign-context", caseID: "context", tell: leaks(" (conversation " + mark + "n1)"), verdict: report.Fail,
			message: "the model was given something of another conversation (" + mark + "n1, of basic/context)"},
		{name: "a conversation whose number begins alike", check: "basic/no-foreign-context", caseID: "context", tell: leaks(" (conversation " + mark + "n21)"), verdict: report.Fail,
			message: "the model was given something of another conversation (" + mark + "n21, of basic/context)"},

		{name: "all answered", check: "basic/include-context", caseID: "context", verdict: report.Info, message: "none is answered, thisServer is answered, allServers is answered",
			tell: func(s *story) {
				leaks("")(s)
				for n := 3; n < 5; n++ {
					s.asks(ask(n, "?")).prompts(ask(n, "?")).answers(saying("Nothing."))
				}
			}},
		{name: "one refused", check: "basic/include-context", caseID: "context", in: inA, verdict: report.Info, message: "none is answered, thisServer is not answered, allServers was not asked",
			tell: func(s *story) { leaks("")(s); s.asks(ask(3, "?")).refuses(-32602, "out of use") }},
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
		require.Equal(t, want, conversations([]byte(text), "mkabc"), text)
	}
	require.Nil(t, conversations([]byte("n1 n2"), ""), "a case without a mark has none")
}
