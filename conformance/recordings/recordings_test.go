package recordings_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"gopkg.in/dnaeon/go-vcr.v4/pkg/cassette"

	"github.com/mcp-conform/mcp-conform/cassettes"
	"github.com/mcp-conform/mcp-conform/conformance/recordings"
)

// Anyone can load the recordings with go-vcr alone.
func TestGoVCRLoadsTheRecordings(t *testing.T) {
	require.Equal(t, []string{"balance", "basic", "loop", "parallel", "tool-use"}, recordings.Scenarios())
	folder := t.TempDir()
	for _, name := range recordings.Names() {
		path := filepath.Join(folder, name)
		require.NoError(t, os.WriteFile(path+".yaml", recordings.Text(name), 0o600))
		stock, err := cassette.Load(path)
		require.NoError(t, err)
		ours, err := recordings.Read(name)
		require.NoError(t, err)
		require.Equal(t, cassettes.Scripted, ours.Origin)
		require.Len(t, ours.Interactions, len(stock.Interactions))
		for i, it := range stock.Interactions {
			require.Equal(t, it.Request.Body, ours.Interactions[i].Request)
			require.Equal(t, it.Response.Body, ours.Interactions[i].Response)
		}
	}
}

func TestUnknownNamesAreErrors(t *testing.T) {
	_, err := recordings.Read("parallel.natve")
	require.ErrorContains(t, err, `recording "parallel.natve" not found: use one of the 70 names of the form `+
		"SCENARIO.DIALECT, such as parallel.native, or the path of a file that ends in .yaml; did you mean parallel.native")
	_, err = recordings.Replay("parallel.natve")
	require.ErrorContains(t, err, `recording "parallel.natve" not found: `)
}
