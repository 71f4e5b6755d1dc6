package always_test

import (
	"fmt"
	"testing"

	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// sends is a message of the client outside of any case.
func sends(format string, args ...any) steps {
	return func(s *session) { s.Frame("", trace.FromClient, 0, fmt.Sprintf(format, args...)) }
}

func TestIDsOfRequestsAreNewStringsOrIntegers(t *testing.T) {
	pings := func(ids ...string) steps {
		return func(s *session) {
			for _, id := range ids {
				sends(`{"jsonrpc":"2.0","id":%s,"method":"ping"}`, id)(s)
			}
		}
	}
	tests := []tracetest.Test{
		passes("new ids", pings("70", "71")),
		tracetest.Legacy(fails("an id twice", pings("70", "70"), "found one twice")),
		tracetest.Legacy(fails("an id twice in another notation", pings("70", "7.0e1"), "found one twice")),
		tracetest.Modern(passes("an id twice without a session", pings("70", "70"))),
		passes("a string with the digits of a number", pings("70", `"70"`)),
	}
	for _, id := range []string{`"a"`, `120`, `-1`, `1e3`, `9007199254740993`} {
		tests = append(tests, passes(id, pings(id)))
	}
	for _, id := range []string{`null`, `1.5`, `[1]`, `{}`, `true`} {
		tests = append(tests, fails(id, pings(id), "another value"))
	}
	judges(t, "request-ids", "basic/question", tests...)
}

func TestMessagesOfTheClientAreValid(t *testing.T) {
	const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
		`"io.modelcontextprotocol/clientCapabilities":{%s}}`
	lists := func(capabilities string) steps {
		return sends(`{"jsonrpc":"2.0","id":70,"method":"tools/list","params":{`+meta+`}}`, capabilities)
	}
	cancels := func(params string) steps {
		return sends(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{%s}}`, params)
	}
	judges(t, "valid-message", "basic/question",
		passes("a list of tools", lists(`"sampling":{}`)),
		tracetest.Modern(fails("capabilities that are true", lists(`"sampling":true`), "sampling")),
		tracetest.Legacy(fails("a cancel without a reason that is a string", cancels(`"requestId":7,"reason":1`), "reason")),
		passes("a cancel", cancels(`"requestId":7`)),
		passes("an unknown method", sends(`{"jsonrpc":"2.0","id":70,"method":"com.example/other","params":7}`)),
		passes("a probe of an older revision", sends(`{"jsonrpc":"2.0","id":70,"method":"initialize","params":`+
			`{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"a","version":"1"}}}`)),
		fails("a probe without clientInfo", sends(`{"jsonrpc":"2.0","id":70,"method":"initialize","params":`+
			`{"protocolVersion":"2025-06-18","capabilities":{}}}`), "clientInfo"),
	)
}
