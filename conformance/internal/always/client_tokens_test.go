package always_test

import (
	"fmt"
	"testing"

	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// listsWithToken is a request of the client with a progress token; gets is the response to it.
func listsWithToken(caseID string, id int, token string) steps {
	return func(s *session) {
		meta := `"_meta":{"progressToken":` + token + `},`
		if own := s.Meta(); own != "" {
			meta = `"_meta":{"progressToken":` + token + "," + own[len(`"_meta":{`):]
		}
		if caseID == "its own" {
			caseID = s.CaseID
		}
		s.Frame(caseID, trace.FromClient, 0,
			fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/list","params":{%s"cursor":"x"}}`, id, meta))
	}
}

func gets(id int) steps {
	return func(s *session) {
		s.Frame("", trace.ToClient, 200, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{"tools":[]}}`, id))
	}
}

func TestTheClientsOwnProgressTokensAreUnique(t *testing.T) {
	first, second := listsWithToken("", 20, `"t"`), listsWithToken("", 21, `"t"`)
	ofCase := listsWithToken("its own", 20, `"t"`)
	givesUp := func(id string) steps { return func(s *session) { s.GivesUp(id) } }
	closes := func(s *session) { s.Closes() }
	const idle = "never in progress together"
	judges(t, "token-unique", "basic/question",
		inapplicable("no token", right),
		passes("tokens of both types",
			inOrder(listsWithToken("", 20, `"1"`), listsWithToken("", 21, `1`), gets(20), gets(21))),
		fails("the same together", inOrder(first, second, gets(20), gets(21)), `"t" twice`),
		inapplicable("the same in turn", inOrder(first, gets(20), second, gets(21)), idle),
		inapplicable("before a cancel that it overtakes", inOrder(first, second, givesUp("20"), gets(21)), idle),
		inapplicable("before the end of the stream", inOrder(ofCase, second, closes, gets(21)), idle),
		fails("beside a cancel of another request", inOrder(first, givesUp("19"), second, gets(21))),
		fails("beside the end of another stream", inOrder(first, closes, second, gets(21))),
	)
	for _, token := range []string{`1.5`, `null`, `{}`} {
		judges(t, "valid-message", "basic/question", tracetest.Legacy(fails(token, listsWithToken("", 20, token), "")))
	}
}
