// Package codectest tests codecs against cases in files. What all codecs' tests share belongs here, and no expectation
// about one provider.
package codectest

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/internal/traffic"
)

var update = flag.Bool("update", false, "write the actual results into the files of cases")

// Refusal decodes and checks a request, as a server does; nil if it is accepted.
func Refusal(codec dialect.Codec, header http.Header, body string) *dialect.Error {
	req, refused := codec.Decode(&http.Request{Header: header}, []byte(body))
	if refused != nil {
		return refused
	}
	return codec.Check(req)
}

// Check decodes and checks the requests in a file, as a server does, and compares the results. The file is a txtar
// archive with a case a section: lines "@ url URL" and "@ header NAME: VALUE" for a request that differs from the
// default one, the body, then the result. A result is "=> accepted", or a line "=> STATUS KIND param=PARAM code=CODE"
// without the empty words, and a line with the message. The flag -update writes the results.
func Check(t *testing.T, codec dialect.Codec, file, defaultURL string, header http.Header) {
	compare(t, file, defaultURL, header, func(t *testing.T, r *http.Request, body []byte) string {
		return result(t, codec, r, body)
	})
}

// Messages is [Check] for the decoded messages: "=> messages", a line for each message, and indented lines for its
// blocks. Each line has the role or type, the path, and all members that are not zero.
func Messages(t *testing.T, codec dialect.Codec, file, defaultURL string) {
	compare(t, file, defaultURL, http.Header{}, func(t *testing.T, r *http.Request, body []byte) string {
		req, refused := codec.Decode(r, body)
		require.Nil(t, refused)
		lines := "messages\n"
		for _, m := range req.Messages {
			lines += fmt.Sprintf("%s %s\n", m.Role, m.Path) + describe(m.Content, "  ")
		}
		return lines
	})
}

func describe(blocks []dialect.Block, indent string) (lines string) {
	for _, b := range blocks {
		lines += fmt.Sprintf("%s%s %s", indent, b.Type, b.Path)
		for _, member := range []struct{ name, value string }{
			{"id", b.ID}, {"name", b.Name}, {"text", b.Text}, {"signature", b.Signature}, {"type", b.MimeType},
			{"data", fmt.Sprintf("%x", b.Data)}, {"input", string(b.Input)}, {"raw", string(b.Raw)},
		} {
			if member.value != "" {
				lines += " " + member.name + "=" + member.value
			}
		}
		if b.IsError {
			lines += " error"
		}
		lines += "\n" + describe(b.Content, indent+"  ")
	}
	return lines
}

// compare runs each case of a file and compares or writes its result.
func compare(t *testing.T, file, defaultURL string, header http.Header,
	run func(t *testing.T, r *http.Request, body []byte) string,
) {
	archive, err := txtar.ParseFile(file)
	require.NoError(t, err)
	for i, f := range archive.Files {
		t.Run(f.Name, func(t *testing.T) {
			given, want, _ := strings.Cut("\n"+string(f.Data), "\n=> ")
			req := &http.Request{Method: http.MethodPost, URL: parse(t, defaultURL), Header: header.Clone()}
			body := strings.TrimPrefix(given, "\n")
			for strings.HasPrefix(body, "@ ") {
				line, rest, _ := strings.Cut(body, "\n")
				name, value, _ := strings.Cut(strings.TrimPrefix(line, "@ "), " ")
				body = rest
				switch name {
				case "url":
					req.URL = parse(t, value)
				case "header":
					name, value, _ := strings.Cut(value, ": ")
					req.Header.Set(name, value)
					if value == "" {
						req.Header.Del(name)
					}
				}
			}
			got := run(t, req, []byte(body))
			if *update {
				archive.Files[i].Data = []byte(strings.TrimPrefix(given+"\n=> "+got, "\n"))
				return
			}
			require.Equal(t, want, got)
		})
	}
	if *update {
		require.NoError(t, os.WriteFile(file, txtar.Format(archive), 0o644))
	}
}

func parse(t *testing.T, address string) *url.URL {
	u, err := url.Parse(address)
	require.NoError(t, err)
	return u
}

// result describes what a codec says of a request. It must say the same without the decoded form.
func result(t *testing.T, codec dialect.Codec, r *http.Request, body []byte) string {
	req, refused := codec.Decode(r, bytes.Clone(body))
	require.True(t, (req == nil) != (refused == nil), "Decode returns either a request or an error")
	if refused == nil {
		refused = codec.Check(req)
		req.Decoded = nil
		require.Equal(t, refused, codec.Check(req), "Check without the decoded form")
	}
	if refused == nil {
		return "accepted\n"
	}
	words := []string{fmt.Sprint(refused.Status)}
	for _, word := range []struct{ prefix, value string }{
		{"", refused.Kind}, {"param=", refused.Param}, {"code=", refused.Code},
	} {
		if word.value != "" {
			words = append(words, word.prefix+word.value)
		}
	}
	message, _, _ := strings.Cut(refused.Message, " into Go ") // the rest depends on the version of encoding/json
	return strings.Join(words, " ") + "\n" + message + "\n"
}

// Fuzz decodes, checks and answers any body. The seeds and the recordings of a provider come first. A refusal by Check
// has one of the statuses.
func Fuzz(f *testing.F, codec dialect.Codec, header http.Header, provider string, seeds []string, statuses ...int) {
	for _, x := range traffic.Read(f, provider) {
		seeds = append(seeds, x.Request)
	}
	for _, seed := range seeds {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		req, err := codec.Decode(&http.Request{Header: header}, body)
		if (req == nil) == (err == nil) {
			t.Fatalf("expected a request or an error, found %v and %v", req, err)
		}
		if err != nil {
			return
		}
		if err := codec.Check(req); err != nil && (!slices.Contains(statuses, err.Status) || err.Message == "") {
			t.Fatalf("expected a message and one of the statuses %v, found %+v", statuses, err)
		}
		a := codec.Encode(req, &dialect.Reply{Content: []dialect.Block{{Type: dialect.Text, Text: string(body)},
			{Type: dialect.ToolUse, Input: body}, {Type: dialect.Thinking, Text: "hm"}}})
		if a.Status != http.StatusOK || len(a.Chunks) == 0 {
			t.Fatalf("expected an answer, found %+v", a)
		}
		codec.EncodeErrorEvent(req, &dialect.Reply{}, 0, &dialect.Error{Status: http.StatusInternalServerError})
	})
}

// Members returns the sorted, unique words for the members of a JSON text, at any depth: words receives the path, without
// indices, and the value. The members inside an object whose path ends in opaque are left out; "" for none.
func Members(t *testing.T, text, opaque string, words func(path string, v any) []string) []string {
	t.Helper()
	var v any
	require.NoError(t, json.Unmarshal([]byte(text), &v), text)
	found := map[string]bool{}
	var walk func(path string, v any)
	walk = func(path string, v any) {
		if path != "" {
			for _, word := range words(path, v) {
				found[word] = true
			}
		}
		switch v := v.(type) {
		case map[string]any:
			if opaque != "" && strings.HasSuffix(path, opaque) {
				return
			}
			for name, inner := range v {
				walk(strings.TrimPrefix(path+"."+name, "."), inner)
			}
		case []any:
			for _, inner := range v {
				walk(path, inner)
			}
		}
	}
	walk("", v)
	return slices.Sorted(maps.Keys(found))
}

// Golden returns a function that compares the lines of a case with its section of a txtar file. The flag -update writes
// the file, with all cases of the test.
func Golden(t *testing.T, file string) func(t *testing.T, name string, lines []string) {
	archive := &txtar.Archive{Comment: []byte("What the codec answers, by case of the test. The flag -update writes it.\n\n")}
	if !*update {
		var err error
		archive, err = txtar.ParseFile(file)
		require.NoError(t, err)
	}
	t.Cleanup(func() {
		if *update {
			require.NoError(t, os.WriteFile(file, txtar.Format(archive), 0o644))
		}
	})
	return func(t *testing.T, name string, lines []string) {
		t.Helper()
		text := strings.Join(lines, "\n") + "\n"
		if *update {
			archive.Files = append(archive.Files, txtar.File{Name: name, Data: []byte(text)})
			return
		}
		i := slices.IndexFunc(archive.Files, func(f txtar.File) bool { return f.Name == name })
		require.GreaterOrEqual(t, i, 0, "%s has no section %q: run the test with -update", file, name)
		require.Equal(t, string(archive.Files[i].Data), text)
	}
}

// File compares bytes with a file. The flag -update writes it.
func File(t *testing.T, file string, got []byte) {
	t.Helper()
	if *update {
		require.NoError(t, os.WriteFile(file, got, 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(want), string(got))
}
