package offered_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/internal/offered"
)

func TestAToolIsRecognisedUnderThePrefixOfAClient(t *testing.T) {
	tools := []dialect.Tool{{Name: "weather"}, {Name: "get.weather", Description: "Says the weather of a city."}}
	for name, want := range map[string]string{
		"weather": "weather", "mcp__server__weather": "weather", "server/weather": "weather", "Get-Weather": "get.weather",
		"server_get_weather": "get.weather", "theweather": "", "weather_2": "", "": "",
	} {
		require.Equal(t, want, offered.Match(&dialect.Tool{Name: name}, tools), name)
	}
	described := dialect.Tool{Name: "tool_7", Description: "[server] Says the weather of a city."}
	require.Equal(t, "get.weather", offered.Match(&described, tools))
}

func TestUsesGetTheNamesThatTheRequestOffers(t *testing.T) {
	tools := []dialect.Tool{{Name: "weather"}}
	said := []dialect.Block{{Type: dialect.Text, Name: "weather"}, {Type: dialect.ToolUse, Name: "weather"},
		{Type: dialect.ToolUse, Name: "other"}}
	renamed := offered.Rename(said, tools, &dialect.Request{Tools: []dialect.Tool{{Name: "mcp_weather"}}})
	require.Equal(t, "weather", renamed[0].Name)
	require.Equal(t, "mcp_weather", renamed[1].Name)
	require.Equal(t, "other", renamed[2].Name)
	require.Equal(t, "weather", said[1].Name, "the reply itself stays")
}
