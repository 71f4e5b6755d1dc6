package dialect

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"time"
	"unicode/utf8"
)

const alphanumeric = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

// Created is the time at which every answer was created: equal runs give equal bytes.
var Created = time.Date(2000, time.January, 1, 0, 0, 0, 0, time.UTC)

// GenerateID returns an id in a provider's style: the prefix, then n letters and digits (at most 32). Equal arguments
// give equal ids, others different ones.
func GenerateID(prefix string, n int, serial int64, position int) string {
	var buffer [64]byte
	seed := binary.BigEndian.AppendUint64(append(buffer[:0], prefix...), uint64(serial))
	sum := sha256.Sum256(binary.BigEndian.AppendUint64(seed, uint64(position)))
	id := append(buffer[:0], prefix...)
	for _, b := range sum[:n] {
		id = append(id, alphanumeric[int(b)%len(alphanumeric)])
	}
	return string(id)
}

// GenerateHex is [GenerateID] with n hexadecimal digits (at most 64).
func GenerateHex(prefix string, n int, serial int64, position int) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %d %d", prefix, serial, position))
	return prefix + hex.EncodeToString(sum[:])[:n]
}

// Fragments cuts a text like a token stream: a few characters each, at most about ten fragments, never inside a
// character. An empty text has none.
func Fragments(text string) []string {
	size := max(4, len(text)/8)
	fragments := make([]string, 0, 9)
	for len(text) > size {
		cut := size
		for cut < len(text) && !utf8.RuneStart(text[cut]) {
			cut++
		}
		fragments, text = append(fragments, text[:cut]), text[cut:]
	}
	if text != "" {
		fragments = append(fragments, text)
	}
	return fragments
}
