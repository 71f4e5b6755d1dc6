package harness

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/harness/trace"
)

func TestAGatewayMayPutAPrefixBeforeTheNamesOfTools(t *testing.T) {
	cases := []trace.Case{{Tool: "once"}, {Tool: "call-once"}}
	run := func(context.Context, Env) error { return nil }
	through := Gateway(run, GatewayProgram{Argv: []string{"gateway", "{url}"}})
	direct := InProcess(run)
	for tool, own := range map[string]string{
		"call-once": "call-once", "srv__call-once": "call-once", "srv__once": "once", "other": "other",
	} {
		require.Equal(t, own, through.withoutPrefix(tool, cases))
		require.Equal(t, tool, direct.withoutPrefix(tool, cases))
	}

	for _, prefixes := range []bool{true, false} {
		e := Env{Abandon: []string{"call-once"}, calls: &abandonable{}, prefixes: prefixes}
		_, token, done := e.Call(t.Context(), "srv__call-once")
		done()
		require.Equal(t, prefixes, token != "")
	}
}
