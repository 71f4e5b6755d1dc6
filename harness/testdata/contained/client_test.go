package contained

import (
	"flag"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

var setting = flag.String("setting", "", "a flag of the user's own")

// TestMain prints, sets up, tears down, and chooses the exit status by itself.
func TestMain(m *testing.M) {
	flag.Parse()
	fmt.Println("set up")
	code := m.Run()
	fmt.Println("torn down")
	os.Exit(code)
}

func TestClients(t *testing.T) {
	t.Parallel()
	require.Equal(t, os.Getenv("EXPECT_SETTING"), *setting)
	require.Equal(t, os.Getenv("EXPECT_SHORT") != "", testing.Short())
	for _, broken := range []bool{false, true, true, false} {
		t.Run(fmt.Sprintf("broken: %v", broken), func(t *testing.T) {
			t.Parallel()
			client := Client(broken)
			contained, ours := harness.Contain(t, client)
			if !ours {
				return
			}
			if os.Getenv("MCP_CONFORM_CONTAINED") != "" {
				panic("a process that contains a client must play nothing")
			}
			c := harness.Case{ID: "s/a", Hostile: true, Handler: func(*server.Session) (any, error) { return "done", nil }}
			r := harness.Runner{Client: client, Contained: contained, Revision: server.V20251125, CaseTimeout: time.Minute}
			require.NoError(t, r.Run(t.Context(), []harness.Case{c}, func(tr *trace.Trace) {
				p := tr.Events[len(tr.Events)-1].Process
				for i := range tr.Events {
					if e := tr.Events[i].Process; e != nil {
						p = e
					}
				}
				require.Equal(t, !broken, p.Clean(), "%+v", p)
				if broken {
					require.Equal(t, "crashed on a goroutine of its own", p.Panic)
				}
			}))
		})
	}
}

func TestSkipped(t *testing.T) {
	t.Skip("before the client is there")
	harness.Contain(t, Client(true))
}
