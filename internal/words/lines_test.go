package words

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLinesEndBeforeTheWidth(t *testing.T) {
	require.Equal(t, []string{"one two", "three", "äöü four"}, Lines("one two three äöü four", 2, 10))
	require.Equal(t, []string{"one", "incomprehensible", "two"}, Lines("one incomprehensible two", 2, 10))
	require.Equal(t, []string{""}, Lines("", 2, 10))
}
