package dialect

import (
	"encoding/binary"
	"math/bits"
)

// maxDepth is how deep objects and arrays may nest, as in encoding/json.
const maxDepth = 10_000

// valid returns the end of the JSON value at i, or -1 if it is invalid. It accepts what encoding/json accepts, several
// times as fast. depth is the number of enclosing objects and arrays.
func valid(raw []byte, i, depth int) int {
	if i == len(raw) {
		return -1
	}
	switch c := raw[i]; c {
	case '{', '[':
		if depth == maxDepth {
			return -1
		}
		return validMembers(raw, i, depth+1, nil)
	case '"':
		return validText(raw, i)
	case 't':
		return validWord(raw, i, "true")
	case 'f':
		return validWord(raw, i, "false")
	case 'n':
		return validWord(raw, i, "null")
	}
	return validNumber(raw, i)
}

// validMembers is valid for an object or an array. It calls member, unless nil, with each decoded name and value of an
// object.
func validMembers(raw []byte, i, depth int, member func(name, value []byte)) int {
	opening := raw[i]
	closing := opening + 2 // in ASCII
	if i = space(raw, i+1); i < len(raw) && raw[i] == closing {
		return i + 1
	}
	for {
		var name []byte
		if opening == '{' {
			if i == len(raw) || raw[i] != '"' {
				return -1
			}
			begin := i
			if i = validText(raw, i); i < 0 {
				return -1
			}
			name = raw[begin:i]
			if i = space(raw, i); i == len(raw) || raw[i] != ':' {
				return -1
			}
			i = space(raw, i+1)
		}
		begin := i
		if i = valid(raw, i, depth); i < 0 {
			return -1
		}
		if member != nil {
			member(nameOf(name), raw[begin:i:i])
		}
		if i = space(raw, i); i == len(raw) {
			return -1
		}
		switch raw[i] {
		case closing:
			return i + 1
		case ',':
			i = space(raw, i+1)
		default:
			return -1
		}
	}
}

func validText(raw []byte, i int) int {
	for i++; ; i++ {
		if i = stop(raw, i); i == len(raw) || raw[i] < ' ' {
			return -1
		}
		if raw[i] == '"' {
			return i + 1
		}
		if i++; i == len(raw) {
			return -1
		}
		switch raw[i] {
		case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		case 'u':
			for range 4 {
				if i++; i == len(raw) || !isHex(raw[i]) {
					return -1
				}
			}
		default:
			return -1
		}
	}
}

// stop returns the index of the next quotation mark, backslash or control character, or len(raw). It tests eight bytes
// at once: each difference sets the highest bit of a byte that matches, and perhaps of bytes above the first match.
func stop(raw []byte, i int) int {
	const ones, highest = 0x0101010101010101, 0x8080808080808080
	for ; i+8 <= len(raw); i += 8 {
		eight := binary.LittleEndian.Uint64(raw[i:])
		quote, backslash := eight^ones*'"', eight^ones*'\\'
		if found := ((eight - ones*' ') | (quote - ones) | (backslash - ones)) & ^eight & highest; found != 0 {
			return i + bits.TrailingZeros64(found)/8
		}
	}
	for i < len(raw) && raw[i] >= ' ' && raw[i] != '"' && raw[i] != '\\' {
		i++
	}
	return i
}

func isHex(c byte) bool { return isDigit(c) || 'a' <= c|0x20 && c|0x20 <= 'f' }

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func validWord(raw []byte, i int, word string) int {
	if end := i + len(word); end <= len(raw) && string(raw[i:end]) == word {
		return end
	}
	return -1
}

func validNumber(raw []byte, i int) int {
	if raw[i] == '-' {
		i++
	}
	if i < len(raw) && raw[i] == '0' {
		i++
	} else if i = validDigits(raw, i); i < 0 {
		return -1
	}
	if i < len(raw) && raw[i] == '.' {
		if i = validDigits(raw, i+1); i < 0 {
			return -1
		}
	}
	if i < len(raw) && raw[i]|0x20 == 'e' {
		if i++; i < len(raw) && (raw[i] == '+' || raw[i] == '-') {
			i++
		}
		return validDigits(raw, i)
	}
	return i
}

// validDigits requires at least one digit.
func validDigits(raw []byte, i int) int {
	begin := i
	for i < len(raw) && isDigit(raw[i]) {
		i++
	}
	if i == begin {
		return -1
	}
	return i
}
