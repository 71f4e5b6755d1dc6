package replay

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// model is a request of the client to its model.
type model struct {
	request *trace.ModelRequest
	caseID  string
	event   int // in the trace
}

// Models returns the requests to the model that the client made for what the server asked nth in a call, in order.
// They came while it was open. Of several that were open, it is the last one whose texts a request has, or else the
// last one.
func (r *Recording) Models(c *Call, nth int) []*trace.ModelRequest {
	var all []*trace.ModelRequest
	for _, m := range r.models {
		if m.caseID == c.caseID && c.asker(m) == nth {
			all = append(all, m.request)
		}
	}
	return all
}

// asker returns the index of the ask that a request to the model is for; -1 for none.
func (c *Call) asker(m *model) int {
	var open []int // the latest last
	for i, ask := range c.Asks {
		if ask.event <= m.event && (ask.ended == 0 || ask.ended >= m.event) {
			open = append(open, i)
		}
	}
	if len(open) == 0 {
		return -1
	}
	slices.SortStableFunc(open, func(a, b int) int { return c.Asks[a].event - c.Asks[b].event })
	latest := open[len(open)-1]
	if len(open) == 1 {
		return latest // its body, which may be long, need not be read
	}
	body := jsonvalue.Decode(m.request.Body)
	for _, i := range slices.Backward(open) {
		if Prompts(body, c.Asks[i].Params) {
			return i
		}
	}
	return latest
}

// Prompts reports whether a request to the model, decoded, has the texts of a sampling request's last message.
func Prompts(body any, params json.RawMessage) bool {
	o, err := jsonvalue.ReadObject(params)
	if err != nil {
		return false
	}
	messages := jsonvalue.Messages(o)
	if len(messages) == 0 {
		return false
	}
	found, all := false, true
	jsonvalue.EachString(messages[len(messages)-1]["content"], "content", func(path, text string) bool {
		if strings.HasSuffix(path, "text") && text != "" && text != "text" { // the name of the member comes, too
			found, all = true, all && jsonvalue.Contains(body, text)
		}
		return all
	})
	return found && all
}
