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
	require.Equal(t, []string{"the password is $DATABASE_URL, or $DATABASE_URL", "app", "https://$HOOK"},
		leak.Hide([]string{"DATABASE_URL=postgres://app:not-for-you-7@db.example/app",
			"HOOK=https://hooks.slack.com/services/T01234567/B01234567/abcdefghijklmnopqrstuvwx"},
			"the password is not-for-you-7, or 6e6f742d666f722d796f752d37", "app",
			"https://hooks.slack.com/services/T01234567/B01234567/abcdefghijklmnopqrstuvwx"), "by what the values are")
	require.Equal(t, []string{"$PGPASSWORD $MYSQL_PWD $LDAP_BIND_PW $SIGNING_SALT $BEARER", "12345678 MAX fish-tank"},
		leak.Hide([]string{"PGPASSWORD=Tr0ub4dor", "MYSQL_PWD=sXcNOPmeMjvq", "LDAP_BIND_PW=1wNWqku5",
			"SIGNING_SALT=VcojsNOBAGx5d", "BEARER=etOd4UYETIay2", "USER_SECRET=12345678", "A_TOKEN=fish",
			"TOKENIZERS=fish-tank-1"},
			"Tr0ub4dor sXcNOPmeMjvq 1wNWqku5 VcojsNOBAGx5d etOd4UYETIay2", "12345678 MAX fish-tank"),
		"by names of one word, and of less")
	require.Equal(t, []string{"$NPM_CONFIG__AUTH $SLACK_WEBHOOK_URL $STORAGE_CONNECTION_STRING", "https://auth.example/x"},
		leak.Hide([]string{"NPM_CONFIG__AUTH=dXNlcjpwYXNz", "SLACK_WEBHOOK_URL=https://hooks.example/T0123",
			"STORAGE_CONNECTION_STRING=Endpoint=a;K=b0123", "AUTH_URL=https://auth.example/x", "AUTHOR=Jane Doe 1984"},
			"dXNlcjpwYXNz https://hooks.example/T0123 Endpoint=a;K=b0123", "https://auth.example/x"), "by the ends of names")
	require.Equal(t, []string{"$A_KEY $A_KEY $A_KEY"}, leak.Hide([]string{"A_KEY=a b+(c)*/012345"},
		"a%20b%2B%28c%29%2A%2F012345 a+b%2B%28c%29%2A%2F012345 a%20b%2B(c)*%2F012345"), "in addresses of three languages")
	require.Nil(t, leak.Hide(environment))
	require.Equal(t, []string{"as it is"}, leak.Hide(nil, "as it is"))
}

func TestTheSecretsAtACutAreHidden(t *testing.T) {
	environment := []string{"A_KEY=0123456789abcdefgh", "B_KEY=0123456789ab", "C_KEY=wxyz--------wxyz"}
	for _, c := range []struct{ head, tail, wantHead, wantTail string }{
		{"the key 0123456789abcdef", "cdefgh is it", "the key $A_KEY", "$A_KEY is it"},
		{"no 012", "fgh no", "no 012", "fgh no"},
		{"whole wxyz--------wxyz", "wxyz--------wxyz whole", "whole $C_KEY", "$C_KEY whole"},
		{"inside 0123456789ab, too", "and 0123456789abcdefgh", "inside $B_KEY, too", "and $A_KEY"},
		{"", "", "", ""},
	} {
		head, tail := leak.HideCut(environment, c.head, c.tail)
		require.Equal(t, []string{c.wantHead, c.wantTail}, []string{head, tail})
	}
}
