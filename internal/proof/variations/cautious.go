package variations

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"slices"

	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
	"github.com/mcp-conform/mcp-conform/internal/proof/mutants"
	"github.com/mcp-conform/mcp-conform/internal/proof/reference"
)

// cautiousVariations check what the model says.
var cautiousVariations = of(reference.Config{Dialect: "openai-chat", Plain: true}, "cautious-",
	edited("asks-again", "asks the model again if it says nothing, uses a tool that was not offered, or its arguments "+
		"are invalid JSON", "model-retries", hostCases+" basic/empty",
		mutants.Edit{Model: asksAgain}),
)

// asksAgain tells the model, in a message of its own, that its tool use was a mistake. The client gets the second
// answer.
func asksAgain(w *mutants.Wire, next http.RoundTripper) http.RoundTripper {
	return roundTrip(func(r *http.Request) (*http.Response, error) {
		asked, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		ask := func(body []byte) (*http.Response, []byte, error) {
			one := r.Clone(r.Context())
			one.Body, one.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
			resp, err := next.RoundTrip(one)
			if err != nil || resp.StatusCode != http.StatusOK {
				return resp, nil, err
			}
			said, err := io.ReadAll(resp.Body)
			if err != nil {
				return nil, nil, err
			}
			resp.Body = io.NopCloser(bytes.NewReader(said))
			return resp, said, nil
		}
		resp, said, err := ask(asked)
		if err != nil || !isMistake(asked, said) {
			return resp, err
		}
		w.Fire()
		body, err := jsonvalue.ReadObject(asked)
		if err != nil {
			return nil, err
		}
		body["messages"] = append(array(body["messages"]),
			any(object{"role": "user", "content": "That was nothing, or no valid use of a tool. Answer once more."}))
		resp, _, err = ask(jsonvalue.Marshal(body))
		return resp, err
	})
}

// isMistake reports whether a chat completion says nothing, or uses a tool that the request does not offer or with
// invalid JSON.
func isMistake(request, completion []byte) bool {
	asked, _ := jsonvalue.ReadObject(request)
	said, _ := jsonvalue.ReadObject(completion) // without the members if it is something else
	return slices.ContainsFunc(objects(said["choices"]), func(choice object) bool {
		message, _ := choice["message"].(object)
		calls := objects(message["tool_calls"])
		if len(calls) == 0 {
			return text(message, "content")+text(message, "refusal") == ""
		}
		return slices.ContainsFunc(calls, func(call object) bool {
			used, _ := call["function"].(object)
			offered := slices.ContainsFunc(objects(asked["tools"]), func(tool object) bool {
				function, _ := tool["function"].(object)
				return text(function, "name") == text(used, "name")
			})
			return !offered || !json.Valid([]byte(text(used, "arguments")))
		})
	})
}
