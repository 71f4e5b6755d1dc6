package dialects

import (
	"regexp"

	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// aboutMedia matches the refusals about media, apart from those about the form of a block, which aboutForm matches.
var (
	aboutMedia = regexp.MustCompile(`(?i)image|audio|\bmedia|mime|modalit|inline_?data`)
	aboutForm  = regexp.MustCompile(`(?i)supported values|in base64`)
)

// RefusedFor returns what one of the server's refusals is about; "" for none. Traces without the kind have only the
// words.
func RefusedFor(refused string) trace.RefusalKind {
	switch {
	case refused == "":
		return ""
	case aboutMedia.MatchString(refused) && !aboutForm.MatchString(refused):
		return trace.RefusedForMedia
	}
	return trace.RefusedForOther
}
