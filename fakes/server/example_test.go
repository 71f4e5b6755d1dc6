package server_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// A tool asks the client's model for a summary. In a test, use server.New(t, tools...) instead of Start and Close.
func Example() {
	srv := mustStart(server.Options{}, server.Tool{
		Name: "summarise",
		Handler: func(s *server.Session) (any, error) {
			result, err := s.Sample(s.Ask("Summarise: the cat sat on the mat."))
			if err != nil {
				return nil, err
			}
			var answer struct{ Content server.TextContent }
			err = json.Unmarshal(result, &answer)
			return answer.Content.Text, err
		},
	})
	defer srv.Close()

	// In a test, the client under test does this.
	client := connect(srv.URL)
	call := client.call("summarise")
	fmt.Println(strings.ReplaceAll(call.next(), ",", ",\n"))
	client.respond(`{"jsonrpc":"2.0","id":1000001,"result":{"role":"assistant","model":"m",
		"content":{"type":"text","text":"A cat sat."}}}`)
	fmt.Println(call.next())
	// Output:
	// {"jsonrpc":"2.0",
	// "id":1000001,
	// "method":"sampling/createMessage",
	// "params":{"messages":[{"role":"user",
	// "content":{"type":"text",
	// "text":"Summarise: the cat sat on the mat."}}],
	// "maxTokens":1000}}
	// {"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"A cat sat."}]}}
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
				both = append(both, answer.Result)
			}
			return both, nil
		},
	})
	defer srv.Close()

	client := connect(srv.URL)
	call := client.call("translate")
	call.next()
	call.next()
	client.respond(`{"jsonrpc":"2.0","id":1000002,"result":"Katze"}`)
	client.respond(`{"jsonrpc":"2.0","id":1000001,"result":"chat"}`)
	fmt.Println(call.next())
	// Output:
	// {"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"[\"chat\",\"Katze\"]"}]}}
}

// The server closes the connection during a call, and the client resumes the stream.
func ExampleSession_Disconnect() {
	srv := mustStart(server.Options{}, server.Tool{
		Name: "long",
		Handler: func(s *server.Session) (any, error) {
			if err := s.Resumable(); err != nil {
				return nil, err
			}
			return "at last", s.Disconnect(50 * time.Millisecond)
		},
	})
	defer srv.Close()

	client := connect(srv.URL)
	fmt.Print(client.call("long").rest())
	fmt.Print(client.resume("post-1/2").rest())
	// Output:
	// id: post-1/1
	// data:
	//
	// id: post-1/2
	// retry: 50
	// data:
	//
	// id: post-1/3
	// data: {"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"at last"}]}}
}

// An invalid request is sent only if it is marked as hostile, and the trace shows that.
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
			return s.Sample(server.Hostile(map[string]any{"messages": nil}))
		},
	})
	defer srv.Close()

	client := connect(srv.URL)
	call := client.call("crash")
	call.next()
	client.respond(`{"jsonrpc":"2.0","id":1000001,"error":{"code":-1,"message":"no messages"}}`)
	fmt.Println(call.next())
	// Output:
	// hostile: {"jsonrpc":"2.0","id":1000001,"method":"sampling/createMessage","params":{"messages":null}}
	// {"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"no messages (code -1)"}],"isError":true}}
}

func mustStart(o server.Options, tool server.Tool) *server.Server {
	srv, err := server.Start(o, tool)
	if err != nil {
		panic(err)
	}
	return srv
}

// exampleClient is a minimal client of 2025-11-25.
type exampleClient struct{ url, session string }

func connect(url string) *exampleClient {
	c := &exampleClient{url: url}
	initialized := c.respond(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25",
		"clientInfo":{"name":"c","version":"1"},"capabilities":{"sampling":{}}}}`)
	c.session = initialized.Header.Get("Mcp-Session-Id")
	return c
}

func (c *exampleClient) call(tool string) *exampleReply {
	return c.respond(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q}}`, tool))
}

func (c *exampleClient) respond(message string) *exampleReply {
	return c.do(http.MethodPost, message, "Content-Type", "application/json")
}

func (c *exampleClient) resume(lastEvent string) *exampleReply {
	return c.do(http.MethodGet, "", "Last-Event-Id", lastEvent)
}

func (c *exampleClient) do(method, message, header, value string) *exampleReply {
	request, err := http.NewRequest(method, c.url, strings.NewReader(message))
	if err != nil {
		panic(err)
	}
	request.Header.Set(header, value)
	request.Header.Set("Accept", "application/json, text/event-stream")
	request.Header.Set("Mcp-Session-Id", c.session)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		panic(err)
	}
	return &exampleReply{response, bufio.NewScanner(response.Body)}
}

type exampleReply struct {
	*http.Response
	lines *bufio.Scanner
}

// next returns the next message of a stream.
func (r *exampleReply) next() string {
	for r.lines.Scan() {
		if message, ok := strings.CutPrefix(r.lines.Text(), "data: "); ok {
			return message
		}
	}
	return "the stream has ended"
}

// rest returns the remaining lines of a stream.
func (r *exampleReply) rest() string {
	var b strings.Builder
	for r.lines.Scan() {
		b.WriteString(strings.TrimSpace(r.lines.Text()) + "\n")
	}
	return b.String()
}
