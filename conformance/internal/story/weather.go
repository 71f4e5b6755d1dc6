package story

import (
	"fmt"

	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/fakes/server"
)

// GetWeather is a tool with one required argument.
var GetWeather = server.Tool{Name: "get_weather", Description: "Current weather in a city", InputSchema: Object{
	"type": "object", "properties": Object{"city": Object{"type": "string"}}, "required": []string{"city"}}}

// Calls are the model's calls for the cities.
func Calls(cities []string) []llm.Block {
	blocks := make([]llm.Block, len(cities))
	for i, city := range cities {
		blocks[i] = llm.Call("get_weather", fmt.Sprintf(`{"city":%q}`, city))
	}
	return blocks
}

// Small images: PNGs of four by four pixels, with one grey point.
var (
	WeatherMap = []byte(pngHead +
		"IDATx\x9cbb```\x80\x12'\x18 \x00\x10\x00\x00\xff\xff\x06\xae\x00\xcf\x85\xc3\xfa\xa3" + pngTail)
	RadarMap = []byte(pngHead +
		"IDATx\x9cbb```\x80\x12Q\x0c\x10\x00\x08\x00\x00\xff\xff\x03>\x00aT\x1d\xe2!" + pngTail)
)

const (
	pngHead = "\x89PNG\r\n\x1a\n\x00\x00\x00\x0dIHDR" +
		"\x00\x00\x00\x04\x00\x00\x00\x04\x08\x00\x00\x00\x00\x8c\x9a\xc1\xa2\x00\x00\x00\x16"
	pngTail = "\x00\x00\x00\x00IEND\xaeB`\x82"
)

// Thunder is a WAV of eight samples: mono, 8 kHz, 8 bits each.
var Thunder = []byte("RIFF\x2c\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00" +
	"\x40\x1f\x00\x00\x40\x1f\x00\x00\x01\x00\x08\x00" +
	"data\x08\x00\x00\x00\x80\xff\x00\xc0\x40\xa0\x60\x80")
