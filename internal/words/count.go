package words

import "fmt"

// Count is a number with its noun: "1 check", "2 checks".
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
