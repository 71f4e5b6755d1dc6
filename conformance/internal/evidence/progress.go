package evidence

import (
	"encoding/json"
	"math"
	"strconv"

	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// MethodProgress is the method of the notification that reports progress.
const MethodProgress = "notifications/progress"

// ProgressNote is a progress notification of the client.
type ProgressNote struct {
	Place
	// Raw is the message as the client wrote it, Token and Written its progressToken and progress; nil if missing.
	Raw, Token, Written json.RawMessage
	// Value is the value of Written; NaN if that is not a number.
	Value float64
}

// Progress returns the client's progress notifications of the session, in order.
func (s *Session) Progress() []ProgressNote {
	var notes []ProgressNote
	for e, m := range s.FromClient() {
		if m.Method != MethodProgress {
			continue
		}
		var params jsonvalue.Object
		_ = jsonvalue.ReadPart(m.Params, &params) // invalid params have no token
		value, err := strconv.ParseFloat(string(params["progress"]), 64)
		if err != nil {
			value = math.NaN()
		}
		notes = append(notes, ProgressNote{Place: Place{e.Ref(), "", "progress"}, Raw: json.RawMessage(e.Frame.Raw),
			Token: params["progressToken"], Written: params["progress"], Value: value})
	}
	return notes
}

// Token returns the progress token of a sampling request as it was written; nil for none.
func (r *Round) Token() json.RawMessage { return TokenIn(r.Raw) }

// TokenIn returns the progress token in the _meta of params as it was written; nil for none.
func TokenIn(params json.RawMessage) json.RawMessage {
	var o, meta jsonvalue.Object
	_ = jsonvalue.ReadPart(params, &o) // invalid params have no token
	_ = o.Read("_meta", &meta)
	return meta["progressToken"]
}
