// Command demohost is a small agent on the official SDKs: a configuration file, a tool loop of its own, sampling with
// tools, and approvals. It knows nothing of mcp-conform, which judges it like any other host:
//
//	mcp-conform run --config-template demohost.json -- demohost --config {config} --prompt {prompt}
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"sync"
	"time"
)

// config is the host's configuration file.
type config struct {
	Servers  map[string]serverConfig `json:"mcpServers"`
	Provider struct {
		Name    string `json:"name"` // openai or anthropic
		BaseURL string `json:"baseUrl"`
		APIKey  string `json:"apiKey"`
	} `json:"provider"`
	Ask bool `json:"askBeforeSampling"`
}

type serverConfig struct {
	URL     string   `json:"url"`
	Command string   `json:"command"`
	Args    []string `json:"args"`
}

func main() {
	path := flag.String("config", "demohost.json", "configuration file")
	prompt := flag.String("prompt", "", "task for the model")
	flag.Parse()
	if err := run(context.Background(), *path, *prompt); err != nil {
		fmt.Fprintln(os.Stderr, "demohost:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, path, prompt string) error {
	var c config
	raw, err := os.ReadFile(path)
	if err := errors.Join(err, json.Unmarshal(raw, &c)); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	h, err := newHost(&c, http.DefaultClient)
	if err != nil {
		return err
	}
	return h.work(ctx, prompt)
}

// fromTerminal asks the user, one question at a time.
func fromTerminal() func(question string) bool {
	var mu sync.Mutex
	in := bufio.NewScanner(os.Stdin)
	return func(question string) bool {
		mu.Lock()
		defer mu.Unlock()
		fmt.Printf("%s [y/n] ", question)
		return in.Scan() && in.Text() == "y"
	}
}

func newHost(c *config, client *http.Client) (*host, error) {
	h := &host{config: c, http: client, timeout: time.Minute, approve: func(string) bool { return true }}
	switch p := &c.Provider; p.Name {
	case "openai":
		h.ask = openAI(p.BaseURL, p.APIKey, client)
	case "anthropic":
		h.ask = claude(p.BaseURL, p.APIKey, client)
	default:
		return nil, errors.New("provider.name: expected openai or anthropic")
	}
	if h.answer = h.ask; c.Ask {
		h.approve = fromTerminal()
	}
	return h, nil
}
