package check

import "github.com/mcp-conform/mcp-conform/conformance/internal/evidence"

// ShowJSON adds a place in the trace and the JSON there, compact. A nil value is shown as missing.
func (v Verdict) ShowJSON(p evidence.Place, raw []byte) Verdict {
	return v.Show(p, "%s", OrMissing(raw))
}
