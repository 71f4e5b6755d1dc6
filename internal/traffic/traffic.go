// Package traffic reads recordings of real traffic with providers of models, for the tests of those who imitate it. The recordings belong to
// others and are no part of the project.
package traffic

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"
)

// folder is where the recordings are, seen from the packages of fakes/llm, by the provider.
const folder = "../../../../shared/traffic"

// Exchange is a request and its answer. What was not recorded is empty: of some there is only the answer.
type Exchange struct {
	// Name is the file's, and where it holds several exchanges a number behind it.
	Name    string
	URL     string
	Header  http.Header // of the request
	Request string
	// Status is 0 where it was not recorded.
	Status      int
	ContentType string // of the answer
	// Answer is the body. Of a file of chunks it is those, each on a line of its own: see IsChunks.
	Answer string
}

// IsChunks reports whether of a stream only the data of its events was recorded.
func (x *Exchange) IsChunks() bool { return strings.HasSuffix(x.Name, ".chunks.txt") }

// Needed reads the recordings of a provider. Without any, the test is skipped, or fails in CI.
func Needed(t testing.TB, provider string) []Exchange {
	t.Helper()
	all := Read(t, provider)
	switch {
	case len(all) > 0:
	case os.Getenv("CI") == "true":
		t.Fatalf("there are no recordings in %s/%s", folder, provider)
	default:
		t.Skipf("there are no recordings in %s/%s", folder, provider)
	}
	return all
}

// Read reads the recordings of a provider, of which there may be none: those of go-vcr, vcrpy and Ruby's VCR, dumps of httprr, and bare answers.
func Read(t testing.TB, provider string) []Exchange {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, provider, "*"))
	if err != nil {
		t.Fatal(err)
	}
	var all []Exchange
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		exchanges, err := parse(filepath.Base(file), data)
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		all = append(all, exchanges...)
	}
	return all
}

// parse reads a file by the ending of its name.
func parse(name string, data []byte) ([]Exchange, error) {
	switch filepath.Ext(name) {
	case ".yaml", ".yml":
		return cassette(name, data)
	case ".httprr":
		x, err := dump(data)
		x.Name = name
		return []Exchange{x}, err
	}
	x := Exchange{Name: name, Answer: string(data)}
	if x.IsChunks() {
		x.Status = http.StatusOK // or there would be no stream
	}
	return []Exchange{x}, nil
}

// recorded is an exchange as go-vcr, vcrpy and VCR have it.
type recorded struct {
	Request struct {
		Body     any            // a text, or {string: …}
		Headers  map[string]any // texts, or lists of them
		URL, URI string
	}
	Response struct {
		Body    any
		Headers map[string]any
		Code    int
		Status  any // a text, or {code: …}
	}
}

func cassette(name string, data []byte) ([]Exchange, error) {
	var c struct {
		Interactions []recorded
		Ruby         []recorded `yaml:"http_interactions"`
	}
	if err := yaml.Unmarshal(data, &c); err != nil {
		return nil, err
	}
	var all []Exchange
	for i, r := range append(c.Interactions, c.Ruby...) {
		x := Exchange{Name: fmt.Sprintf("%s/%d", name, i), URL: r.Request.URL + r.Request.URI, Header: canonical(r.Request.Headers), Status: r.Response.Code,
			ContentType: canonical(r.Response.Headers).Get("Content-Type")}
		if status, ok := r.Response.Status.(map[string]any); ok {
			x.Status, _ = status["code"].(int)
		}
		var err error
		if x.Request, err = text(r.Request.Body); err != nil {
			return nil, fmt.Errorf("the request of %s: %w", x.Name, err)
		}
		if x.Answer, err = text(r.Response.Body); err != nil {
			return nil, fmt.Errorf("the answer of %s: %w", x.Name, err)
		}
		all = append(all, x)
	}
	return all, nil
}

func canonical(header map[string]any) http.Header {
	h := http.Header{}
	for name, value := range header {
		values, isList := value.([]any)
		if !isList {
			values = []any{value}
		}
		for _, v := range values {
			h.Add(name, fmt.Sprint(v))
		}
	}
	return h
}

// text returns a body, decoded and unpacked.
func text(body any) (string, error) {
	if held, ok := body.(map[string]any); ok {
		body = held["string"]
	}
	said, ok := body.(string)
	if !ok {
		return "", fmt.Errorf("its body is a %T: want a text", body)
	}
	// That a text is base64 is said by a tag that is lost on the way. No body of a provider is base64 by chance.
	if raw, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(said), "")); err == nil {
		said = string(raw)
	}
	if !strings.HasPrefix(said, "\x1f\x8b") {
		return said, nil
	}
	r, err := gzip.NewReader(strings.NewReader(said))
	if err != nil {
		return "", err
	}
	unpacked, err := io.ReadAll(r)
	if errors.Is(err, io.ErrUnexpectedEOF) { // one recorder lost the end of it
		err = nil
	}
	return string(unpacked), err
}

// dump reads what httprr writes: a line with the format, one with two lengths, a request and a response.
func dump(data []byte) (Exchange, error) {
	in := bufio.NewReader(bytes.NewReader(data))
	var asked, answered int
	if _, err := fmt.Fscanf(in, "httprr trace v1\n%d %d\n", &asked, &answered); err != nil {
		return Exchange{}, err
	}
	raw := make([]byte, asked)
	if _, err := io.ReadFull(in, raw); err != nil {
		return Exchange{}, err
	}
	req, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(raw)))
	if err != nil {
		return Exchange{}, err
	}
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return Exchange{}, err
	}
	resp, err := http.ReadResponse(in, req)
	if err != nil {
		return Exchange{}, err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	return Exchange{URL: req.RequestURI, Header: req.Header, Request: string(body), Status: resp.StatusCode,
		ContentType: resp.Header.Get("Content-Type"), Answer: string(answer)}, err
}
