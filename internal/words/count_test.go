package words

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestCount(t *testing.T) {
	assert.Equal(t, "0 checks", Count(0, "check"))
	assert.Equal(t, "1 check", Count(1, "check"))
	assert.Equal(t, "2 checks", Count(2, "check"))
}
