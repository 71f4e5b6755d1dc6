package memnet_test

import (
	"fmt"
	"io"
	"net/http"

	"github.com/mcp-conform/mcp-conform/internal/memnet"
)

// An HTTP server and a client without a socket between them.
func Example() {
	network := memnet.New()
	listener, err := network.Listen("127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "hello from "+r.Host)
	})}
	go func() { _ = server.Serve(listener) }()
	defer server.Close()

	client := network.Client()
	defer client.CloseIdleConnections()
	response, err := client.Get("http://" + listener.Addr().String())
	if err != nil {
		panic(err)
	}
	defer response.Body.Close()
	text, _ := io.ReadAll(response.Body)
	fmt.Println(string(text))
	// Output: hello from 127.0.0.1:1
}
