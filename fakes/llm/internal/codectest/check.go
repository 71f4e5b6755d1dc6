// Package codectest tests codecs against cases in files. What all codecs' tests share belongs here, and no expectation
// about one provider.
package codectest

import (
	"bytes"
	"flag"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
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
