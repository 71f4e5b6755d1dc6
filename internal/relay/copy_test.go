package relay

import (
	"bytes"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// stream is a standard stream. The shortcuts of io.Copy fail the test: between a connection and a blocking pipe they
// keep a core busy while there is nothing to copy.
type stream struct {
	io.Reader
	io.Writer
	t *testing.T
}

func (s stream) WriteTo(io.Writer) (int64, error) {
	s.t.Error("WriteTo was called")
	return 0, os.ErrInvalid
}

func (s stream) ReadFrom(io.Reader) (int64, error) {
	s.t.Error("ReadFrom was called")
	return 0, os.ErrInvalid
}

func TestARelayCopiesWithoutShortcuts(t *testing.T) {
	l, err := Listen(func(c *Conn) {
		defer c.Close()
		_, _ = io.Copy(c, c)
	})
	require.NoError(t, err)
	defer l.Close()
	var out, log bytes.Buffer
	require.NoError(t, copyBytes(l.Command()[2], stream{Reader: strings.NewReader("a line\n"), t: t},
		stream{Writer: &out, t: t}, stream{Writer: &log, t: t}))
	require.Equal(t, "a line\n", out.String())
	require.Empty(t, log.String())
}
