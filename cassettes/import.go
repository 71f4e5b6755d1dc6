package cassettes

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"
	"gopkg.in/dnaeon/go-vcr.v4/pkg/cassette"

	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// Import writes a cassette with all interactions of a file of another recorder: vcrpy, Ruby VCR, go-vcr v1 or httprr.
// It removes secrets as a recording does; of the options, only [WithSecrets] counts. It returns the number of
// interactions. It never overwrites a file. Its error names file, line and column, and shows the line with a caret.
func Import(from, to string, options ...Option) (interactions int, err error) {
	s, err := newSettings(options)
	if err != nil {
		return 0, err
	}
	if !strings.HasSuffix(to, extension) {
		return 0, fmt.Errorf("cassette %q: use the path of a file that ends in %s", to, extension)
	}
	if _, err := os.Lstat(to); err == nil {
		return 0, fmt.Errorf("cassette %s exists: remove it, or choose another folder", to)
	}
	data, err := os.ReadFile(from)
	if err != nil {
		return 0, err
	}
	all, err := foreign(from, data)
	if err != nil {
		return 0, err
	}
	secrets := &scrubber{}
	secrets.add(s.secrets...)
	for _, it := range all {
		u, _ := url.Parse(it.Request.URL) // checked
		secrets.addCredentials(it.Request.Headers, u)
	}
	for n, it := range all {
		it.ID = n
		scrub(it, false, secrets)
	}
	document, err := encode(to, all)
	if err != nil {
		return 0, err
	}
	return len(all), write(to, Imported, all, document, nil)
}

func foreign(name string, data []byte) ([]*cassette.Interaction, error) {
	if bytes.HasPrefix(data, []byte(gzipped)) {
		text, err := unzipped(data)
		if err != nil {
			return nil, fmt.Errorf("%s: invalid gzip: %w", name, err)
		}
		data = []byte(text)
	}
	f := &foreignFile{name: name, text: string(data)}
	if strings.HasPrefix(f.text, httprrBegin) {
		f.httprr()
	} else {
		f.yaml()
	}
	if len(f.all) == 0 && f.err == nil {
		f.refuse(1, 1, "no interactions: expected a file of vcrpy, Ruby VCR, go-vcr v1 or httprr")
	}
	return f.all, f.err
}

// foreignFile is a file that is read; err is the first error.
type foreignFile struct {
	name, text string
	all        []*cassette.Interaction
	err        error
}

// refuse keeps an error about a place of the file, unless there is one.
func (f *foreignFile) refuse(line, column int, format string, args ...any) {
	if f.err == nil {
		f.err = fmt.Errorf("%s:%d:%d: %w\n%s", f.name, line, column, fmt.Errorf(format, args...),
			excerpt(f.text, line, column))
	}
}

// refuseNode keeps an error about a value; nil for the beginning of the file.
func (f *foreignFile) refuseNode(n *yaml.Node, format string, args ...any) {
	if n == nil {
		n = &yaml.Node{Line: 1, Column: 1}
	}
	f.refuse(n.Line, n.Column, format, args...)
}

// excerpt returns a line of a text with a caret below the column. It shortens a long line.
func excerpt(text string, line, column int) string {
	const before, most = 40, 100
	lines := strings.Split(text, "\n")
	if line < 1 || line > len(lines) {
		return ""
	}
	shown := []rune(strings.ToValidUTF8(strings.TrimRight(lines[line-1], "\r"), "�"))
	at := min(max(column-1, 0), len(shown))
	begin := 0
	if at > before+most/2 {
		begin = at - before
	}
	margin := fmt.Sprintf("%5d | ", line)
	caret := strings.Repeat(" ", len(margin)+at-begin) + "^"
	return margin + strings.ReplaceAll(string(shown[begin:min(len(shown), begin+most)]), "\t", " ") + "\n" + caret
}

func (f *foreignFile) add(it *cassette.Interaction, line, column int) {
	q, r := &it.Request, &it.Response
	answered := r.Headers
	if q.Method == http.MethodHead || r.Code == http.StatusNotModified { // whose length is that of another answer
		answered = nil
	}
	for _, err := range []error{
		withoutURL(q.URL), lost(q.Headers, q.Body, "request"), lost(answered, r.Body, "response"),
		uncompress(q.Headers, &q.Body, "request"), uncompress(r.Headers, &r.Body, "response"), check(it),
	} {
		if err != nil {
			f.refuse(line, column, "interaction %d: %w", len(f.all), err)
		}
	}
	q.Proto, q.ProtoMajor, q.ProtoMinor = "HTTP/1.1", 1, 1
	r.Proto, r.ProtoMajor, r.ProtoMinor = "HTTP/1.1", 1, 1
	q.ContentLength, r.ContentLength = int64(len(q.Body)), int64(len(r.Body))
	if u, err := url.Parse(q.URL); err == nil {
		q.Host = u.Host
	}
	if text := http.StatusText(r.Code); r.Status == "" || r.Status == text {
		r.Status = strings.TrimSpace(strconv.Itoa(r.Code) + " " + text)
	}
	f.all = append(f.all, it)
}

// withoutURL refuses an interaction whose URL was removed: no request would match it.
func withoutURL(url string) error {
	if removed.MatchString(url) {
		return fmt.Errorf("expected the URL of the request, found %s: write the provider's URL there, or record it again",
			url)
	}
	return nil
}

// lost refuses a message without a body whose header says that it had one.
func lost(h http.Header, body, where string) error {
	if length := h.Get("Content-Length"); body == "" && strings.Trim(length, "0") != "" {
		return fmt.Errorf("the %s has no body, but its Content-Length is %s: record it again", where, length)
	}
	return nil
}

const gzipped = "\x1f\x8b"

// uncompress undoes the encoding of a body. Recorders may keep the header of a body that they have decoded.
func uncompress(h http.Header, body *string, where string) error {
	encoding := h.Get("Content-Encoding")
	if strings.HasPrefix(*body, gzipped) {
		text, err := unzipped([]byte(*body))
		if err != nil {
			return fmt.Errorf("the %s body is not valid gzip: %w", where, err)
		}
		*body = text
	} else if encoding != "" && !utf8.ValidString(*body) {
		return fmt.Errorf("the %s body has the content encoding %q: record it uncompressed or as gzip", where, encoding)
	}
	if encoding != "" {
		h.Del("Content-Encoding")
		h.Del("Content-Length")
	}
	return nil
}

func (f *foreignFile) yaml() {
	dec := yaml.NewDecoder(strings.NewReader(f.text))
	var document yaml.Node
	if err := dec.Decode(&document); err != nil && !errors.Is(err, io.EOF) {
		f.invalidYAML(err)
		return
	}
	if err := dec.Decode(&yaml.Node{}); err == nil {
		f.refuse(1, 1, "found a second YAML document: expected one")
	} else if !errors.Is(err, io.EOF) {
		f.invalidYAML(err)
	}
	if len(document.Content) == 0 {
		return
	}
	root := f.of(document.Content[0])
	if version := root.member("version"); version.Node != nil && version.Value == "2" {
		f.refuseNode(version.Node, "this is a cassette of go-vcr v4: use it as it is")
	}
	for _, n := range f.interactions(root) {
		it := f.of(n)
		q, r := it.part("request", inRequests), it.part("response", inResponses)
		code, status := r.status()
		f.add(&cassette.Interaction{
			Request: cassette.Request{
				Method: strings.ToUpper(q.member("method").text()), URL: q.member("uri", "url").text(),
				Headers: q.member("headers").header(), Body: q.body(),
			},
			Response: cassette.Response{Code: code, Status: status, Headers: r.member("headers").header(), Body: r.body()},
		}, n.Line, n.Column)
	}
}

// interactions returns the interactions of a file: mappings with a request and a response. LangChain's serializer of
// vcrpy writes a list of all requests and one of all responses.
func (f *foreignFile) interactions(root foreignNode) []*yaml.Node {
	list := root.member("interactions", "http_interactions")
	requests, responses := root.member("requests"), root.member("responses")
	for _, all := range []foreignNode{list, requests, responses} {
		if all.Node != nil && all.Kind != yaml.SequenceNode {
			f.refuseNode(all.Node, "expected a list of interactions, or of requests and responses")
			return nil
		}
	}
	switch {
	case list.Node != nil:
		return list.Content
	case requests.Node == nil || responses.Node == nil:
		return nil
	case len(requests.Content) != len(responses.Content):
		f.refuseNode(responses.Node, "expected as many responses as requests: %d, found %d", len(requests.Content),
			len(responses.Content))
		return nil
	}
	pairs := make([]*yaml.Node, len(requests.Content))
	for i, q := range requests.Content {
		pairs[i] = &yaml.Node{Kind: yaml.MappingNode, Line: q.Line, Column: q.Column, Content: []*yaml.Node{
			{Value: "request"}, q, {Value: "response"}, responses.Content[i]}}
	}
	return pairs
}

func (f *foreignFile) invalidYAML(err error) {
	var placed *yaml.LoadError
	if errors.As(err, &placed) {
		f.refuse(max(1, placed.Mark.Line), max(1, placed.Mark.Column), "invalid YAML: %s", placed.Message)
		return
	}
	f.refuse(1, 1, "invalid YAML: %w", err)
}

// foreignNode is a value of the file; Node is nil if it is missing.
type foreignNode struct {
	*yaml.Node
	file *foreignFile
}

func (f *foreignFile) of(n *yaml.Node) foreignNode {
	if n != nil && n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if n != nil && n.Tag == "!!null" {
		n = nil
	}
	return foreignNode{n, f}
}

// member returns the first of these members of a mapping.
func (n foreignNode) member(names ...string) foreignNode {
	for _, name := range names {
		for known, value := range n.members() {
			if known == name {
				return n.file.of(value)
			}
		}
	}
	return n.file.of(nil)
}

func (n foreignNode) members() iter.Seq2[string, *yaml.Node] {
	return func(yield func(string, *yaml.Node) bool) {
		for i := 0; n.Node != nil && n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
			if !yield(n.Content[i].Value, n.Content[i+1]) {
				return
			}
		}
	}
}

// inRequests and inResponses are the members of the other recorders. What else a file has would be lost.
var (
	inBoth = "body parsed_body headers url proto proto_major proto_minor transfer_encoding trailer content_length " +
		"http_version "
	inRequests  = strings.Fields(inBoth + "method uri form host remote_addr request_uri")
	inResponses = strings.Fields(inBoth +
		"content status status_code code duration uncompressed adapter_metadata protocol")
)

// part returns a mapping that must be there, with these members.
func (n foreignNode) part(name string, known []string) foreignNode {
	p := n.member(name)
	switch {
	case p.Node == nil:
		n.file.refuseNode(n.Node, "the member %s is missing", name)
	case p.Kind != yaml.MappingNode:
		n.file.refuseNode(p.Node, "%s is not a mapping", name)
	}
	for member, value := range p.members() {
		if !slices.Contains(known, member) {
			n.file.refuseNode(value, "unknown member %s of the %s: expected members of vcrpy, Ruby VCR, go-vcr v1 or httprr",
				member, name)
		}
	}
	return p
}

// body returns a body: a text, or JSON that pydantic-ai's serializer of vcrpy has written as YAML.
func (n foreignNode) body() string {
	if parsed := n.member("parsed_body"); parsed.Node != nil {
		var b strings.Builder
		parsed.json(&b)
		return b.String()
	}
	return n.member("body", "content").text()
}

// json writes a value as JSON, with its members in their order.
func (n foreignNode) json(b *strings.Builder) {
	switch {
	case n.Node == nil:
		b.WriteString("null")
	case n.Kind == yaml.MappingNode:
		b.WriteByte('{')
		separator := ""
		for name, value := range n.members() {
			b.WriteString(separator + string(jsonvalue.Marshal(name)) + ":")
			n.file.of(value).json(b)
			separator = ","
		}
		b.WriteByte('}')
	case n.Kind == yaml.SequenceNode:
		b.WriteByte('[')
		for i, value := range n.Content {
			if i > 0 {
				b.WriteByte(',')
			}
			n.file.of(value).json(b)
		}
		b.WriteByte(']')
	case slices.Contains([]string{"!!int", "!!float", "!!bool"}, n.ShortTag()):
		literal := strings.ToLower(n.Value) // True
		if !json.Valid([]byte(literal)) {
			n.file.refuseNode(n.Node, "%s is not a number of JSON", n.Value)
		}
		b.WriteString(literal)
	default:
		b.Write(jsonvalue.Marshal(n.text()))
	}
}

// text returns a text: a scalar, or the member string of a body. "" if it is missing.
func (n foreignNode) text() string {
	switch {
	case n.Node == nil:
		return ""
	case n.Kind == yaml.MappingNode:
		for name, value := range n.members() {
			switch name {
			case "string":
				if text := n.file.of(value); text.Node == nil || text.Kind == yaml.ScalarNode {
					return text.text()
				}
			case "base64_string":
				return n.file.of(value).decoded()
			}
		}
	case n.Kind == yaml.ScalarNode && (n.Tag == "!!binary" || n.Tag == "!binary"):
		return n.decoded()
	case n.Kind == yaml.ScalarNode:
		return n.Value
	}
	n.file.refuseNode(n.Node, "expected a text, or a mapping with the member string or base64_string")
	return ""
}

func (n foreignNode) decoded() string {
	if n.Node == nil {
		return ""
	}
	data, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(n.Value), ""))
	if err != nil {
		n.file.refuseNode(n.Node, "invalid base64: %w", err)
	}
	return string(data)
}

// removed matches what a recorder writes in place of a value that it removes, such as **REDACTED** or <FILTERED>.
var removed = regexp.MustCompile(`(?i)^[^\pL\d]*(redacted|filtered|removed|scrubbed|masked)[^\pL\d]*$`)

// header returns the header without the removed values: a response with the Content-Type **REDACTED** would not be
// replayed as a stream.
func (n foreignNode) header() http.Header {
	h := http.Header{}
	add := func(name, value string) {
		if !removed.MatchString(value) {
			h.Add(name, value)
		}
	}
	for name, value := range n.members() {
		switch values := n.file.of(value); {
		case values.Node == nil:
		case values.Kind == yaml.SequenceNode:
			for _, value := range values.Content {
				add(name, n.file.of(value).text())
			}
		default:
			add(name, values.text())
		}
	}
	return h
}

// status returns the code and text of a response: {code: 200, message: OK}, a code, or a code and a text.
func (n foreignNode) status() (code int, status string) {
	at := n.member("status")
	number := n.member("status_code", "code")
	switch {
	case at.Node != nil && at.Kind == yaml.MappingNode:
		number, status = at.member("code"), at.member("message").text()
	case at.Node != nil && number.Node == nil:
		number = at
	}
	digits, _, _ := strings.Cut(number.text(), " ")
	code, err := strconv.Atoi(digits)
	if err != nil {
		n.file.refuseNode(cmp.Or(number.Node, at.Node, n.Node), "expected the status of the response, such as 200")
	}
	return code, status
}
