package always_test

var faults = []given{
	{name: "an answer between two equal questions",
		kind: "lost-text", path: `"Warm in Köln?" of the user once more in the model request, ` +
			`found none`, params: askedAgain, dialect: chat, edits: edits{
			`"Warm in Köln?","role":"user"}`,
			`"Warm in Köln?","role":"user"},{"role":"assistant","content":"OK."}`,
		}},
	{name: "a text of the client's own after a greeting",
		kind: "extra-text", path: `only the messages`, params: greeted, dialect: chat,
		edits: edits{
			`"role":"assistant"},`,
			`"role":"assistant"},{"role":"assistant","content":"I am Acme."},`,
		}},
	{name: "the only message twice",
		kind: "extra-text", path: `found it once more`, dialect: chat, params: onceAsked, edits: edits{
			`{"content":"Warm in Köln?","role":"user"}`,
			`{"content":"Warm in Köln?","role":"user"},{"content":"Warm in Köln?","role":"user"}`,
		}},
	{name: "the only text twice",
		kind: "changed-text", path: `Warm in Köln?`, dialect: chat, params: onceAsked, edits: edits{
			`"Warm in Köln?"`,
			`"Warm in Köln?\nWarm in Köln?"`,
		}},
	{name: "the texts of the history twice",
		kind: "extra-text", path: `found it once more (messages[2].content)`, dialect: chat, edits: edits{
			`"role":"system"}`,
			`"role":"system"},{"content":"Warm in Köln and Paris?","role":"user"},` +
				`{"content":"Mild there.","role":"assistant"}`,
		}},
	{name: "the first message is lost", kind: "lost-text", path: `Warm in Köln and Paris?`, dialect: chat, edits: edits{
		`{"content":"Warm in Köln and Paris?","role":"user"},`,
		``,
	}},
	{name: "only the last messages", kind: "refused-request", dialect: chat, edits: edits{
		`"messages":[`,
		`"was":[`,
		`{"content":"Mild there."`,
		`],"messages":[{"content":"Mild there."`,
	}},
	{name: "a message is lost", kind: "lost-text", path: `Mild there.`, dialect: chat, edits: edits{
		`{"content":"Mild there.","role":"assistant"},`,
		``,
	}},
	{name: "a message is inserted", kind: "extra-text", path: `messages[6].content`, dialect: chat, edits: edits{
		`{"content":"Mild there.","role":"assistant"},`,
		`{"content":"Mild there.","role":"assistant"},{"content":"Mind the rules.","role":"user"},`,
	}},
	{name: "another role", kind: "changed-role", dialect: chat, edits: edits{
		`{"content":"Mild there.","role":"assistant"}`,
		`{"content":"Mild there.","role":"user"}`,
	}},
	{name: "another role, of the end of an answer", kind: "changed-role",
		path: `found it as a text of the user (messages[1].content)`, params: begun, dialect: chat, edits: edits{
			`{"content":"It is","role":"assistant"}`,
			`{"content":"It is","role":"user"}`,
		}},
	{name: "an image behind the begun answer", kind: "extra-media", path: `(messages[2].`, params: begun, dialect: chat,
		edits: edits{
			`{"content":"It is","role":"assistant"}`,
			`{"content":"It is","role":"assistant"},{"role":"user","content":[{"type":"image_url",` +
				`"image_url":{"url":"data:image/png;base64,AAECAwQF"}}]}`,
		}},
	{name: "a text is changed", kind: "changed-text", path: `messages[1].content`, dialect: chat, edits: edits{
		`Warm in Köln`,
		`Warm in K?ln`,
	}},
	{name: "a character is cut by a decoder", kind: "broken-characters", path: `messages[1].content`, dialect: chat,
		edits: edits{
			`Warm in Köln`,
			"Warm in K\ufffd\ufffdln",
		}},
	{name: "a text is continued", kind: "changed-text", path: `messages[1].content`, dialect: chat, edits: edits{
		`Warm in Köln and Paris?`,
		`Warm in Köln and Paris?x`,
	}},
	{name: "a text of the model is continued with blanks",
		kind: "changed-text", path: `Two.`, params: quotedTalk, dialect: chat, edits: edits{
			`"Two."`,
			`"Two. "`,
		}},
	{name: "the system prompt is in front of what the model said",
		kind: "changed-text", path: `messages[1].content`, params: promptTalk, dialect: chat, edits: edits{
			`{"content":"Be brief.","role":"system"},`,
			``,
			`"Two."`,
			`"Be brief. Two."`,
		}},
	{name: "a text of the model is continued",
		kind: "changed-text", path: `messages[5].content`, dialect: chat, edits: edits{
			`Mild there.`,
			`Mild there. Really.`,
		}},
	{name: "the text beside the uses is lost", kind: "lost-text", path: `Let me look.`, dialect: chat, edits: edits{
		`"content":"Let me look.",`,
		``,
	}},
	{name: "the texts of a message are swapped", kind: "changed-order", dialect: chat, edits: edits{
		`See this:`,
		`S`,
		`And then?`,
		`See this:`,
		`"S"`,
		`"And then?"`,
	}},
	{name: "the order of text and uses", kind: "changed-order", path: `another order`, dialect: anthropic, edits: edits{
		`{"text":"Let me look.","type":"text"},`,
		``,
		`{"id":"a2","input":{"city":"Paris"},"name":"t_get_weather","type":"tool_use"}`,
		`{"id":"a2","input":{"city":"Paris"},"name":"t_get_weather","type":"tool_use"},{"text":"Let m` +
			`e look.","type":"text"}`,
	}},
	{
		name: "texts before images",
		kind: "changed-order",
		path: `expected the text "And this?" of the user behind image of ` +
			`type image/png, 3 bytes in the model request, found it before that`,
		params:  twoPictures,
		dialect: chat,
		edits: edits{
			`{"image_url":{"url":"data:image/png;base64,AAEC"},"type":"image_url"},{"text":"And this?","type":"text"},`,
			`{"text":"And this?","type":"text"},{"image_url":{"url":"data:image/png;base64,AAEC"},"type":"image_url"},`,
		},
	},
	{
		name:    "messages sorted by role",
		kind:    "changed-order",
		path:    `found it before that`,
		params:  askedTwice,
		dialect: chat,
		edits: edits{
			`{"content":"Two.","role":"assistant"},`,
			``,
			`And in Paris?","role":"user"}`,
			`And in Paris?","role":"user"},{"content":"Two.","role":"assistant"}`,
		},
	},
	{
		name: "a tool's title in place of its name",
		kind: "changed-tool-use",
		path: `a use of t_get_weather, as the tool ` +
			`get.weather is offered in the model request, found one of w__get_weather`,
		dialect: chat,
		edits: edits{
			`"name":"t_get_weather"},"id":"a1"`,
			`"name":"w__get_weather"},"id":"a1"`,
		},
	},
	{
		name: "a property of a long schema is not required",
		kind: "changed-schema",
		path: `required: "city, unit" in the ` +
			`model request, found required: "city"`,
		params:  longSchema,
		dialect: chat,
		edits: edits{
			`"required":["unit","city"]`,
			`"required":["city"]`,
		},
	},
	{name: "an image is cut", kind: "changed-media", path: `messages[6].content[1]`, dialect: chat, edits: edits{
		`AAECAwQF`,
		`AAEC`,
	}},
	{name: "another image of the same size", kind: "changed-media", path: `messages[0].content`, dialect: chat,
		params: pointTalk, edits: edits{onePoint, otherPoint}},
	{name: "an image has another type",
		kind: "changed-media", path: `messages[6].content[1]`, dialect: chat, edits: edits{
			`image/png`,
			`image/jpeg`,
		}},
	{name: "an image as text", kind: "lost-media", path: `found its base64 in a text (messages[6].content[1])`,
		dialect: chat, edits: edits{
			`{"image_url":{"url":"data:image/png;base64,AAECAwQF"},"type":"image_url"}`,
			`{"type":"text","text":"AAECAwQF"}`,
		}},
	{name: "an address of data has no base64", kind: "changed-media", dialect: chat,
		path: `found image without base64 data (messages[6].`, edits: edits{
			`data:image/png;base64,AAECAwQF`,
			`data:image/png;,AAECAwQF`,
		}},
	{name: "an image is lost", kind: "lost-media", path: `found none`, dialect: ollama, edits: edits{
		`"images":["AAECAwQF"],`,
		``,
	}},
	{name: "results are swapped", kind: "changed-result", path: `messages[3].content`, dialect: chat, edits: edits{
		`"13 °C"`,
		`"Y"`,
		`"Error:\nunknown place"`,
		`"13 °C"`,
		`"Y"`,
		`"Error:\nunknown place"`,
	}},
	{name: "one result for all",
		kind: "changed-result", path: `messages[2].content[1].content[0]`, dialect: anthropic, edits: edits{
			`unknown place`,
			`13 °C`,
		}},
	{name: "a character of a result is cut by a decoder", kind: "broken-characters", path: `messages[3].content`,
		dialect: chat, edits: edits{
			`13 °C`,
			"13 \ufffd\ufffdC",
		}},
	{name: "a character of a result's second text is cut by a decoder", kind: "broken-characters", params: twoTexts,
		path: "found \"A second text, which says it of K\ufffdln.\"", dialect: chat, edits: edits{
			`of Köln.`,
			"of K\ufffdln.",
		}},
	{name: "a result is continued", kind: "changed-result", path: `messages[3].content`, dialect: chat, edits: edits{
		`13 °C`,
		`13 °C and sunny`,
	}},
	{name: "a result twice in one", kind: "changed-result", path: `messages[3].content`, dialect: chat, edits: edits{
		`13 °C`,
		`13 °C\n13 °C`,
	}},
	{name: "a result is lost", kind: "lost-result", path: `found none`, dialect: chat, edits: edits{
		`{"content":"13 °C","role":"tool","tool_call_id":"a2"},`,
		``,
	}},
	{name: "a result is said by the user", kind: "lost-result", path: `found it as a text of the user (messages[`,
		dialect: chat, edits: edits{
			`{"content":"13 °C","role":"tool","tool_call_id":"a2"}`,
			`{"content":"13 °C","role":"user","tool_call_id":"a2"}`,
		}},
	{name: "a result twice", kind: "extra-result", path: `found 2`, dialect: chat, edits: edits{
		`{"content":"13 °C","role":"tool","tool_call_id":"a2"},`,
		`{"content":"13 °C","role":"tool","tool_call_id":"a2"},{"content":"13 °C","role":"tool","to` +
			`ol_call_id":"a2"},`,
	}},
	{name: "an error is a success", kind: "lost-error", path: `no sign of the failure`, dialect: chat, edits: edits{
		`Error:\n`,
		``,
	}},
	{name: "an error flag is lost", kind: "lost-error", path: `no sign of the failure`, dialect: anthropic, edits: edits{
		`"is_error":true,`,
		`"is_error":false,`,
	}},
	{name: "a success is an error", kind: "added-error", path: `found an error`, dialect: chat, edits: edits{
		`"13 °C"`,
		`"Error: 13 °C"`,
	}},
	{name: "a big integer is another",
		kind: "changed-input", path: `messages[2].tool_calls[0]`, dialect: chat, edits: edits{
			`9007199254740993`,
			`9007199254740990`,
		}},
	{name: "an empty object is lost",
		kind: "changed-input", path: `messages[2].tool_calls[0]`, dialect: chat, edits: edits{
			`\"o\":{}`,
			`\"o\":null`,
		}},
	{name: "other letters in an input",
		kind: "changed-input", path: `messages[2].tool_calls[0]`, dialect: chat, edits: edits{
			`\"Köln\"`,
			`\"K?ln\"`,
		}},
	{name: "a use is lost", kind: "lost-tool-use", dialect: chat, edits: edits{
		`,{"function":{"arguments":"{\"city\":\"Paris\"}","name":"t_get_weather"},"id":"a2","type":"fu` +
			`nction"}`,
		``,
	}},
	{name: "a use is added", kind: "extra-tool-use", path: `2 tool uses`, dialect: chat, edits: edits{
		`"id":"a2","type":"function"}`,
		`"id":"a2","type":"function"},{"function":{"arguments":"{}","name":"stop"},"id":"a3","type":"function"}`,
	}},
	{name: "an image twice", kind: "extra-media", path: `only what the server sent`, dialect: ollama, edits: edits{
		`"images":["AAECAwQF"]`,
		`"images":["AAECAwQF","AAECAwQF"]`,
	}},
	{name: "two uses with one id", kind: "shared-id", path: `messages[2].tool_calls[1]`, dialect: chat, edits: edits{
		`"id":"a2"`,
		`"id":"a1"`,
	}},
	{name: "a tool is lost", kind: "lost-tool", path: `(tools)`, dialect: anthropic, edits: edits{
		`,{"input_schema":{"properties":{},"type":"object"},"name":"stop"}`,
		``,
	}},
	{name: "a tool is added", kind: "extra-tool", path: `tools[0]`, dialect: anthropic, edits: edits{
		`"tools":[{`,
		`"tools":[{"input_schema":{"type":"object"},"name":"host"},{`,
	}},
	{name: "a description is lost", kind: "changed-description", path: `tools[0]`, dialect: anthropic, edits: edits{
		`"description":"Looks it up",`,
		``,
	}},
	{name: "a description is cut", kind: "changed-description", path: `tools[0]`, dialect: anthropic, edits: edits{
		`Looks it up`,
		`Looks`,
	}},
	{name: "another type in a schema", kind: "changed-schema", path: `tools[0]`, dialect: anthropic, edits: edits{
		`{"anyOf":[{"type":"string"},{"type":"array"}]}`,
		`{"type":["object","null"]}`,
	}},
	{name: "a property is added", kind: "changed-schema", path: `tools[0]`, dialect: anthropic, edits: edits{
		`"city":{"type":"string"}`,
		`"city":{"type":"string"},"x":{}`,
	}},
	{name: "nothing is required", kind: "changed-schema", path: `tools[0]`, dialect: anthropic, edits: edits{
		`"required":["city"],`,
		``,
	}},
	{name: "another name for one that OpenAI refuses",
		kind: "lost-tool", path: `a.b`, params: oddNames, dialect: chat, edits: edits{
			`"t_a_b"`,
			`"t_a_c"`,
		}},
	{name: "the text beside an image of a result is lost",
		kind: "changed-text", path: `Two.`, params: shownTalk, dialect: chat, edits: edits{
			`Two.`,
			`Too.`,
		}},
	{name: "one name in two ways",
		kind: "changed-tool-use", path: `messages[2].tool_calls[0]`, dialect: chat, edits: edits{
			`"name":"t_get_weather","parameters"`,
			`"name":"w__get_weather","parameters"`,
		}},
	{name: "the choice none is lost", kind: "lost-tool-choice", path: `tool choice none`, dialect: chat, edits: edits{
		`"tool_choice":"none",`,
		``,
	}},
	{name: "the choice required is lost",
		kind: "lost-tool-choice", path: `tool choice required`, params: otherResults, dialect: anthropic,
		edits: edits{
			`"tool_choice":{"type":"any"},`,
			``,
		}},
	{name: "an empty failure is a success",
		kind: "lost-error", path: `no sign of the failure`, params: emptyFailure, dialect: gemini,
		edits: edits{
			`"response":{"error":"the tool failed"}`,
			`"response":{"output":""}`,
		}},
	{name: "a failure with its image", refused: "all content must be type \"text\" if is_error is true",
		kind: "refused-failure", path: "all content must be type", params: shownFailure, dialect: anthropic},
	{name: "an empty failure is undefined", kind: "changed-result", path: `Error: undefined`,
		params: emptyFailure, dialect: chat, edits: edits{
			`"content":"Error:"`,
			`"content":"Error: undefined"`,
		}},
	{name: "an empty failure without a text", refused: "content cannot be empty if `is_error` is true",
		kind: "refused-failure", path: "content cannot be empty", params: emptyFailure, dialect: anthropic, edits: edits{
			`"content":[{"text":"the tool failed","type":"text"}],`,
			``,
		}},
	{name: "structured content is lost",
		kind: "changed-result", path: `messages[2].content`, params: otherResults, dialect: chat, edits: edits{
			`{\"sky\":[\"blue\",1.5]}`,
			``,
		}},
	{name: "structured content is rounded",
		kind: "changed-result", path: `messages[2].content`, params: otherResults, dialect: chat, edits: edits{
			`1.5`,
			`2`,
		}},
	{name: "other structured content behind the same text",
		kind: "changed-result", path: `messages[2].content`, params: saidTwice, dialect: chat, edits: edits{
			`"content":"{\"mm\":10}"`,
			`"content":"{\"mm\":10}\n{\"mm\": 11}"`,
		}},
	{name: "words behind the same text",
		kind: "changed-result", path: `messages[2].content`, params: saidTwice, dialect: chat, edits: edits{
			`"content":"{\"mm\":10}"`,
			`"content":"{\"mm\":10}\nThe tool was asked for rain."`,
		}},
	{name: "a link is lost",
		kind: "changed-result", path: `messages[4].content`, params: otherResults, dialect: chat, edits: edits{
			`weather:nine`,
			`weather`,
		}},
	{name: "structured content beside a text, in MCP's own form",
		kind: "changed-result", path: `b1`, params: textAndStructured, dialect: native,
		edits: edits{
			`"structuredContent":{"mm":10},`,
			``,
		}},
	{name: "structured content is changed beside a text, in MCP's own form",
		kind: "changed-result", path: `b1`, params: textAndStructured,
		dialect: native, edits: edits{
			`{"mm":10}`,
			`{"mm":11}`,
		}},
	{name: "a result has the name of no use",
		kind: "misnamed-result", path: `one of weather`, dialect: ollama, edits: edits{
			`"tool_name":"get.weather"`,
			`"tool_name":"weather"`,
		}},
	{name: "something follows the arguments", kind: "changed-input", path: `a2`, dialect: responses, edits: edits{
		`"{\"city\":\"Paris\"}"`,
		`"{\"city\":\"Paris\"}x"`,
	}},
	{name: "something is glued to the text beside an image",
		kind: "changed-result", path: `a mapx`, params: otherResults, dialect: anthropic,
		edits: edits{
			`"a map"`,
			`"a mapx"`,
		}},
	{name: "an invalid block in MCP's own form",
		kind: "invalid-request", path: `valid params`, params: otherResults, dialect: native, edits: edits{
			`"resource_link"`,
			`""`,
		}},
	{name: "a flag that is a string, in MCP's own form",
		kind: "invalid-request", path: `valid params`, params: weatherTalk, dialect: native,
		edits: edits{
			`"isError":true`,
			`"isError":"true"`,
		}},
	{name: "a link has another name",
		kind: "changed-result", path: `weather:nine`, params: otherResults, dialect: chat, edits: edits{
			`\"name\":\"nine\"`,
			`\"name\":\"enin\"`,
		}},
	{name: "a link beside a text has another name",
		kind: "changed-result", path: `weather:nine`, params: linkBeside, dialect: chat, edits: edits{
			`\"name\":\"nine\"`,
			`\"name\":\"enin\"`,
		}},
	{name: "a link's name is a number",
		kind: "changed-result", path: `weather:nine`, params: otherResults, dialect: chat, edits: edits{
			`\"name\":\"nine\"`,
			`\"name\":7`,
		}},
	{name: "an image of a result is lost",
		kind: "lost-media", path: `image/png`, params: otherResults, dialect: chat, edits: edits{
			`,{"content":[{"image_url":{"url":"data:image/png;base64,AAECAwQF"},"type":"image_url"}],"r` +
				`ole":"user"}`,
			``,
		}},
	{name: "audio is lost", kind: "lost-media", path: `expected audio of type audio/x-wav, 6 bytes in the model ` +
		`request, found none`, params: audioTalk, dialect: anthropic, edits: edits{
		`{"model":"c","max_tokens":9,"messages":[{"role":"user","content":"audio"}]}`,
	}},
	{name: "a result as a text of the user, too", kind: "extra-result", path: `each tool result once in the model ` +
		`request, found "it is wet there" as a text of the user, too`, params: toldResult, dialect: anthropic,
		edits: edits{
			`"tool_use_id":"b1","type":"tool_result"}`,
			`"tool_use_id":"b1","type":"tool_result"},{"type":"text","text":"it is wet there"}`,
		}},
	{name: "earlier texts in front of one of the user", kind: "extra-text", path: `no more of the conversation beside ` +
		`the text of this message in the model request, found the text "Warm in Köln and Paris?" again`, dialect: chat,
		edits: edits{
			`"See this:"`,
			`"Warm in Köln and Paris?\nMild there.\nSee this:"`,
		}},
	{name: "a result in front of a later text of the user", kind: "extra-text", path: `"unknown place" again`,
		dialect: chat, edits: edits{
			`"See this:"`,
			`"The tools said: unknown place\nSee this:"`,
		}},
	{
		name: "two images of a result change places",
		kind: "changed-order",
		path: `image of type image/png, 6 bytes behind ` +
			`image of type image/png, 3 bytes in the model request, found it before that`,
		params:  picturesShown,
		dialect: chat,
		edits: edits{
			`AAEC"`,
			`X"`,
			`AAECAwQF"`,
			`AAEC"`,
			`X"`,
			`AAECAwQF"`,
		},
	},
}
