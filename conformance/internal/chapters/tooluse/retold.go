package tooluse

import (
	"encoding/json"
	"strings"

	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
)

// planTrip has what [story.BookFlight] leaves out of schemas, and a description as long as a page.
var planTrip = server.Tool{
	Name: "plan_trip", Description: "Plans a trip.\n\n" + strings.Repeat("Ask for the dates first. ", 60) + "Then plan.",
	InputSchema: json.RawMessage(`{"type":"object","properties":{
		"start":{"type":"string","format":"date","examples":["2026-07-28"]},
		"room":{"anyOf":[{"type":"string","enum":["single","double"]},{"type":"null"}],"default":null},
		"stops":{"type":"array","items":{"type":"object","properties":{
			"name":{"type":"string"},"kind":{"const":"train"}},"required":["name"],"additionalProperties":false}}}}`),
}

// told is a history with what few models say: messages of one role in a row, texts around tool uses, and the same text
// twice. The results have several blocks, and the one that is an error does not say so.
const told = `[
	{"role":"user","content":[
		{"type":"text","text":"Plan it again, please."},
		{"type":"text","text":"Plan it again, please."},
		{"type":"text","text":"\ufeffIt costs $10 + 20%% {{tax}}, “really”… and <b>$1</b>"}]},
	{"role":"assistant","content":{"type":"text","text":"Let me see."}},
	{"role":"assistant","content":[
		{"type":"text","text":"I check both."},
		{"type":"tool_use","id":"told-trip-1","name":"plan_trip","input":{"start":"0042","room":null,"Stop-Over":"7"}},
		{"type":"tool_use","id":"told-trip-2","name":"plan_trip","input":{"start":"Cafe\u0301 🗼"}},
		{"type":"text","text":"It will not take long."}]},
	{"role":"user","content":[
		{"type":"tool_result","toolUseId":"told-trip-2","isError":true,"content":[
			{"type":"text","text":"no station there"},
			{"type":"text","text":"ask again at noon"}]},
		{"type":"tool_result","toolUseId":"told-trip-1","content":[
			{"type":"text","text":"{ \"cafe\u0301 🗼\": 1.0, \"errors\": 0 }"},
			{"type":"resource_link","uri":"trips:nine","name":"trip nine"},
			{"type":"resource","resource":{"uri":"trips:log","mimeType":"text/plain","text":"logged in Oslo"}}]}]},
	{"role":"assistant","content":{"type":"text","text":"There is a train at seven."}},
	{"role":"assistant","content":{"type":"text","text":"There is another one at nine."}}
]`

// The server tells of a conversation that this client has not seen, as if it had been with another one.
var retold = story.Once("tool-use/retold", func(s *server.Session) any {
	ask := s.Ask("So, which train is it?", planTrip, story.GetWeather)
	ask.Messages = append(story.Messages(told), ask.Messages...)
	return ask
}, llm.When().Reply(llm.Text("The one at nine.")))

// Histories with tool uses and results in forms that the schema allows and few models and servers write.
var (
	bareBlocks = plainHistory("bare-blocks", `[
		{"role":"assistant","content":{"type":"tool_use","id":"bare-1","name":"get_weather","input":{"city":"Oslo"}}},
		{"role":"user","content":{"type":"tool_result","toolUseId":"bare-1","content":[
			{"type":"text","text":"seven degrees in Oslo"}]}}]`)
	emptyResult = plainHistory("empty-result", `[
		{"role":"assistant","content":[{"type":"tool_use","id":"bare-1","name":"get_weather","input":{"city":"Oslo"}}]},
		{"role":"user","content":[{"type":"tool_result","toolUseId":"bare-1","content":[]}]}]`)
	textBehind = plainHistory("text-behind", `[
		{"role":"assistant","content":[{"type":"tool_use","id":"bare-1","name":"get_weather","input":{"city":"Oslo"}},
			{"type":"text","text":"It will not take long."}]},
		{"role":"user","content":[{"type":"tool_result","toolUseId":"bare-1","content":[
			{"type":"text","text":"seven degrees in Oslo"}]}]}]`)
)

func plainHistory(name, history string) harness.Case {
	return story.Once("tool-use/"+name, func(s *server.Session) any {
		ask := s.Ask("Is it warm in Oslo?", story.GetWeather)
		ask.Messages = append(ask.Messages, story.Messages(history)...)
		return ask
	}, llm.When().Reply(llm.Text("It is not.")))
}
