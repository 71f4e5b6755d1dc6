package harness

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAGatewayMayPutAPrefixBeforeTheNamesOfTools(t *testing.T) {
	names := []string{"once", "call-once"}
	for tool, own := range map[string]string{
		"call-once": "call-once", "srv__call-once": "call-once", "srv__once": "once", "other": "other",
	} {
		through, direct := Env{names: names}, Env{}
		require.Equal(t, own, through.ownName(tool))
		require.Equal(t, tool, direct.ownName(tool))
	}

	for _, names := range [][]string{names, nil} {
		e := Env{Abandon: []string{"call-once"}, calls: &abandonable{}, names: names}
		_, token, done := e.Call(t.Context(), "srv__call-once")
		done()
		require.Equal(t, names != nil, token != "")
	}
}
