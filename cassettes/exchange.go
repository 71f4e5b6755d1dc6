package cassettes

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"time"

	"gopkg.in/dnaeon/go-vcr.v4/pkg/cassette"
)

// maxBody is the largest body that is recorded, in bytes. Tests lower it.
var maxBody int64 = 64 << 20

type exchange struct {
	interaction cassette.Interaction
	began       time.Time

	mu     sync.Mutex
	body   bytes.Buffer // of the response, so far
	timing timing
	last   time.Time // arrival of the previous piece
	full   bool      // the previous piece filled the reader's buffer, so the next one continues it
	over   bool
	// trailer is filled by the transport when the body ends.
	trailer http.Header
	wrong   error // why the exchange cannot be recorded
}

// newExchange copies a request and returns the body to send in its place.
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
	return x, body.resend, nil
}

type requestBody struct {
	text     string
	unzipped bool          // text was sent compressed
	resend   io.ReadCloser // the same bytes again, to be sent
	wrong    error         // why text is missing: the body is too large, or its encoding is unknown
}

func readBody(r *http.Request) (*requestBody, error) {
	if r.Body == nil || r.Body == http.NoBody {
		return &requestBody{resend: http.NoBody}, nil
	}
	data, err := io.ReadAll(io.LimitReader(r.Body, maxBody+1))
	if err != nil {
		return nil, errors.Join(err, r.Body.Close())
	}
	if int64(len(data)) > maxBody {
		return &requestBody{
			resend: &both{io.MultiReader(bytes.NewReader(data), r.Body), r.Body},
			wrong:  fmt.Errorf("the request body is larger than %d MiB", maxBody>>20),
		}, nil
	}
	body := &requestBody{resend: io.NopCloser(bytes.NewReader(data))}
	body.text, body.unzipped, body.wrong = decoded(r.Header, data, "the request body", "send it as gzip or uncompressed")
	return body, r.Body.Close()
}

type both struct {
	io.Reader
	io.Closer
}

// answered copies the response head and wraps the body, so that it is recorded while the caller reads it.
func (x *exchange) answered(resp *http.Response) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.last = time.Now()
	x.timing.First = x.last.Sub(x.began).Milliseconds()
	x.interaction.Response = cassette.Response{
		Proto: resp.Proto, ProtoMajor: resp.ProtoMajor, ProtoMinor: resp.ProtoMinor, TransferEncoding: resp.TransferEncoding,
		ContentLength: resp.ContentLength, Uncompressed: resp.Uncompressed,
		Headers: resp.Header.Clone(), Status: resp.Status, Code: resp.StatusCode,
	}
	x.trailer = resp.Trailer
	switch {
	case resp.StatusCode == http.StatusSwitchingProtocols: // the body is a connection that the caller also writes to
		x.wrong = errors.New("the connection switched to another protocol")
	case resp.Body == nil || resp.Body == http.NoBody:
		x.over = true
	default:
		resp.Body = &tee{x: x, ctx: resp.Request.Context(), body: resp.Body}
	}
}

// tee is a response body that passes each piece to the reader and to the exchange.
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

// Close before the end of the body means that the caller cut the answer short.
func (t *tee) Close() error {
	err := t.body.Close()
	t.x.end(cutByCaller)
	return err
}

// piece records one read. A read that fills the buffer may continue in the next one.
func (x *exchange) piece(p []byte, full bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if len(p) == 0 || x.over || x.wrong != nil {
		return
	}
	if int64(x.body.Len()+len(p)) > maxBody {
		x.wrong = fmt.Errorf("the answer is larger than %d MiB", maxBody>>20)
		x.body = bytes.Buffer{}
		return
	}
	now := time.Now()
	if n := len(x.timing.Pieces); x.full && n > 0 {
		x.timing.Pieces[n-1][0] += int64(len(p))
	} else {
		x.timing.Pieces = append(x.timing.Pieces, [2]int64{int64(len(p)), now.Sub(x.last).Milliseconds()})
	}
	x.body.Write(p)
	x.last, x.full = now, full
}

// end records how the answer ended; only the first call counts. A caller that has read a complete stream or JSON value
// and closes before the connection ends has cut nothing short.
func (x *exchange) end(how string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.over {
		return
	}
	x.over = true
	if how == wholeAnswer { // otherwise the transport may still be filling it
		x.interaction.Response.Trailer = x.trailer.Clone()
	}
	if how == cutByCaller && x.complete() {
		how = wholeAnswer
	}
	x.timing.Cut = how
}

// complete reports whether the whole answer has arrived, as far as its bytes tell.
func (x *exchange) complete() bool {
	r, body := &x.interaction.Response, x.body.Bytes()
	if int64(len(body)) == r.ContentLength || finished(body) {
		return true
	}
	return mediaTypeOf(r.Headers) == "application/json" && json.Valid(body)
}

var final = func() *regexp.Regexp {
	var events []string
	for i := range knownDialects {
		if event := knownDialects[i].LastEvent; event != "" {
			events = append(events, event)
		}
	}
	return regexp.MustCompile("(?m)" + strings.Join(events, "|"))
}()

func finished(stream []byte) bool {
	return bytes.HasSuffix(stream, []byte("\n")) && final.Match(stream[max(0, len(stream)-finalEvent):])
}

// finalEvent bounds the search for the last event, in bytes from the end. That event may repeat the whole answer.
const finalEvent = 1 << 20

func (x *exchange) isAnswered() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.interaction.Response.Code != 0
}

// result returns the interaction to be saved, and its timing. An unfinished answer counts as cut short by the caller.
func (x *exchange) result() (*cassette.Interaction, timing, error) {
	x.end(cutByCaller)
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.wrong != nil {
		return nil, timing{}, x.wrong
	}
	i, when := x.interaction, x.timing
	if x.body.Len() == 0 { // such as the response to a HEAD
		return &i, when, check(&i)
	}
	text, zipped, err := decoded(i.Response.Headers, x.body.Bytes(), "the answer", "ask for gzip or no encoding")
	if err != nil {
		return nil, timing{}, err
	}
	i.Response.Body = text
	if zipped {
		i.Response.Uncompressed, i.Response.ContentLength = true, -1
		i.Response.Headers.Del("Content-Encoding") // of the copy
		i.Response.Headers.Del("Content-Length")
		when.Pieces = nil
	}
	return &i, when, check(&i)
}

// decoded undoes the content encoding of a body, and reports whether it was compressed.
func decoded(h http.Header, body []byte, what, advice string) (text string, zipped bool, err error) {
	switch encoding := strings.ToLower(h.Get("Content-Encoding")); encoding {
	case "", "identity":
		return string(body), false, nil
	case "gzip", "x-gzip":
		if text, err = unzipped(body); err != nil {
			err = fmt.Errorf("%s is not valid gzip: %w", what, err)
		}
		return text, true, err
	default:
		return "", false, fmt.Errorf("%s has the content encoding %q, which cannot be searched for secrets: %s", what,
			encoding, advice)
	}
}

func unzipped(body []byte) (string, error) {
	r, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		return "", err
	}
	plain, err := io.ReadAll(io.LimitReader(r, maxBody+1))
	switch {
	case err != nil && !errors.Is(err, io.ErrUnexpectedEOF): // which ends a body that was cut short
		return "", err
	case int64(len(plain)) > maxBody:
		return "", fmt.Errorf("larger than %d MiB when uncompressed", maxBody>>20)
	}
	return string(plain), nil
}
