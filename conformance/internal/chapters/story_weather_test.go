package chapters_test

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
)

// The package links no encoder of images, so it has their bytes.
func TestMapsArePNGsWithAPoint(t *testing.T) {
	for grey, data := range map[uint8][]byte{200: story.WeatherMap, 90: story.RadarMap} {
		img, err := png.Decode(bytes.NewReader(data))
		require.NoError(t, err)
		require.Equal(t, image.Rect(0, 0, 4, 4), img.Bounds())
		require.Equal(t, color.Gray{Y: grey}, img.At(1, 2))
	}
}
