package cassettes

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	"gopkg.in/dnaeon/go-vcr.v4/pkg/cassette"
)

// httprrBegin begins a file of httprr: the requests and responses of HTTP/1.1 follow, with a line of their lengths
// before each pair.
const httprrBegin = "httprr trace v1\n"

func (f *foreignFile) httprr() {
	rest := f.text[len(httprrBegin):]
	for rest != "" && f.err == nil {
		before := f.text[:len(f.text)-len(rest)]
		line, column := 1+strings.Count(before, "\n"), len(before)-strings.LastIndexByte(before, '\n')
		lengths, after, found := strings.Cut(rest, "\n")
		asked, answered, err := lengthsOf(lengths)
		if !found || err != nil {
			f.refuse(line, column, "expected the lengths of a request and a response, such as 337 3020")
			return
		}
		request, more := cutMessage(after, asked)
		response, more := cutMessage(more, answered)
		it, err := httprrPair(request, response)
		truncated := len(request)+len(response) < asked+answered && more == ""
		switch {
		case truncated && (err != nil || !complete(it.Response.Body)):
			f.refuse(line, column, "the file is truncated: expected %d bytes after this line, found %d",
				asked+answered, len(after))
		case err != nil:
			f.refuse(line+1, 1, "interaction %d: %w", len(f.all), err)
		default:
			f.add(it, line, column)
		}
		rest = more
	}
}

// complete reports whether an answer is whole although it is shorter than its length: somebody has edited the file.
func complete(answer string) bool { return json.Valid([]byte(answer)) || finished([]byte(answer)) }

// cutMessage cuts a message of n bytes from a text. Git may have replaced the ends of the header's lines, which count
// two bytes. A truncated message is shorter.
func cutMessage(text string, n int) (message, rest string) {
	if head, _, found := strings.Cut(text, "\n\n"); found && !strings.Contains(head, "\r") {
		n -= strings.Count(head, "\n") + 2
	}
	n = min(max(n, 0), len(text))
	return text[:n], text[n:]
}

func lengthsOf(line string) (asked, answered int, err error) {
	first, second, _ := strings.Cut(line, " ")
	if asked, err = strconv.Atoi(first); err == nil {
		answered, err = strconv.Atoi(second)
	}
	if err == nil && (asked < 0 || answered < 0) {
		err = strconv.ErrRange
	}
	return asked, answered, err
}

func httprrPair(asked, answered string) (*cassette.Interaction, error) {
	q, err := http.ReadRequest(bufio.NewReader(strings.NewReader(asked)))
	if err != nil {
		return nil, fmt.Errorf("invalid request: %w", err)
	}
	request, err := bodyOf(q.TransferEncoding, q.Body, asked)
	if err != nil {
		return nil, fmt.Errorf("invalid request: %w", err)
	}
	r, err := http.ReadResponse(bufio.NewReader(strings.NewReader(answered)), q)
	if err != nil {
		return nil, fmt.Errorf("invalid response: %w", err)
	}
	defer r.Body.Close()
	response, err := bodyOf(r.TransferEncoding, r.Body, answered)
	if err != nil {
		return nil, fmt.Errorf("invalid response: %w", err)
	}
	return &cassette.Interaction{
		Request:  cassette.Request{Method: q.Method, URL: q.URL.String(), Headers: q.Header, Body: request},
		Response: cassette.Response{Code: r.StatusCode, Status: r.Status, Headers: r.Header, Body: response},
	}, nil
}

// bodyOf returns the body of a message: all that follows its header, because httprr's users edit bodies and leave the
// old Content-Length.
func bodyOf(encoding []string, body io.ReadCloser, message string) (string, error) {
	if len(encoding) > 0 {
		data, err := io.ReadAll(body)
		return string(data), err
	}
	_, rest, found := strings.Cut(message, "\r\n\r\n")
	if !found {
		_, rest, _ = strings.Cut(message, "\n\n")
	}
	return rest, nil
}
