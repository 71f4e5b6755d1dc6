package always

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"testing"

	"github.com/stretchr/testify/require"
)

func encodedPNG(t *testing.T, level png.CompressionLevel, width int, edit func(*image.NRGBA)) []byte {
	t.Helper()
	points := image.NewNRGBA(image.Rect(0, 0, width, 8))
	edit(points)
	var data bytes.Buffer
	require.NoError(t, (&png.Encoder{CompressionLevel: level}).Encode(&data, points))
	return data.Bytes()
}

func TestAnImageEncodedAnewIsTheSame(t *testing.T) {
	blank := func(*image.NRGBA) {}
	grey := func(p *image.NRGBA) { p.SetNRGBA(3, 3, color.NRGBA{1, 1, 1, 255}) }
	nearly := func(p *image.NRGBA) { p.SetNRGBA(3, 3, color.NRGBA{1, 1, 2, 255}) }
	first := encodedPNG(t, png.BestCompression, 8, grey)
	anew := encodedPNG(t, png.NoCompression, 8, grey)
	require.NotEqual(t, first, anew)
	require.True(t, sameImage(first, anew))
	for name, other := range map[string][]byte{
		"another image":        encodedPNG(t, png.BestCompression, 8, blank),
		"one point":            encodedPNG(t, png.BestCompression, 8, nearly),
		"a wider one":          encodedPNG(t, png.BestCompression, 9, grey),
		"its beginning":        anew[:len(anew)/2],
		"nothing":              nil,
		"what is not an image": []byte("image"),
	} {
		require.False(t, sameImage(first, other), name)
		require.False(t, sameImage(other, first), name)
	}
	large := encodedPNG(t, png.BestSpeed, 1<<18, blank)
	require.False(t, sameImage(large, encodedPNG(t, png.NoCompression, 1<<18, blank)), "too large to compare")
}
