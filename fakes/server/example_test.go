package server_test

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/mcp-conform/mcp-conform/fakes/client"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// sampleText samples and returns the text of the answer.
func sampleText(s *server.Session, question string) (string, error) {
	result, err := s.Sample(s.Ask(question))
	if err != nil {
		return "", err
	}
	var answer struct{ Content server.TextContent }
	err = json.Unmarshal(result, &answer)
	return answer.Content.Text, err
}

// A tool asks the client's model for a summary. In a test, use server.New(t, tools...) instead of Start and Close.
func Example() {
	srv := mustStart(server.Options{}, server.Tool{
		Name: "summarise",
		Handler: func(s *server.Session) (any, error) {
			return sampleText(s, "Summarise: the cat sat on the mat.")
		},
	})
	defer srv.Close()
	fmt.Println(call(srv, "summarise"))
	// Output: A cat sat.
}

// Concurrent samples: the client may respond in any order.
func ExampleSession_SampleAll() {
	srv := mustStart(server.Options{}, server.Tool{
		Name: "translate",
		Handler: func(s *server.Session) (any, error) {
			var both []json.RawMessage
			for _, answer := range s.SampleAll(s.Ask("cat, in French"), s.Ask("cat, in German")) {
				if answer.Err != nil {
					return nil, answer.Err
				}
				var message struct{ Content json.RawMessage }
				if err := json.Unmarshal(answer.Result, &message); err != nil {
					return nil, err
				}
				both = append(both, message.Content)
			}
			return both, nil
		},
	})
	defer srv.Close()
	fmt.Println(call(srv, "translate"))
	// Output: [{"text":"chat","type":"text"},{"text":"Katze","type":"text"}]
}

// The server closes the connection during a call, and the client resumes the stream.
func ExampleTransport_Disconnect() {
	record := func(e trace.Event) trace.Ref {
		if e.Frame != nil && e.Frame.Event != "" {
			fmt.Printf("event %s on %s\n", e.Frame.Event, e.Frame.Stream)
		}
		return trace.Ref{}
	}
	srv := mustStart(server.Options{Record: record}, server.Tool{
		Name: "long",
		Handler: func(s *server.Session) (any, error) {
			stream := s.Transport()
			if err := stream.Resumable(); err != nil {
				return nil, err
			}
			return "at last", stream.Disconnect(50 * time.Millisecond)
		},
	})
	defer srv.Close()
	fmt.Println(call(srv, "long"))
	// Output:
	// event post-1/1 on post-1
	// event post-1/2 on post-1
	// event post-1/3 on get-2
	// at last
}

// An invalid request is sent only with the option Hostile, and the trace shows that.
func ExampleHostile() {
	record := func(e trace.Event) trace.Ref {
		if e.Frame != nil && e.Frame.Hostile {
			fmt.Println("hostile:", string(e.Frame.Raw))
		}
		return trace.Ref{}
	}
	srv := mustStart(server.Options{Record: record}, server.Tool{
		Name: "crash",
		Handler: func(s *server.Session) (any, error) {
			return s.Sample(map[string]any{"messages": nil}, server.Hostile())
		},
	})
	defer srv.Close()
	fmt.Println(call(srv, "crash"))
	// Output:
	// hostile: {"jsonrpc":"2.0","id":1000001,"method":"sampling/createMessage","params":{"messages":null}}
	// missing property 'maxTokens' (code -32602)
}

func mustStart(o server.Options, tool server.Tool) *server.Server {
	srv, err := server.Start(o, tool)
	if err != nil {
		panic(err)
	}
	return srv
}

// call connects a client, calls a tool and returns the text of its result. In a test, the client under test does this.
func call(srv *server.Server, tool string) string {
	c, err := client.Connect(context.Background(),
		client.Options{URL: srv.URL, Revision: server.V20251125, Sampling: answerQuestion})
	if err != nil {
		panic(err)
	}
	defer c.Close()
	result, err := c.CallTool(context.Background(), tool, nil)
	if err != nil {
		panic(err)
	}
	return result.Text()
}

// answerQuestion is the client's model.
func answerQuestion(_ context.Context, params map[string]any) (map[string]any, error) {
	answers := map[any]string{"cat, in French": "chat", "cat, in German": "Katze",
		"Summarise: the cat sat on the mat.": "A cat sat."}
	message := params["messages"].([]any)[0].(map[string]any)
	return client.Text(answers[message["content"].(map[string]any)["text"]]), nil
}
