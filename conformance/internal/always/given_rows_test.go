package always_test

// shortTalk is a history of texts, autoTalk has the choice auto, and textAndStructured has a result in two forms. In
// shownTalk, an image for the model has the path of a text from the server. The tools of oddNames have names that
// OpenAI refuses. emptyFailure has a failed result without content, shownFailure one with an image. The history of
// greeted begins with the assistant. In askedTwice, the second question begins like the first one, and in askedAgain it
// equals that. In linkBeside, the result has a text and a link; in toldResult, it says what the user then says. The
// history of begun ends with the assistant.
const (
	begun = `{"maxTokens":9,"messages":[{"role":"user","content":{"type":"text","text":"Warm in Köln?"}},` +
		`{"role":"assistant","content":{"type":"text","text":"It is"}}]}`
	greeted = `{"maxTokens":9,"messages":[{"role":"assistant","content":{"type":"text","text":"Welcome."}},` +
		`{"role":"user","content":{"type":"text","text":"One?"}}]}`
	askedTwice = `{"maxTokens":9,"messages":[{"role":"user","content":{"type":"text","text":"Warm in Köln?"}},` +
		`{"role":"assistant","content":{"type":"text","text":"Two."}},` +
		`{"role":"user","content":{"type":"text","text":"Warm in Köln? And in Paris?"}}]}`
	askedAgain = `{"maxTokens":9,"messages":[{"role":"user","content":{"type":"text","text":"Warm in Köln?"}},` +
		`{"role":"user","content":{"type":"text","text":"Warm in Köln?"}}]}`
	linkBeside = `{"maxTokens":9,"messages":[{"role":"user","content":{"type":"text","text":"One?"}},` +
		`{"role":"assistant","content":[{"type":"tool_use","id":"b1","name":"stop","input":{}}]},` +
		`{"role":"user","content":[{"type":"tool_result","toolUseId":"b1","content":[{"type":"text","text":"wet"},` +
		`{"type":"resource_link","uri":"weather:nine","name":"nine"}]}]}],` +
		`"tools":[{"name":"stop","inputSchema":{"type":"object"}}]}`
	toldResult = `{"maxTokens":9,"messages":[{"role":"user","content":{"type":"text","text":"One?"}},` +
		`{"role":"assistant","content":[{"type":"tool_use","id":"b1","name":"stop","input":{}}]},` +
		`{"role":"user","content":[{"type":"tool_result","toolUseId":"b1","content":[{"type":"text",` +
		`"text":"it is wet there"}]}]},{"role":"assistant","content":{"type":"text","text":"Two."}},` +
		`{"role":"user","content":{"type":"text","text":"it is wet there"}}],` +
		`"tools":[{"name":"stop","inputSchema":{"type":"object"}}]}`
	longSchema = `{"maxTokens":9,"messages":[{"role":"user","content":{"type":"text","text":"One?"}}],` +
		`"tools":[{"name":"stop","inputSchema":{"type":"object","properties":{"city":{"type":"string"},` +
		`"unit":{"type":"string"},"days":{"type":"integer"}},"required":["unit","city"]}}]}`
	picturesShown = `{"maxTokens":9,"messages":[{"role":"user","content":{"type":"text","text":"One?"}},` +
		`{"role":"assistant","content":[{"type":"tool_use","id":"b1","name":"stop","input":{}}]},` +
		`{"role":"user","content":[{"type":"tool_result","toolUseId":"b1","content":[{"type":"image",` +
		`"mimeType":"image/png","data":"AAEC"},{"type":"image","mimeType":"image/png","data":"AAECAwQF"}]}]}],` +
		`"tools":[{"name":"stop","inputSchema":{"type":"object"}}]}`
	twoPictures = `{"maxTokens":9,"messages":[{"role":"user","content":[{"type":"text","text":"See this:"},` +
		`{"type":"image","mimeType":"image/png","data":"AAEC"},{"type":"text","text":"And this?"},` +
		`{"type":"image","mimeType":"image/png","data":"AAECAwQF"}]}]}`
	shortTalk = `{"maxTokens":9,"messages":[{"role":"user","content":{"type":"text","text":"   One?"}},` +
		`{"role":"assistant","content":{"type":"text","text":"Two."}},` +
		`{"role":"user","content":{"type":"text","text":"Three?"}}]}`
	asksInPrompt = `{"maxTokens":9,"systemPrompt":"They ask: Warm in Köln? Be brief.","messages":[{"role":"user",` +
		`"content":{"type":"text","text":"Warm in Köln?"}}]}`
	promptTalk = `{"maxTokens":9,"systemPrompt":"Be brief.","messages":[{"role":"user","content":{"type":"text",` +
		`"text":"One?"}},{"role":"assistant","content":{"type":"text","text":"Two."}},` +
		`{"role":"user","content":{"type":"text","text":"Three?"}}]}`
	blankTalk = `{"maxTokens":9,"messages":[{"role":"user","content":[{"type":"text","text":"One?"},` +
		`{"type":"text","text":"\n"}]},{"role":"assistant","content":{"type":"text","text":"Two."}},` +
		`{"role":"user","content":{"type":"text","text":"Three?"}}]}`
	spacedTalk = `{"maxTokens":9,"messages":[{"role":"user","content":{"type":"text","text":"One?  "}},` +
		`{"role":"assistant","content":{"type":"text","text":"Two.  "}},` +
		`{"role":"user","content":{"type":"text","text":"Three?"}}]}`
	quotedTalk = `{"maxTokens":9,"messages":[{"role":"user","content":{"type":"text","text":"Warm in Köln?\n"}},` +
		`{"role":"assistant","content":{"type":"text","text":"Two."}},` +
		`{"role":"user","content":[{"type":"text","text":"Now"},{"type":"text","text":"Now say: Warm in Köln?"},` +
		`{"type":"text","text":"Please."}]}]}`
	onceAsked = `{"maxTokens":9,"messages":[{"role":"user","content":{"type":"text","text":"Warm in Köln?"}}]}`
	autoTalk  = `{"maxTokens":9,"messages":[{"role":"user","content":{"type":"text","text":"One?"}}],` +
		`"tools":[{"name":"stop","inputSchema":{"type":"object"}}],"toolChoice":{"mode":"auto"}}`
	textAndStructured = `{"maxTokens":9,"messages":[{"role":"user","content":{"type":"text","text":"One?"}},` +
		`{"role":"assistant","content":[{"type":"tool_use","id":"b1","name":"stop","input":{}}]},` +
		`{"role":"user","content":[{"type":"tool_result","toolUseId":"b1","content":[{"type":"text","text":"wet"}],` +
		`"structuredContent":{"mm":10}}]}],"tools":[{"name":"stop","inputSchema":{"type":"object"}}]}`
	saidTwice = `{"maxTokens":9,"messages":[{"role":"user","content":{"type":"text","text":"One?"}},` +
		`{"role":"assistant","content":[{"type":"tool_use","id":"b1","name":"stop","input":{}}]},` +
		`{"role":"user","content":[{"type":"tool_result","toolUseId":"b1","content":[{"type":"text","text":` +
		`"{\"mm\":10}"}],"structuredContent":{"mm":10}}]}],"tools":[{"name":"stop","inputSchema":{"type":"object"}}]}`
	shownTalk = `{"maxTokens":9,"messages":[{"role":"user","content":{"type":"text","text":"One?"}},` +
		`{"role":"assistant","content":[{"type":"tool_use","id":"b1","name":"stop","input":{}}]},` +
		`{"role":"user","content":[{"type":"tool_result","toolUseId":"b1","content":[{"type":"image",` +
		`"mimeType":"image/png","data":"AAECAwQF"}]}]},{"role":"assistant","content":[{"type":"text","text":"Two."}]},` +
		`{"role":"user","content":{"type":"text","text":"Three?"}}],"tools":[{"name":"stop","inputSchema":` +
		`{"type":"object"}}]}`
	oddNames = `{"maxTokens":9,"messages":[{"role":"user","content":{"type":"text","text":"One?"}}],"tools":[` +
		`{"name":"...","inputSchema":{"type":"object"}},{"name":"a.b","inputSchema":{"type":"object"}},` +
		`{"name":"a_b","inputSchema":{"type":"object"}},{"name":"a_long_name_of_more_than_sixty-four_characters.` +
		`such.as.a.server.may.give","inputSchema":{"type":"object"}}]}`
	annotated = `{"maxTokens":9,"messages":[{"role":"user","content":{"type":"text","text":"One?"}}],` +
		`"tools":[{"name":"stop","inputSchema":{"type":"object","properties":{"at":{"type":"string","examples":["a"]}}}}]}`
	emptyFailure = `{"maxTokens":9,"messages":[{"role":"user","content":{"type":"text","text":"One?"}},` +
		`{"role":"assistant","content":[{"type":"tool_use","id":"b1","name":"stop","input":{}}]},` +
		`{"role":"user","content":[{"type":"tool_result","toolUseId":"b1","content":[],"isError":true}]}],` +
		`"tools":[{"name":"stop","inputSchema":{"type":"object"}}]}`
	shownFailure = `{"maxTokens":9,"messages":[{"role":"user","content":{"type":"text","text":"One?"}},` +
		`{"role":"assistant","content":[{"type":"tool_use","id":"b1","name":"stop","input":{}}]},` +
		`{"role":"user","content":[{"type":"tool_result","toolUseId":"b1","isError":true,"content":[` +
		`{"type":"text","text":"It broke."},{"type":"image","mimeType":"image/png","data":"AAECAwQF"}]}]}],` +
		`"tools":[{"name":"stop","inputSchema":{"type":"object"}}]}`
)

var legalChanges = []given{
	{name: "the system prompt is left out", legal: "system prompt", dialect: chat, edits: edits{
		`{"content":"Be brief.","role":"system"},`,
		``,
	}},
	{name: "the system prompt is in the first message", legal: "system prompt", dialect: chat, edits: edits{
		`{"content":"Be brief.","role":"system"},`,
		``,
		`"Warm in`,
		`"Be brief.\n\nWarm in`,
	}},
	{name: "the system prompt, which has the question, is in the first message", legal: "system prompt", dialect: chat,
		params: asksInPrompt, edits: edits{
			`{"content":"They ask: Warm in Köln? Be brief.","role":"system"},`,
			``,
			`"content":"Warm in`,
			`"content":"They ask: Warm in Köln? Be brief.\n\nWarm in`,
		}},
	{name: "the system prompt is an exchange", legal: "system prompt", dialect: chat, edits: edits{
		`"role":"system"}`,
		`"role":"user"},{"content":"Yes.","role":"assistant"}`,
	}},
	{name: "other settings", legal: "settings", dialect: chat, edits: edits{
		`"max_tokens":100`,
		`"max_tokens":100,"temperature":0.1,"stop":["x"]`,
	}},
	{name: "a reminder", legal: "an own message behind the conversation", dialect: chat, params: shortTalk, edits: edits{
		`{"content":"Three?","role":"user"}`,
		`{"content":"Three?","role":"user"},{"content":"Be kind to the user.","role":"user"}`,
	}},
	{name: "a reminder behind two images", legal: "an own message behind the conversation", dialect: chat,
		params: twoPictures, edits: edits{
			`],"role":"user"}`,
			`],"role":"user"},{"content":"Be kind to the user.","role":"user"}`,
		}},
	{name: "no examples in a schema", legal: "annotations of a schema", dialect: chat, params: annotated, edits: edits{
		`"examples":["a"],`,
		``,
	}},
	{name: "a preamble", legal: "own messages before the conversation", dialect: anthropic, edits: edits{
		`"messages":[`,
		`"messages":[{"role":"user","content":"I host."},`,
	}},
	{name: "a message of the user behind the begun answer", legal: "an own message behind the conversation", params: begun,
		dialect: chat, edits: edits{
			`{"content":"It is","role":"assistant"}`,
			`{"content":"It is","role":"assistant"},{"content":"Go on from \"It is\".","role":"user"}`,
		}},
	{name: "an exchange before a greeting", legal: "own messages before the conversation", params: greeted, dialect: chat,
		edits: edits{
			`"messages":[`,
			`"messages":[{"role":"user","content":"I host."},{"role":"assistant","content":"Yes."},`,
		}},
	{name: "a part that is like another text", legal: "texts split or merged", params: askedTwice, dialect: anthropic,
		edits: edits{
			`{"text":"Warm in Köln? And in Paris?"`,
			`{"text":"Warm in Köln?","type":"text"},{"text":" And in Paris?"`,
		}},
	{name: "a text after the results", legal: "text after results", dialect: anthropic, edits: edits{
		`"tool_use_id":"a1","type":"tool_result"}`,
		`"tool_use_id":"a1","type":"tool_result"},{"type":"text","text":"Go on."}`,
	}},
	{name: "tags", legal: "wrapped texts", dialect: chat, edits: edits{
		`"Warm in Köln and Paris?"`,
		`"<q>\nWarm in Köln and Paris?\n</q>"`,
	}},
	{name: "two parts", legal: "texts split or merged", dialect: anthropic, edits: edits{
		`{"text":"Warm in Köln and Paris?"`,
		`{"text":"Warm in ","type":"text"},{"text":"Köln and Paris?"`,
	}},
	{name: "a blank part", legal: "texts split or merged", dialect: anthropic, params: shortTalk, edits: edits{
		`{"text":"   One?"`,
		`{"text":" ","type":"text"},{"text":"  One?"`,
	}},
	{name: "a blank last part", legal: "texts split or merged", dialect: anthropic, params: spacedTalk, edits: edits{
		`{"text":"One?  "`,
		`{"text":"One? ","type":"text"},{"text":" "`,
	}},
	{name: "a blank last part of the assistant", legal: "texts split or merged", dialect: anthropic, params: spacedTalk,
		edits: edits{
			`{"text":"Two.  "`,
			`{"text":"Two. ","type":"text"},{"text":" "`,
		}},
	{name: "a blank text behind another", legal: "blank texts", dialect: anthropic, params: spacedTalk, edits: edits{
		`{"text":"Two.  "`,
		`{"text":"Two.  ","type":"text"},{"text":" "`,
	}},
	{name: "texts of one message, of which one has another in it", legal: "texts split or merged", dialect: chat,
		params: quotedTalk, edits: edits{
			`"content":[{"text":"Now","type":"text"},{"text":"Now say: Warm in Köln?","type":"text"},` +
				`{"text":"Please.","type":"text"}]`,
			`"content":"Now\nNow say: Warm in Köln?\nPlease."`,
		}},
	{name: "no blank text", legal: "blank texts", dialect: anthropic, params: blankTalk},
	{name: "a blank text", legal: "blank texts", dialect: anthropic, edits: edits{
		`{"text":"Mild there."`,
		`{"text":" ","type":"text"},{"text":"Mild there."`,
	}},
	{name: "the calls are a member", legal: "text before tool uses", dialect: chat},
	{name: "images are a member", legal: "an image before the texts, or behind them", dialect: ollama},
	{name: "a PNG image", legal: "image encoded anew", params: pointTalk, dialect: chat,
		edits: edits{onePoint, onePointAnew}},
	{name: "a PNG image", legal: "image encoded anew", params: pointTalk, dialect: ollama,
		edits: edits{onePoint, onePointAnew}},
	{name: "audio/wav", legal: "type of an image", params: audioTalk, dialect: gemini, edits: edits{
		`audio/x-wav`,
		`audio/wav`,
	}},
	{name: "audio as text", legal: "medium as base64", params: audioTalk, dialect: anthropic, edits: edits{
		`{"model":"c","max_tokens":9,"messages":[{"role":"user","content":"audio: AAECAwQF"}]}`,
	}},
	{name: "two messages in one", legal: "one text with the history", kind: "flat-history",
		params: shortTalk, dialect: chat, edits: edits{
			`"messages":[`,
			`"messages":[{"role":"user","content":"user:    One?\nassistant: Two.\nuser: Three?"}],"was":[`,
		}},
	{name: "other ids", legal: "own ids", dialect: chat, edits: edits{
		`"id":"a1"`,
		`"id":"x"`,
		`"tool_call_id":"a1"`,
		`"tool_call_id":"x"`,
	}},
	{name: "in the order of the uses", legal: "order of results", dialect: gemini},
	{name: "a label", legal: "labelled results", dialect: chat, edits: edits{
		`"13 °C"`,
		`"Result: 13 °C"`,
	}},
	{name: "tags", legal: "labelled results", dialect: chat, edits: edits{
		`"13 °C"`,
		`"<result>13 °C</result>"`,
	}},
	{name: "where the image is", legal: "labelled results", params: otherResults, dialect: anthropic, edits: edits{
		`"a map"`,
		`"a map see below"`,
	}},
	{name: "an object", legal: "results in JSON", dialect: chat, edits: edits{
		`"13 °C"`,
		`"{\"result\":\"13 °C\"}"`,
	}},
	{name: "a JSON text as the object of Gemini", legal: "results in JSON", params: otherResults, dialect: gemini,
		edits: edits{
			`"response":{"output":"{\"rain\":\"10 mm\"}"}`,
			`"response":{"rain":"10 mm"}`,
		}},
	{name: "words in place of the flag", legal: "error in words", dialect: anthropic, edits: edits{
		`[{"text":"unknown place","type":"text"}],"is_error":true`,
		`[{"text":"Error: unknown place","type":"text"}]`,
	}},
	{name: "null for an empty list", legal: "nothing for an empty value", params: otherResults, dialect: native,
		edits: edits{
			`"content":[],`,
			`"content":null,`,
		}},
	{name: "the JSON", legal: "structured content as JSON", params: otherResults, dialect: chat},
	{name: "the text alone", legal: "structured content beside texts", params: otherResults, dialect: chat},
	{name: "the text, and the same as JSON", legal: "structured content beside texts", params: saidTwice, dialect: chat,
		edits: edits{
			`"content":"{\"mm\":10}"`,
			`"content":"{\"mm\":10}\n{\"mm\": 10}"`,
		}},
	{name: "the address and the text", legal: "resources as text", params: otherResults, dialect: chat, edits: edits{
		`{\"name\":\"nine\",\"type\":\"resource_link\",\"uri\":\"weather:nine\"}\nweather:log:\nnoon`,
		`see weather:nine\nnoon`,
	}},
	{name: "a link without a name", legal: "resources as text", params: otherResults, dialect: chat, edits: edits{
		`\"name\":\"nine\",`,
		``,
	}},
	{name: "a link in the client's form", legal: "resources as text", params: otherResults, dialect: chat, edits: edits{
		`\"name\":\"nine\",\"type\":\"resource_link\"`,
		`\"title\":\"nine\",\"type\":\"link\"`,
	}},
	{name: "the image follows", legal: "media after results", params: otherResults, dialect: anthropic, edits: edits{
		`,{"source":{"data":"AAECAwQF","media_type":"image/png","type":"base64"},"type":"image"}],"` +
			`tool_use_id":"b2"`,
		`],"tool_use_id":"b2"`,
		`"tool_use_id":"b5","type":"tool_result"}`,
		`"tool_use_id":"b5","type":"tool_result"},{"type":"image","source":{"type":"base64","media_` +
			`type":"image/png","data":"AAECAwQF"}}`,
	}},
	{name: "a text", legal: "text for an empty result", params: otherResults, dialect: chat, edits: edits{
		`"content":"","role":"tool"`,
		`"content":"(no output)","role":"tool"`,
	}},
	{name: "a rounded number", legal: "numbers of Gemini", dialect: gemini, edits: edits{
		`9007199254740993`,
		`9007199254740992`,
	}},
	{name: "a big integer is rounded", legal: "rounded numbers", kind: "rounded-number", dialect: chat, edits: edits{
		`9007199254740993`,
		`9007199254740992`,
	}},
	{name: "an empty error", legal: "error in words", params: emptyFailure, dialect: gemini, edits: edits{
		`"response":{"error":"the tool failed"}`,
		`"response":{"error":""}`,
	}},
	{name: "the server in each name", legal: "names of tools", dialect: chat, edits: edits{
		`"name":"t_get_weather"},"id":"a1"`,
		`"name":"w__get_weather"},"id":"a1"`,
		`"name":"t_get_weather"},"id":"a2"`,
		`"name":"w__get_weather"},"id":"a2"`,
		`"name":"t_get_weather","parameters"`,
		`"name":"w__get_weather","parameters"`,
	}},
	{name: "names that OpenAI refuses", legal: "names of tools", params: oddNames, dialect: chat},
	{name: "an image at the path of a text", legal: "media after results", params: shownTalk, dialect: chat},
	{name: "the other way round", legal: "order of tools", dialect: anthropic, edits: edits{
		`"tools":[{`,
		`"tools":[{"input_schema":{"type":"object"},"name":"stop"},{`,
		`,{"input_schema":{"properties":{},"type":"object"},"name":"stop"}`,
		``,
	}},
	{name: "the server's name", legal: "longer descriptions", dialect: chat, edits: edits{
		`"Looks it up"`,
		`"[w] Looks it up"`,
	}},
	{name: "closed", legal: "same schema", dialect: chat, edits: edits{
		`"required":["city"]`,
		`"required":["city"],"additionalProperties":false`,
	}},
	{name: "an optional property that may be null", legal: "nullable properties", dialect: chat, edits: edits{
		`"name":"t_get_weather","parameters"`,
		`"strict":true,"name":"t_get_weather","parameters"`,
		`{"anyOf":[{"type":"string"},{"type":"array"}]}`,
		`{"anyOf":[{"type":"string"},{"type":"array"},{"type":"null"}]}`,
		`"required":["city"]`,
		`"required":["city","unit"],"additionalProperties":false`,
	}},
	{name: "Gemini's own form", legal: "keywords of the provider", dialect: gemini, edits: edits{
		`"parametersJsonSchema":{"properties":{"city":{"type":"string"}`,
		`"parameters":{"properties":{"city":{"type":"STRING"}`,
	}},
	{name: "no choice", legal: "auto left out", params: autoTalk, dialect: chat, edits: edits{
		`"tool_choice":"auto",`,
		``,
	}},
	{name: "no tools", legal: "no tools for none", dialect: ollama},
	{name: "the tool by name", legal: "choice of one tool", params: otherResults, dialect: chat, edits: edits{
		`"required"`,
		`{"type":"function","function":{"name":"stop"}}`,
	}},
	{name: "tools", legal: "choice of Ollama", params: otherResults, dialect: ollama},
}
