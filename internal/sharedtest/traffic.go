package sharedtest

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

// Exchange is a request and its answer. Parts that were not recorded are empty; some recordings have only the answer.
type Exchange struct {
	// Name is the file's name, with an index if the file holds several exchanges.
	Name    string
	URL     string
	Header  http.Header // of the request
	Request string
	// Status is the HTTP status, or 0.
	Status      int
	ContentType string // of the answer
	// Answer is the body, or the data of each stream event on a line: see IsChunks.
	Answer string
}

// IsChunks reports whether only the data of a stream's events was recorded.
func (x *Exchange) IsChunks() bool { return strings.HasSuffix(x.Name, ".chunks.txt") }

// Needed returns the recordings of a provider. It skips the test without [Variable], and fails it without
// recordings.
func Needed(t testing.TB, provider string) []Exchange {
	t.Helper()
	return read(t, Path(t, "traffic", provider))
}

// Read returns the recordings of a provider; none without [Variable]. It reads cassettes of go-vcr, vcrpy and
// Ruby's VCR, dumps of httprr, and bare answers.
func Read(t testing.TB, provider string) []Exchange {
	t.Helper()
	if os.Getenv(Variable) == "" {
		return nil
	}
	return read(t, Path(t, "traffic", provider))
}

func read(t testing.TB, dir string) (all []Exchange) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no recordings in %s: %v", dir, err)
	}
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

// parse reads a file in the format of its extension.
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
		x.Status = http.StatusOK // otherwise there is no stream
	}
	return []Exchange{x}, nil
}

// recorded is an exchange in a cassette of go-vcr, vcrpy or VCR.
type recorded struct {
	Request struct {
		Body     any            // a string, or {string: …}
		Headers  map[string]any // strings, or lists of them
		URL, URI string
	}
	Response struct {
		Body    any
		Headers map[string]any
		Code    int
		Status  any // a string, or {code: …}
	}
}

func cassette(name string, data []byte) (all []Exchange, err error) {
	var c struct {
		Interactions []recorded
		Ruby         []recorded `yaml:"http_interactions"`
	}
	if err := yaml.Unmarshal(data, &c); err != nil {
		return nil, err
	}
	for i, r := range append(c.Interactions, c.Ruby...) {
		x := Exchange{
			Name: fmt.Sprintf("%s/%d", name, i), URL: r.Request.URL + r.Request.URI, Header: header(r.Request.Headers),
			Status: r.Response.Code, ContentType: header(r.Response.Headers).Get("Content-Type"),
		}
		if status, ok := r.Response.Status.(map[string]any); ok {
			x.Status, _ = status["code"].(int)
		}
		if x.Request, err = text(r.Request.Body); err != nil {
			return nil, fmt.Errorf("request of %s: %w", x.Name, err)
		}
		if x.Answer, err = text(r.Response.Body); err != nil {
			return nil, fmt.Errorf("answer of %s: %w", x.Name, err)
		}
		all = append(all, x)
	}
	return all, nil
}

func header(values map[string]any) http.Header {
	h := http.Header{}
	for name, value := range values {
		list, isList := value.([]any)
		if !isList {
			list = []any{value}
		}
		for _, v := range list {
			h.Add(name, fmt.Sprint(v))
		}
	}
	return h
}

// text returns a body, decoded and decompressed.
func text(body any) (string, error) {
	if inner, ok := body.(map[string]any); ok {
		body = inner["string"]
	}
	s, ok := body.(string)
	if !ok {
		return "", fmt.Errorf("the body is a %T: expected a string", body)
	}
	// The YAML tag for base64 is lost here. No provider's body is valid base64 by chance.
	if raw, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(s), "")); err == nil {
		s = string(raw)
	}
	if !strings.HasPrefix(s, "\x1f\x8b") {
		return s, nil
	}
	r, err := gzip.NewReader(strings.NewReader(s))
	if err != nil {
		return "", err
	}
	decompressed, err := io.ReadAll(r)
	if errors.Is(err, io.ErrUnexpectedEOF) { // one recorder drops the end
		err = nil
	}
	return string(decompressed), err
}

// dump reads the format of httprr: a version line, a line with two lengths, a request and a response.
func dump(data []byte) (Exchange, error) {
	in := bufio.NewReader(bytes.NewReader(data))
	var requestSize, answerSize int
	if _, err := fmt.Fscanf(in, "httprr trace v1\n%d %d\n", &requestSize, &answerSize); err != nil {
		return Exchange{}, err
	}
	raw := make([]byte, requestSize)
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
