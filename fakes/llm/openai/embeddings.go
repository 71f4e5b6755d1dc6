package openai

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"math"
	"net/http"
	"strconv"
	"strings"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/llm/internal/codecs"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// maxInputs is how many inputs a request for embeddings may have; maxDimensions limits their size.
const (
	maxInputs     = 2048
	maxDimensions = 3072
)

// embeddings answers a request for embeddings (see [dialect.Embedding]).
func (m models) embeddings(body []byte) dialect.Answer {
	var q struct {
		Model          string          `json:"model"`
		Input          json.RawMessage `json:"input"`
		Dimensions     *int64          `json:"dimensions"`
		EncodingFormat string          `json:"encoding_format"`
	}
	if err := json.Unmarshal(body, &q); err != nil {
		return m.EncodeError(unreadable(body, err))
	}
	inputs, refused := embedded(q.Input)
	size := 1536
	if strings.HasSuffix(q.Model, "-large") {
		size = maxDimensions
	}
	if q.Dimensions != nil {
		size = int(*q.Dimensions)
	}
	switch {
	case q.Model == "":
		refused = invalid("", "", "you must provide a model parameter")
	case refused != nil:
	case q.EncodingFormat != "" && q.EncodingFormat != "float" && q.EncodingFormat != "base64":
		refused = unsupported("encoding_format", q.EncodingFormat, "float", "base64")
	case codecs.Outside(q.Dimensions, 1, maxDimensions):
		refused = outside("dimensions", *q.Dimensions, "1", strconv.Itoa(maxDimensions))
	}
	if refused != nil {
		return m.EncodeError(refused)
	}
	data := make([]json.RawMessage, len(inputs))
	tokens := 0
	for i, text := range inputs {
		var value any
		if value = dialect.Embedding(text, size); q.EncodingFormat == "base64" {
			value = inBase64(value.([]float32))
		}
		data[i] = jsonvalue.Ordered("object", "embedding", "index", i, "embedding", value)
		tokens += 1 + len(text)/4
	}
	answer := jsonvalue.Ordered("object", "list", "data", data, "model", q.Model,
		"usage", jsonvalue.Ordered("prompt_tokens", tokens, "total_tokens", tokens))
	h := m.header("application/json", dialect.GenerateID("req_", 32, int64(len(body)), tokens))
	return dialect.Answer{Status: http.StatusOK, Header: h, Chunks: [][]byte{indented(answer)}}
}

// embedded returns the inputs: a text, several, or tokens in place of one.
func embedded(raw json.RawMessage) ([]string, *dialect.Error) {
	if text, isText := jsonvalue.TextOf(raw); isText {
		raw = jsonvalue.Marshal([]string{text})
	}
	var all []json.RawMessage
	if !jsonvalue.IsGiven(raw) {
		return nil, missing("", "input")
	}
	if json.Unmarshal(raw, &all) != nil {
		return nil, wrongType("input", "one of a string or array", raw)
	}
	if len(all) > 0 && !jsonvalue.IsKind(all[0], '"') && !jsonvalue.IsKind(all[0], '[') { // the tokens of one
		all = []json.RawMessage{raw}
	}
	if len(all) == 0 {
		return nil, emptyArray("input")
	}
	if len(all) > maxInputs {
		return nil, tooLong("input", "array", "an", maxInputs, len(all))
	}
	texts := make([]string, len(all))
	for i, one := range all {
		text, isText := jsonvalue.TextOf(one)
		if !isText {
			text = string(one)
		}
		texts[i] = text
	}
	return texts, nil
}

func inBase64(all []float32) string {
	var raw []byte
	for _, x := range all {
		raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(x))
	}
	return base64.StdEncoding.EncodeToString(raw)
}
