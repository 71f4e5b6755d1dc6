package always

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
)

// sameImage reports whether both data are PNG images of the same points. Some clients decode every image and encode it
// anew: that loses nothing.
func sameImage(a, b []byte) bool {
	first, second := decodedPNG(a), decodedPNG(b)
	if first == nil || second == nil || first.Bounds() != second.Bounds() {
		return false
	}
	size := first.Bounds().Size()
	for y := range size.Y {
		for x := range size.X {
			if color.NRGBA64Model.Convert(first.At(x, y)) != color.NRGBA64Model.Convert(second.At(x, y)) {
				return false
			}
		}
	}
	return true
}

// decodedPNG returns nil for what is no PNG image, or a large one.
func decodedPNG(data []byte) image.Image {
	const most = 1 << 20 // points
	size, err := png.DecodeConfig(bytes.NewReader(data))
	if err != nil || size.Width > most/max(size.Height, 1) {
		return nil
	}
	decoded, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		return nil
	}
	return decoded
}
