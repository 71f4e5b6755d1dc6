package dialect

import (
	"hash/fnv"
	"math"
	"math/rand/v2"
	"strings"
)

// Embedding returns the embedding of a text, a vector of length 1. Equal texts have equal ones. Texts that share words
// have similar ones, so that a search finds what a reader expects: each word adds a direction of its own.
func Embedding(text string, size int) []float32 {
	sum := make([]float64, size)
	for word := range strings.FieldsSeq(strings.ToLower(text)) {
		hash := fnv.New64a()
		_, _ = hash.Write([]byte(strings.Trim(word, ".,;:!?\"'()"))) // never fails
		random := rand.New(rand.NewPCG(hash.Sum64(), 0))
		for i := range sum {
			sum[i] += random.NormFloat64()
		}
	}
	length := 0.0
	for _, x := range sum {
		length += x * x
	}
	all := make([]float32, size)
	for i, x := range sum {
		all[i] = float32(x / max(math.Sqrt(length), 1e-9))
	}
	return all
}
