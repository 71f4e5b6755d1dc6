package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"os/signal"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
)

// myGateway is a gateway for tests: my-gateway [BUG] ADDRESS URL is between HTTP and HTTP, and
// my-gateway [BUG] -- COMMAND… between stdio and stdio.
func myGateway() error {
	args, bug := os.Args[1:], ""
	if args[0] != "--" && strings.HasPrefix(args[0], "-") {
		bug, args = args[0][1:], args[1:]
	}
	edit := func(body []byte) []byte { return body }
	down := edit // what comes from the server, over stdio
	if bug == "drops-sampling" {
		edit = func(body []byte) []byte {
			return bytes.ReplaceAll(body, []byte(`"sampling":{"tools":{}}`), []byte(`"roots":{}`))
		}
	}
	switch bug {
	case "drops-context":
		edit = func(body []byte) []byte { return bytes.ReplaceAll(body, []byte(`"context":{},`), nil) }
	case "first-capabilities":
		edit = firstCapabilities()
	case "drops-error-data":
		data := regexp.MustCompile(`,?"data":("[^"]*"|\d+|\{"list".*?\]?,"reason":"busy"\})`)
		edit = func(body []byte) []byte { return data.ReplaceAll(body, nil) }
	case "drops-details":
		details := regexp.MustCompile(`,"(data":\{"until".*?\}\}|message":"half[^"]*"|tools":\[\])`)
		down = func(line []byte) []byte {
			return details.ReplaceAllFunc(line, func(part []byte) []byte {
				return bytes.Repeat([]byte("}"), bytes.Count(part, []byte("}}")))
			})
		}
	case "drops-empty":
		empty := []byte(`{"text":"","type":"text"},`)
		down = func(line []byte) []byte { return bytes.ReplaceAll(line, empty, nil) }
	case "own-tools":
		down = func(line []byte) []byte {
			return bytes.ReplaceAll(line, []byte(`"name":"gateway-reach"`), []byte(`"name":"invoke_tool"`))
		}
	case "indents":
		down = func(line []byte) []byte {
			var indented bytes.Buffer
			_ = json.Indent(&indented, line, "", "  ") // it is JSON
			return indented.Bytes()
		}
	case "logs":
		fmt.Println("INFO started")
	case "exits":
		fmt.Fprintln(os.Stderr, "no such setting")
		os.Exit(3)
	case "never-listens":
		fmt.Fprintln(os.Stderr, "listening at [::1]:1")
		<-interrupted() // without cgo, the runtime ends a program in which everything waits
	}
	if args[0] == "--" {
		return between(args[1:], edit, down)
	}
	to, err := url.Parse(args[1])
	if err != nil {
		return err
	}
	proxy := &httputil.ReverseProxy{FlushInterval: -1, Rewrite: func(r *httputil.ProxyRequest) {
		body, _ := io.ReadAll(r.In.Body)
		body = edit(body)
		r.Out.URL, r.Out.Host = to, to.Host
		r.Out.Body, r.Out.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		r.Out.Header.Set("Content-Length", strconv.Itoa(len(body)))
		if bug == "drops-method" {
			r.Out.Header.Del("Mcp-Method")
		}
	}}
	return http.ListenAndServe(args[0], http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case bug == "502":
			http.Error(w, "the upstream is not available", http.StatusBadGateway)
		case bug == "html":
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, "<html>Welcome</html>")
		case bug == "sse" && r.Method == http.MethodGet && r.URL.Path == "/sse":
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprint(w, "event: endpoint\ndata: /message?session=1\n\n")
		case bug == "sse":
			http.NotFound(w, r)
		case bug == "acknowledges" && r.Header.Get("Mcp-Session-Id") != "":
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, `{"jsonrpc":"2.0","id":2,"error":{"code":-32601,"message":"no such method"}}`)
		case bug == "login" && r.Header.Get("X-Key") != "k=1":
			w.WriteHeader(http.StatusUnauthorized)
		case bug == "legacy" && r.Header.Get("Mcp-Method") != "":
			http.Error(w, "no such revision", http.StatusBadRequest)
		case r.URL.Path == "/mcp" || bug == "": // and for every path, as many proxies do
			proxy.ServeHTTP(w, r)
		default:
			http.Redirect(w, r, "/mcp", http.StatusTemporaryRedirect)
		}
	}))
}

// firstCapabilities gives every client the capabilities of the first.
func firstCapabilities() func(body []byte) []byte {
	var first atomic.Value
	return func(body []byte) []byte {
		var m map[string]any
		if json.Unmarshal(body, &m) != nil {
			return body
		}
		params, _ := m["params"].(map[string]any)
		meta, _ := params["_meta"].(map[string]any)
		for _, in := range []struct {
			object map[string]any
			name   string
		}{{params, "capabilities"}, {meta, "io.modelcontextprotocol/clientCapabilities"}} {
			if in.object[in.name] != nil {
				first.CompareAndSwap(nil, in.object[in.name])
				in.object[in.name] = first.Load()
			}
		}
		changed, _ := json.Marshal(m)
		return changed
	}
}

// between launches the server and copies between its streams and ours.
func between(command []string, edit, down func([]byte) []byte) error {
	server := exec.Command(command[0], command[1:]...)
	in, err := server.StdinPipe()
	if err != nil {
		return err
	}
	out, err := server.StdoutPipe()
	server.Stderr = os.Stderr
	if err := errors.Join(err, server.Start()); err != nil {
		return err
	}
	go func() {
		defer in.Close()
		buffer := make([]byte, 1<<20)
		for {
			n, err := os.Stdin.Read(buffer)
			if _, failed := in.Write(edit(bytes.Clone(buffer[:n]))); err != nil || failed != nil {
				return
			}
		}
	}()
	for lines := bufio.NewReader(out); ; {
		line, err := lines.ReadBytes('\n')
		_, failed := os.Stdout.Write(down(line))
		if err != nil || failed != nil {
			return server.Wait()
		}
	}
}

func runMyGateway() int {
	if err := myGateway(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func interrupted() <-chan os.Signal {
	c := make(chan os.Signal, 1)
	signal.Notify(c, os.Interrupt)
	return c
}
