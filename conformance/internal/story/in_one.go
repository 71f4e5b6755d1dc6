package story

import (
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
)

// InOne adds two cases to a scenario, each of which tells the stories of these cases again, one after the other:
// [AfterImage] and [AfterFailure]. The rules for every case judge them. A story that the client refuses does not end
// the case, if its revision allows another request.
func InOne(s check.Scenario, cases ...*harness.Case) check.Scenario {
	s.Cases = append(slices.Clip(s.Cases), inOne(s.ID, AfterImage, cases), inOne(s.ID, AfterFailure, cases))
	return s
}

func inOne(scenario string, t Telling, cases []*harness.Case) harness.Case {
	id := scenario + "/" + t.suffix[1:]
	return harness.Case{ID: id, Revisions: check.WithTools, Barrier: true,
		Make: func(harness.Limits) harness.Stage {
			var stage harness.Stage
			var now atomic.Int32 // the index of the story that is told
			marked := harness.Case{ID: id}
			for i, c := range cases {
				for _, rule := range c.Script(marked.Mark()) {
					stage.Rules = append(stage.Rules, rule.And(llm.MatcherFunc(func(*llm.Request) error {
						if told := now.Load(); int(told) != i {
							return fmt.Errorf("expected a request of %s, found one while %s is told", c.ID, cases[told].ID)
						}
						return nil
					})))
				}
			}
			stage.Handler = t.handler(func(s *server.Session) (result any, err error) {
				for i, c := range cases {
					now.Store(int32(i))
					if result, err = c.Handler(s); err != nil && !server.Refused(err) {
						break
					}
				}
				return result, err
			})
			return stage
		}}
}
