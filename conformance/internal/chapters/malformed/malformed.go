package malformed

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/internal/malformed"
)

// Requests that are not well-formed, or that are and make no sense: one in each case, between plain questions that show whether the client is
// still there. What is wrong with each is a row of malformations; the frames of the corpus are made from a seed.
var Scenario = check.Scenario{
	ID:        MalformedID,
	Purpose:   "requests that are not well-formed: no crash, no hang, and an error where one is due",
	Revisions: check.AllRevisions(),
	Cases:     slices.Concat(malformedCases, corpus),
	Checks: []check.Check{
		survives, malformedAnswered, malformedAlive, errorDue, wrongTypes, malformedCode, malformedNoModelCall, badSchema, tolerated,
	},
}

const MalformedID = "malformed"

// malformation is one thing that can be wrong with a request.
type malformation struct {
	id string
	// at is where it is wrong, and says what is.
	at, says string
	// sort is what a client owes for it.
	sort sortOfWrong
	// tools is true where it takes a client that declares tools.
	tools bool
	// edit makes a valid request the wrong one.
	edit func(params story.Object)
}

// sortOfWrong says what is due for a malformation.
type sortOfWrong int

const (
	due       sortOfWrong = iota // an error
	wrongType                    // an error, for a required field of another type
	ignorable                    // an error, or nothing: the field need not be heeded at all
	valid                        // nothing: the schema has nothing against it
)

// The parts of a request that malformations change.
func firstMessage(p story.Object) story.Object { return p["messages"].([]any)[0].(story.Object) }
func firstBlock(p story.Object) story.Object   { return firstMessage(p)["content"].(story.Object) }
func firstTool(p story.Object) story.Object    { return p["tools"].([]any)[0].(story.Object) }

// put gives a member of a part a value.
func put(part func(story.Object) story.Object, name string, value any) func(story.Object) {
	return func(p story.Object) { part(p)[name] = value }
}

// leaveOut takes a member out of a part.
func leaveOut(part func(story.Object) story.Object, name string) func(story.Object) {
	return func(p story.Object) { delete(part(p), name) }
}

// the is the request itself, as a part.
func the(p story.Object) story.Object { return p }

// withTool is an edit of a request that has a tool.
func withTool(edit func(story.Object)) func(story.Object) {
	return func(p story.Object) {
		var tools []any
		if err := json.Unmarshal(story.JSON([]server.Tool{story.GetWeather}), &tools); err != nil {
			panic(err)
		}
		p["tools"] = tools
		edit(p)
	}
}

// withHistory is an edit of a request with a tool, a use of it and its result.
func withHistory(part func(use, result story.Object) story.Object, name string) func(value any) func(story.Object) {
	return func(value any) func(story.Object) {
		return withTool(func(p story.Object) {
			use := story.Object{"type": "tool_use", "id": "use-one", "name": "get_weather", "input": story.Object{"city": "Oslo"}}
			result := story.Object{"type": "tool_result", "toolUseId": "use-one", "content": []any{story.Object{"type": "text", "text": "windy"}}}
			part(use, result)[name] = value
			p["messages"] = append(p["messages"].([]any), story.Object{"role": "assistant", "content": []any{use}}, story.Object{"role": "user", "content": []any{result}})
		})
	}
}

func aUse(use, _ story.Object) story.Object       { return use }
func aResult(_, result story.Object) story.Object { return result }

// withImage is an edit of a request whose first message is an image, and its question the second.
func withImage(name string) func(value any) func(story.Object) {
	return func(value any) func(story.Object) {
		return func(p story.Object) {
			image := story.Object{"type": "image", "data": story.Base64Of(story.WeatherMap), "mimeType": "image/png"}
			image[name] = value
			p["messages"] = append([]any{story.Object{"role": "user", "content": image}}, p["messages"].([]any)...)
		}
	}
}

// setting is an edit of a member, for a value that is yet to be chosen.
func setting(part func(story.Object) story.Object, name string) func(value any) func(story.Object) {
	return func(value any) func(story.Object) { return put(part, name, value) }
}

func settingTool(part func(story.Object) story.Object, name string) func(value any) func(story.Object) {
	return func(value any) func(story.Object) { return withTool(put(part, name, value)) }
}

// longest is what long-string sends, in bytes.
const longest = 16 << 20

// longWait is how much longer a client is given for it: reading slowly is no hanging.
const longWait = 20 * time.Second

// deepest is how many levels deep-nesting has.
const deepest = 1000

func nested(levels int) any {
	var value any = "deep"
	for range levels {
		value = []any{value}
	}
	return value
}

// malformations are all of them, in the order of the catalogue.
var malformations = slices.Concat([]malformation{
	{"unknown-role", "messages[0].role", `the role is "robot"`, due, false, put(firstMessage, "role", "robot")},
	{"system-role", "messages[0].role", `the role is "system"`, due, false, put(firstMessage, "role", "system")},
	{"missing-role", "messages[0]", "the message has no role", due, false, leaveOut(firstMessage, "role")},
	{"missing-messages", "", "there are no messages", due, false, leaveOut(the, "messages")},
	{"null-message", "messages[0]", "the message is null", due, false, put(the, "messages", []any{nil})},
	{"null-content", "messages[0].content", "the content is null", due, false, put(firstMessage, "content", nil)},
	{"unknown-content-type", "messages[0].content.type", `the content is of the type "hologram"`, due, false, put(firstBlock, "type", "hologram")},
	{"content-string", "messages[0].content", "the content is a string, where blocks belong", due, false, func(p story.Object) {
		firstMessage(p)["content"] = firstBlock(p)["text"]
	}},
	{"bad-base64", "messages[0].content.data", "the image is not base64", due, false, withImage("data")("this is no base64!")},
	{"missing-max-tokens", "", "there is no maxTokens", due, false, leaveOut(the, "maxTokens")},
	{"unknown-tool-choice", "toolChoice.mode", `the tool choice is "perhaps"`, due, true, withTool(put(the, "toolChoice", story.Object{"mode": "perhaps"}))},
	{"null-tool", "tools[0]", "the tool is null", due, true, withTool(put(the, "tools", []any{nil}))},
	{"tool-without-schema", "tools[0]", "the tool has no inputSchema", due, true, withTool(leaveOut(firstTool, "inputSchema"))},
}, wrongly(wrongType,
	field{"messages", "messages", false, setting(the, "messages"), []string{"array"}},
	field{"max-tokens", "maxTokens", false, setting(the, "maxTokens"), []string{"number"}},
	field{"role", "messages[0].role", false, setting(firstMessage, "role"), []string{"string"}},
	field{"content", "messages[0].content", false, setting(firstMessage, "content"), []string{"object", "array", "string"}},
	field{"type", "messages[0].content.type", false, setting(firstBlock, "type"), []string{"string"}},
	field{"text", "messages[0].content.text", false, setting(firstBlock, "text"), []string{"string"}},
	field{"data", "messages[0].content.data", false, withImage("data"), []string{"string"}},
	field{"mime-type", "messages[0].content.mimeType", false, withImage("mimeType"), []string{"string"}},
	field{"tool-name", "tools[0].name", true, settingTool(firstTool, "name"), []string{"string"}},
	field{"input-schema", "tools[0].inputSchema", true, settingTool(firstTool, "inputSchema"), []string{"object"}},
	field{"use-id", "messages[1].content[0].id", true, withHistory(aUse, "id"), []string{"string"}},
	field{"use-name", "messages[1].content[0].name", true, withHistory(aUse, "name"), []string{"string"}},
	field{"use-input", "messages[1].content[0].input", true, withHistory(aUse, "input"), []string{"object"}},
	field{"result-id", "messages[2].content[0].toolUseId", true, withHistory(aResult, "toolUseId"), []string{"string"}},
	field{"result-content", "messages[2].content[0].content", true, withHistory(aResult, "content"), []string{"array"}},
), wrongly(ignorable,
	field{"system-prompt", "systemPrompt", false, setting(the, "systemPrompt"), []string{"string"}},
	field{"temperature", "temperature", false, setting(the, "temperature"), []string{"number"}},
	field{"stop-sequences", "stopSequences", false, setting(the, "stopSequences"), []string{"array"}},
	field{"preferences", "modelPreferences", false, setting(the, "modelPreferences"), []string{"object"}},
	field{"include-context", "includeContext", false, setting(the, "includeContext"), []string{"string"}},
	field{"metadata", "metadata", false, setting(the, "metadata"), []string{"object"}},
	field{"meta", "_meta", false, setting(the, "_meta"), []string{"object"}},
	field{"tools", "tools", true, setting(the, "tools"), []string{"array"}},
	field{"tool-choice", "toolChoice", true, settingTool(the, "toolChoice"), []string{"object"}},
), []malformation{
	{"empty-messages", "messages", "there is no message", valid, false, put(the, "messages", []any{})},
	{"zero-max-tokens", "maxTokens", "maxTokens is 0", valid, false, put(the, "maxTokens", 0)},
	{"negative-max-tokens", "maxTokens", "maxTokens is -1", valid, false, put(the, "maxTokens", -1)},
	{"huge-max-tokens", "maxTokens", "maxTokens is 2^53-1", valid, false, put(the, "maxTokens", 1<<53-1)},
	{"fractional-max-tokens", "maxTokens", "maxTokens is 99.5", valid, false, put(the, "maxTokens", 99.5)},
	{"duplicate-tool-names", "tools[1].name", "two tools have one name", valid, true, withTool(func(p story.Object) {
		p["tools"] = append(p["tools"].([]any), firstTool(p))
	})},
	{badSchemaCase, "tools[0].inputSchema.properties.city.type", `the schema of the tool has the type "strin"`, valid, true, withTool(func(p story.Object) {
		firstTool(p)["inputSchema"] = story.Object{"type": "object", "properties": story.Object{"city": story.Object{"type": "strin"}}}
	})},
	{"deep-nesting", "metadata", fmt.Sprintf("the metadata are nested %d levels deep", deepest), valid, false, put(the, "metadata", story.Object{"deep": nested(deepest)})},
	{longString, "messages[0].content.text", "the text is 16 MiB long", valid, false, func(p story.Object) {
		block := firstBlock(p)
		block["text"] = strings.Repeat("0123456789abcdef", longest/16) + " " + block["text"].(string)
	}},
})

// Cases with a rule of their own.
const (
	longString    = "long-string"
	badSchemaCase = "tool-bad-schema"
)

// field is one that can have a wrong type: its name, where it is, whether it takes tools, how it is set, and the types that it may have or that are
// another malformation.
type field struct {
	name, at string
	tools    bool
	set      func(value any) func(story.Object)
	types    []string
}

// wrongSeed is that from which the wrong types are chosen.
const wrongSeed = 1

// wrongly makes each of the fields one of a wrong type.
func wrongly(sort sortOfWrong, fields ...field) []malformation {
	var all []malformation
	for i, f := range fields {
		raw := malformed.WrongType(rand.New(rand.NewPCG(wrongSeed, uint64(sort)<<32|uint64(i))), f.types...)
		all = append(all, malformation{"wrong-" + f.name, f.at, fmt.Sprintf("%s is %s", f.at, raw), sort, f.tools, f.set(json.RawMessage(raw))})
	}
	return all
}

// malformedCases are a case for each malformation.
var malformedCases = func() []harness.Case {
	var cases []harness.Case
	for i := range malformations {
		m := &malformations[i]
		c := HostileCase(m.id, func(s *server.Session) (json.RawMessage, bool, error) {
			var params story.Object
			if err := json.Unmarshal(story.JSON(s.Ask("Which colour is the sky?")), &params); err != nil {
				return nil, false, err
			}
			m.edit(params)
			return story.JSON(params), m.tools, nil
		})
		if m.tools {
			c.Revisions = check.WithTools
		}
		if m.id == longString {
			c.Wait = longWait
		}
		cases = append(cases, c)
	}
	return cases
}()

// sorted are the names of the cases of a sort.
func sorted(sorts ...sortOfWrong) []string {
	var ids []string
	for _, m := range malformations {
		if slices.Contains(sorts, m.sort) {
			ids = append(ids, m.id)
		}
	}
	return ids
}

// corpusSize is how many frames every run plays that are made from corpusSeed.
const (
	CorpusSize = 24
	CorpusSeed = 1
)

// corpus are the cases of the frames that every run plays, which are others in each revision.
var corpus = func() []harness.Case {
	var cases []harness.Case
	for n := range CorpusSize {
		cases = append(cases, Generated(fmt.Sprintf("corpus-%02d", n+1), CorpusSeed, n))
	}
	return cases
}()

// generated is the case of a frame that is made from a seed.
func Generated(name string, seed int64, n int) harness.Case {
	return HostileCase(name, func(s *server.Session) (json.RawMessage, bool, error) {
		f := malformed.Generate(string(s.Revision()), seed, n)
		return Addressed(f.Params, name), f.Tools, nil
	})
}

// addressed are params with the words of the case in the place of those that stand for them.
func Addressed(params json.RawMessage, name string) json.RawMessage {
	c := harness.Case{ID: MalformedID + "/" + name}
	return bytes.ReplaceAll(params, []byte(malformed.Conversation), []byte(c.Mark()+"n0"))
}

// hostileCase is a case in which the client is asked a plain question, then something malformed, which takes tools or not, and then a plain
// question again. In the second era a client that refuses never comes back to the play: the question that follows is that of the next case.
func HostileCase(name string, request func(*server.Session) (params json.RawMessage, tools bool, err error)) harness.Case {
	return harness.Case{ID: MalformedID + "/" + name, Hostile: true, Barrier: true, Make: func(harness.Limits) harness.Stage {
		var late lateness
		play := func(s *server.Session) (any, error) {
			if _, err := s.Sample(s.Ask("Are you there?")); err != nil {
				return nil, err
			}
			params, tools, err := request(s)
			switch {
			case err != nil:
				return nil, err
			case tools && !s.Declares("sampling", "tools"):
				return s.Sample(s.Ask("What is the weather like?", story.GetWeather)) // withheld, which is noted
			case s.Revision().Modern():
				return s.Sample(server.Hostile(params))
			case len(params) > longest:
				if _, err := s.Sample(server.Hostile(params)); err != nil && !server.Refused(err) {
					return nil, err
				}
				return s.Sample(s.Ask("Are you still there?"))
			}
			posed, err := s.Start(server.Hostile(params))
			if err != nil {
				return nil, err
			}
			there := story.Either(patience, posed.Done(), nil)
			result, err := s.Sample(s.Ask("Are you still there?"))
			if err == nil && !there && !story.Either(patience/4, posed.Done(), nil) {
				late.wait()
			}
			return result, err
		}
		return harness.Stage{Handler: play, Rules: story.Says("As you like.")(""), Settled: late.settled}
	}}
}

// patience is how long an answer is waited for, until something else is asked. Some clients never answer what they cannot read, and a client
// that answers later, as late as its session goes on, has answered all the same: its barrier waits.
const patience = 200 * time.Millisecond

// lateness is until when the barrier waits for answers that had not come when the play went on. As that is counted from each play, many requests
// that are never answered take no longer than the last of them.
type lateness struct {
	mu    sync.Mutex
	until time.Time // zero where nothing is late
}

func (l *lateness) wait() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.until = time.Now().Add(story.Reaction)
}

// settled lets the time pass: once the play is over nothing but the trace tells of an answer.
func (l *lateness) settled(ctx context.Context) {
	l.mu.Lock()
	left := time.Until(l.until)
	l.mu.Unlock()
	story.Either(left, ctx.Done(), nil)
}

// malformationOf is what is wrong in a case; nil for one that was made from a seed.
func malformationOf(caseID string) *malformation {
	_, name, _ := strings.Cut(caseID, "/")
	for i := range malformations {
		if malformations[i].id == name {
			return &malformations[i]
		}
	}
	return nil
}

// wrongIn says what is wrong with the request of a case.
func wrongIn(caseID string) string {
	if m := malformationOf(caseID); m != nil {
		return m.says
	}
	return "something is wrong that was made from a seed"
}
