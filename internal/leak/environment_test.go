package leak_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/internal/leak"
)

func TestSecretsOfTheEnvironmentAreHidden(t *testing.T) {
	environment := []string{"HOME=/home/somebody", "github_token=ghp_0123456789ab", "DB_PASSWORD=postgrespostgre",
		"API_KEY=short1", "EMPTY_KEY=", "MY_SECRET=a=b=0123456789", "broken"}
	require.Equal(t, []leak.Secret{{Name: "github_token", Value: "ghp_0123456789ab"}, {Name: "API_KEY", Value: "short1"},
		{Name: "MY_SECRET", Value: "a=b=0123456789"}}, leak.InEnvironment(environment))
	require.Equal(t, []string{"x $github_token y $MY_SECRET short1", "/home/somebody postgrespostgre"},
		leak.Hide(environment, "x ghp_0123456789ab y a=b=0123456789 short1", "/home/somebody postgrespostgre"))
	require.Equal(t, []string{"$LONG_KEY $SHORT_KEY"}, leak.Hide(
		[]string{"SHORT_KEY=0123456789ab", "LONG_KEY=0123456789abcd"}, "0123456789abcd 0123456789ab"), "the longer one first")
	require.Nil(t, leak.Hide(environment))
	require.Equal(t, []string{"as it is"}, leak.Hide(nil, "as it is"))
}
