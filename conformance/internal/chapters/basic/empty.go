package basic

import (
	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
	"github.com/mcp-conform/mcp-conform/internal/schema"
)

// The model answers with nothing.
var empty = harness.Case{
	ID:      "basic/empty",
	Handler: asks("Say nothing at all."),
	Script:  func(string) []*llm.Rule { return llm.Script(llm.When().Reply()) },
	Barrier: true,
}

var emptyAnswer = check.Check{
	ID: "empty-answer", Cases: []string{"empty"},
	Rule:   "An empty completion becomes valid content, or an error",
	Levels: check.Robust, Requests: 1,
	Cause: "an empty completion becomes null, or a block without text",
	Fix:   "Return a text block with an empty text, or an error.",
	Judge: func(e *evidence.Case) check.Verdict {
		r := e.Rounds[0]
		if how := check.HowRefused(e, r); how != "" {
			return check.Pass("the client refuses to return an empty completion: %s", how)
		}
		a := r.Result()
		if a == nil {
			return check.NotObserved("an empty completion got no response%s", e.WhyNoResult(1)).At(r.Asked)
		}
		content := a.Member("content")
		if content == nil {
			return check.Fail("expected content for an empty completion, found nothing").
				ShowResult(a)
		}
		// Other checks judge the rest of the result.
		alone := jsonvalue.Marshal(story.Object{"role": "assistant", "model": "m", "content": content})
		if err := schema.Validate(string(e.Revision), schema.CreateMessageResult, alone); err != nil {
			return check.Fail("expected valid content for an empty completion, found %s", evidence.Compact(content)).
				ShowJSON(a.At("content"), content)
		}
		return check.Pass("the content is valid").ShowJSON(a.At("content"), content)
	},
}
