package evidence

import (
	"encoding/json"
	"math"
	"strconv"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

// progressNote is a report of progress that the client made.
type ProgressNote struct {
	Place
	Raw            json.RawMessage
	Token, Written json.RawMessage // nil where they are missing
	Value          float64         // what written says; NaN for no number
}

// progress are the reports of the session, in order.
func (s *Session) Progress() []ProgressNote {
	var notes []ProgressNote
	for e, m := range s.FromClient() {
		if m.Method != "notifications/progress" {
			continue
		}
		var params dialect.Object
		_ = dialect.ReadPart(m.Params, &params) // what cannot be read has no token
		note := ProgressNote{Place: Place{e.Ref(), "", "progress"}, Raw: json.RawMessage(e.Frame.Raw), Token: params["progressToken"], Written: params["progress"]}
		var err error
		if note.Value, err = strconv.ParseFloat(string(note.Written), 64); err != nil {
			note.Value = math.NaN()
		}
		notes = append(notes, note)
	}
	return notes
}

// token is the progress token of a sampling request, as it was written; nil where it asks for no progress.
func (r *Round) Token() json.RawMessage { return TokenIn(r.Raw) }

func TokenIn(params json.RawMessage) json.RawMessage {
	var o, meta dialect.Object
	_ = dialect.ReadPart(params, &o) // what cannot be read asks for nothing
	_ = o.Read("_meta", &meta)
	return meta["progressToken"]
}
