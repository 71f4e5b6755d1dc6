// Package dialects lists the wire formats of model providers, and reads and writes recorded messages in any of them.
// What one format says belongs to its codec; the server that speaks them all is fakes/llm.
package dialects

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/fakes/llm/anthropic"
	"github.com/mcp-conform/mcp-conform/fakes/llm/cohere"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/llm/gemini"
	"github.com/mcp-conform/mcp-conform/fakes/llm/native"
	"github.com/mcp-conform/mcp-conform/fakes/llm/ollama"
	"github.com/mcp-conform/mcp-conform/fakes/llm/openai"
)

// Codecs are all dialects and compatible servers, in the order in which a server tries them. The facts of a codec tell
// other packages about it.
var Codecs = []dialect.Codec{
	native.Codec, openai.Chat, openai.Responses, anthropic.Messages, gemini.GenerateContent, ollama.Chat,
	cohere.Chat,
	openai.Mistral, openai.OpenRouter, openai.Groq, openai.XAI, openai.XAIResponses, openai.Compatible,
	openai.CompatibleResponses, openai.IndexFromOne,
}

// Names returns the names of all dialects, in the order of [Codecs].
func Names() []string {
	names := make([]string, len(Codecs))
	for i, d := range Codecs {
		names[i] = d.Name()
	}
	return names
}

// APIs returns the names of the dialects without the variants of compatible servers.
func APIs() []string {
	facts := Facts()
	return slices.DeleteFunc(Names(), func(name string) bool { return facts[name].Compatible != "" })
}

// Facts returns the facts of all dialects and compatible servers, by name.
func Facts() map[string]dialect.Facts {
	all := map[string]dialect.Facts{}
	for _, d := range Codecs {
		all[d.Name()] = d.Facts()
	}
	return all
}

// FactsOf returns the facts of a dialect; for a compatible server, those of the dialect of which it speaks a variant.
// The facts of an unknown name are zero.
func FactsOf(name string) dialect.Facts {
	codec, err := codecOf(name)
	if err != nil {
		return dialect.Facts{}
	}
	facts := codec.Facts()
	if facts.Compatible != "" {
		return FactsOf(facts.Compatible)
	}
	return facts
}

// Decode reads a recorded request of a dialect; path is the URL path of the request. It does not apply the provider's
// rules. The request shares memory with the body, which must not change. The error reports an unknown dialect or an
// unreadable body.
func Decode(name, path string, body []byte) (*dialect.Request, error) {
	req, _, err := decode(name, path, body)
	return req, err
}

// Check applies the provider's rules to a recorded request as [Decode] reads it, with the headers that the provider
// requires. The error says why the provider refuses it.
func Check(name, path string, body []byte) error {
	req, codec, err := decode(name, path, body)
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer key")
	maps.Copy(req.Header, codec.Facts().Header)
	if bad := codec.Check(req); bad != nil {
		return bad
	}
	return nil
}

func decode(name, path string, body []byte) (*dialect.Request, dialect.Codec, error) {
	codec, err := codecOf(name)
	if err != nil {
		return nil, nil, err
	}
	r := &http.Request{Method: http.MethodPost, URL: &url.URL{Path: path},
		Header: http.Header{"Content-Type": {"application/json"}}}
	req, bad := codec.Decode(r, body)
	if bad != nil {
		return nil, nil, bad
	}
	return req, codec, nil
}

// EncodeRequest writes a request in a dialect as a correct client would: the URL path with its query, and the body. It
// reads the neutral members of the request, and leaves out what the dialect cannot hold. Media that do not fit into a
// tool result follow the results. The error reports an unknown dialect.
func EncodeRequest(name string, r *dialect.Request) (path string, body []byte, err error) {
	codec, err := codecOf(name)
	if err != nil {
		return "", nil, err
	}
	u, body := codec.EncodeRequest(r)
	return u.String(), body, nil
}

// DecodeReply reads what the model said from the recorded body of an answer with status 200, plain or streamed. The
// error reports an unknown dialect, an unreadable body, or an error of the model.
func DecodeReply(name string, body []byte) (*dialect.DecodedReply, error) {
	codec, err := codecOf(name)
	if err != nil {
		return nil, err
	}
	return codec.DecodeReply(body)
}

func codecOf(name string) (dialect.Codec, error) {
	for _, d := range Codecs {
		if d.Name() == name {
			return d, nil
		}
	}
	return nil, fmt.Errorf("dialect %q is unknown: expected one of %s", name, strings.Join(Names(), ", "))
}
