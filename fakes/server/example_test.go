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

// A tool that has the client's model do its work. In a test, server.New(t, tools…) takes the place of Start and Close.
func Example() {
	srv, err := server.Start(server.Options{}, server.Tool{
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
	if err != nil {
		panic(err)
	}
	defer srv.Close()

	// The client under test would stand here. This one answers by hand.
	client := connect(srv.URL, `{"sampling":{}}`)
	call := client.post(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"summarise"}}`)
	question := call.next()
	fmt.Println(question)
	client.post(`{"jsonrpc":"2.0","id":1000001,"result":{"role":"assistant","model":"m","content":{"type":"text","text":"A cat sat."}}}`)
	fmt.Println(call.next())
	// Output:
	// {"jsonrpc":"2.0","id":1000001,"method":"sampling/createMessage","params":{"messages":[{"role":"user","content":{"type":"text","text":"Summarise: the cat sat on the mat."}}],"maxTokens":1000}}
	// {"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"A cat sat."}]}}
}

// Several samples at once: all are asked for before the first is answered, and they may be answered in any order.
func ExampleSession_SampleAll() {
	srv, err := server.Start(server.Options{}, server.Tool{
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
	if err != nil {
		panic(err)
	}
	defer srv.Close()

	client := connect(srv.URL, `{"sampling":{}}`)
	call := client.post(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"translate"}}`)
	call.next()
	call.next()
	client.post(`{"jsonrpc":"2.0","id":1000002,"result":"Katze"}`)
	client.post(`{"jsonrpc":"2.0","id":1000001,"result":"chat"}`)
	fmt.Println(call.next())
	// Output:
	// {"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"[\"chat\",\"Katze\"]"}]}}
}

// A stream whose connection is closed under the call: the client comes back for what it has not seen.
func ExampleSession_Disconnect() {
	srv, err := server.Start(server.Options{}, server.Tool{
		Name: "long",
		Handler: func(s *server.Session) (any, error) {
			if err := s.Resumable(); err != nil {
				return nil, err
			}
			return "at last", s.Disconnect(50 * time.Millisecond)
		},
	})
	if err != nil {
		panic(err)
	}
	defer srv.Close()

	client := connect(srv.URL, `{}`)
	call := client.post(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"long"}}`)
	fmt.Print(call.rest())
	fmt.Print(client.get("post-1/2").rest())
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

// What breaks the protocol is sent only where that is meant, and the trace says so.
func ExampleHostile() {
	srv, err := server.Start(server.Options{
		Record: func(e trace.Event) trace.Ref {
			if e.Frame != nil && e.Frame.Hostile {
				fmt.Println("hostile:", string(e.Frame.Raw))
			}
			return trace.Ref{}
		},
	}, server.Tool{
		Name: "crash",
		Handler: func(s *server.Session) (any, error) {
			_, err := s.Sample(server.Hostile(map[string]any{"messages": nil}))
			return nil, err
		},
	})
	if err != nil {
		panic(err)
	}
	defer srv.Close()

	client := connect(srv.URL, `{"sampling":{}}`)
	call := client.post(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"crash"}}`)
	call.next()
	client.post(`{"jsonrpc":"2.0","id":1000001,"error":{"code":-32602,"message":"messages is null"}}`)
	fmt.Println(call.next())
	// Output:
	// hostile: {"jsonrpc":"2.0","id":1000001,"method":"sampling/createMessage","params":{"messages":null}}
	// {"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"messages is null (code -32602)"}],"isError":true}}
}

// exampleClient is a client of 2025-11-25, as short as it can be.
type exampleClient struct{ url, session string }

func connect(url, capabilities string) *exampleClient {
	c := &exampleClient{url: url}
	initialized := c.post(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","clientInfo":{"name":"c","version":"1"},"capabilities":` + capabilities + `}}`)
	c.session = initialized.Header.Get("Mcp-Session-Id")
	return c
}

func (c *exampleClient) post(message string) *exampleReply {
	return c.do(http.MethodPost, message, "Content-Type", "application/json")
}

// get comes back for a stream, behind the event that was seen last.
func (c *exampleClient) get(lastEvent string) *exampleReply {
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

// rest returns all lines that are left of a stream.
func (r *exampleReply) rest() string {
	var b strings.Builder
	for r.lines.Scan() {
		b.WriteString(strings.TrimSpace(r.lines.Text()) + "\n")
	}
	return b.String()
}
