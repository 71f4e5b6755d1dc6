package cassettes

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"time"

	"gopkg.in/dnaeon/go-vcr.v4/pkg/cassette"
)

// mostBody is how large a body may be that is recorded, in bytes. Tests have it smaller.
var mostBody int64 = 64 << 20

// exchange is a request and its answer while they are recorded.
type exchange struct {
	interaction cassette.Interaction
	began       time.Time

	mu     sync.Mutex
	body   bytes.Buffer // of the answer, as far as it came
	timing timing
	last   time.Time // when the piece before came
	full   bool      // whether it filled the reader's buffer, so that the next one is more of it
	over   bool
	// trailer is filled by whoever reads the body, when that ends.
	trailer http.Header
	wrong   error // why it cannot be recorded
}

// newExchange takes down a request. What it returns is the body to send.
func newExchange(r *http.Request) (*exchange, io.ReadCloser, error) {
	x := &exchange{began: time.Now()}
	x.interaction.Request = cassette.Request{
		Proto: r.Proto, ProtoMajor: r.ProtoMajor, ProtoMinor: r.ProtoMinor, ContentLength: r.ContentLength,
		TransferEncoding: r.TransferEncoding, Trailer: r.Trailer.Clone(), Host: r.Host,
		Form: url.Values(http.Header(r.Form).Clone()), Headers: r.Header.Clone(), URL: r.URL.String(), Method: r.Method,
	}
	if x.interaction.Request.Host == "" {
		x.interaction.Request.Host = r.URL.Host
	}
	body, err := readBody(r)
	if err != nil {
		return nil, nil, err
	}
	q := &x.interaction.Request
	q.Body, x.wrong = body.text, body.wrong
	if body.unzipped {
		q.Headers.Del("Content-Encoding")
		q.Headers.Del("Content-Length")
		q.ContentLength = int64(len(body.text))
	}
	return x, body.again, nil
}

// requestBody is a body that was read.
type requestBody struct {
	text     string
	unzipped bool          // whether the text is what was zipped, in which secrets can be looked for
	again    io.ReadCloser // what is to be sent in its place
	wrong    error         // why there is no text: it is larger than what is recorded, or cannot be looked into
}

func readBody(r *http.Request) (*requestBody, error) {
	if r.Body == nil || r.Body == http.NoBody {
		return &requestBody{again: http.NoBody}, nil
	}
	data, err := io.ReadAll(io.LimitReader(r.Body, mostBody+1))
	if err != nil {
		return nil, errors.Join(err, r.Body.Close())
	}
	if int64(len(data)) > mostBody {
		return &requestBody{again: &both{io.MultiReader(bytes.NewReader(data), r.Body), r.Body}, wrong: fmt.Errorf("the request's body is larger than %d MiB", mostBody>>20)}, nil
	}
	body := &requestBody{text: string(data), again: io.NopCloser(bytes.NewReader(data))}
	switch encoding := strings.ToLower(r.Header.Get("Content-Encoding")); encoding {
	case "", "identity":
	case "gzip", "x-gzip":
		body.unzipped = true
		if body.text, err = unzipped(data); err != nil {
			body.wrong = fmt.Errorf("the request's body is not the gzip that it says it is: %w", err)
		}
	default:
		body.wrong = fmt.Errorf("the request's body has the content encoding %q, in which secrets cannot be looked for: send it with gzip, or with none", encoding)
	}
	return body, r.Body.Close()
}

// both reads from one and closes another.
type both struct {
	io.Reader
	io.Closer
}

// answered takes down the head of the answer and returns the answer with a body that is recorded while it is read.
func (x *exchange) answered(resp *http.Response) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.last = time.Now()
	x.timing.First = milliseconds(x.last.Sub(x.began))
	x.interaction.Response = cassette.Response{
		Proto: resp.Proto, ProtoMajor: resp.ProtoMajor, ProtoMinor: resp.ProtoMinor, TransferEncoding: resp.TransferEncoding,
		ContentLength: resp.ContentLength, Uncompressed: resp.Uncompressed,
		Headers: resp.Header.Clone(), Status: resp.Status, Code: resp.StatusCode,
	}
	x.trailer = resp.Trailer
	switch {
	case resp.StatusCode == http.StatusSwitchingProtocols: // the body is the connection, which is the caller's to write to
		x.wrong = errors.New("it has become a connection of another protocol")
	case resp.Body == nil || resp.Body == http.NoBody:
		x.over = true
	default:
		resp.Body = &tee{x: x, ctx: resp.Request.Context(), body: resp.Body}
	}
}

// tee is the body of an answer: who reads it gets each piece when it comes, and the exchange takes it down.
type tee struct {
	x    *exchange
	ctx  context.Context
	body io.ReadCloser
}

func (t *tee) Read(p []byte) (int, error) {
	n, err := t.body.Read(p)
	t.x.piece(p[:n], n == len(p))
	switch {
	case err == nil:
	case errors.Is(err, io.EOF):
		t.x.end(wholeAnswer)
	case t.ctx.Err() != nil:
		t.x.end(cutByCaller)
	default:
		t.x.end(cutByProvider)
	}
	return n, err
}

// Close without having read to the end is the caller's way to cut an answer short.
func (t *tee) Close() error {
	err := t.body.Close()
	t.x.end(cutByCaller)
	return err
}

// piece takes down what came at one time. A piece that fills the buffer may go on in the next one.
func (x *exchange) piece(p []byte, full bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if len(p) == 0 || x.over || x.wrong != nil {
		return
	}
	if int64(x.body.Len()+len(p)) > mostBody {
		x.wrong = fmt.Errorf("the answer is larger than %d MiB", mostBody>>20)
		x.body = bytes.Buffer{}
		return
	}
	now := time.Now()
	if n := len(x.timing.Pieces); x.full && n > 0 {
		x.timing.Pieces[n-1][0] += int64(len(p))
	} else {
		x.timing.Pieces = append(x.timing.Pieces, [2]int64{int64(len(p)), milliseconds(now.Sub(x.last))})
	}
	x.body.Write(p)
	x.last, x.full = now, full
}

// end takes down how the answer ended. The first word counts. A caller who has read all that there is to a stream or to a JSON value, and goes
// without waiting for the connection's end, has cut nothing short.
func (x *exchange) end(how string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.over {
		return
	}
	x.over = true
	if how == wholeAnswer { // else somebody may be filling it now
		x.interaction.Response.Trailer = x.trailer.Clone()
	}
	if how == cutByCaller && x.complete() {
		how = wholeAnswer
	}
	x.timing.Cut = how
}

// complete reports whether all of the answer is there, as far as can be told from what came.
func (x *exchange) complete() bool {
	r, body := &x.interaction.Response, x.body.Bytes()
	if int64(len(body)) == r.ContentLength || finished(body) {
		return true
	}
	mediaType, _, _ := mime.ParseMediaType(r.Headers.Get("Content-Type"))
	return mediaType == "application/json" && json.Valid(body)
}

// final is what the last event of a stream has in it. Gemini's has no word of its own: nothing comes between its last chunk and the end.
var final = regexp.MustCompile(`(?m)^data: ?\[DONE\]|^event: ?(?:message_stop|response\.(?:completed|incomplete|failed))\b|` +
	`"type": ?"(?:message_stop|response\.(?:completed|incomplete|failed))"|"done": ?true`)

// finished reports whether a stream has come to its last event.
func finished(stream []byte) bool {
	return bytes.HasSuffix(stream, []byte("\n")) && final.Match(stream[max(0, len(stream)-finalEvent):])
}

// finalEvent is how far from the end of a stream its last event is looked for: the whole answer may be repeated in it.
const finalEvent = 1 << 20

// isAnswered reports whether there is an answer, or the beginning of one.
func (x *exchange) isAnswered() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.interaction.Response.Code != 0
}

// taken returns the interaction as it goes into a file, and its timing. An answer that is still coming is taken as one that the caller cut
// short.
func (x *exchange) taken() (*cassette.Interaction, timing, error) {
	x.end(cutByCaller)
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.wrong != nil {
		return nil, timing{}, x.wrong
	}
	i, when := x.interaction, x.timing
	i.Response.Body = x.body.String()
	encoding := strings.ToLower(i.Response.Headers.Get("Content-Encoding"))
	if x.body.Len() == 0 {
		encoding = "" // as in the answer to a HEAD
	}
	switch encoding {
	case "", "identity":
	case "gzip", "x-gzip":
		plain, err := unzipped(x.body.Bytes())
		if err != nil {
			return nil, timing{}, fmt.Errorf("the answer is not the gzip that it says it is: %w", err)
		}
		i.Response.Body, i.Response.Uncompressed, i.Response.ContentLength = plain, true, -1
		i.Response.Headers.Del("Content-Encoding") // of our own copy
		when.Pieces = nil
	default:
		return nil, timing{}, fmt.Errorf("the answer has the content encoding %q, in which secrets cannot be looked for: ask for gzip, or for none", encoding)
	}
	return &i, when, check(&i)
}

func unzipped(body []byte) (string, error) {
	r, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		return "", err
	}
	plain, err := io.ReadAll(io.LimitReader(r, mostBody+1))
	switch {
	case err != nil && !errors.Is(err, io.ErrUnexpectedEOF): // which is how one ends that was cut short
		return "", err
	case int64(len(plain)) > mostBody:
		return "", fmt.Errorf("it is larger than %d MiB", mostBody>>20)
	}
	return string(plain), nil
}
