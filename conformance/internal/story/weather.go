package story

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"

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

// Small images.
var (
	WeatherMap = dot(200)
	RadarMap   = dot(90)
)

// dot is a PNG with one point of some grey.
func dot(grey uint8) []byte {
	img := image.NewGray(image.Rect(0, 0, 4, 4))
	img.SetGray(1, 2, color.Gray{Y: grey})
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// Thunder is a WAV of eight samples: mono, 8 kHz, 8 bits each.
var Thunder = []byte("RIFF\x2c\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00" +
	"\x40\x1f\x00\x00\x40\x1f\x00\x00\x01\x00\x08\x00" +
	"data\x08\x00\x00\x00\x80\xff\x00\xc0\x40\xa0\x60\x80")
