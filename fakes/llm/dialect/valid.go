package dialect

// deepest is how many objects and arrays may be inside of one another, as with encoding/json.
const deepest = 10_000

// valid returns the end of the JSON value that begins at i, and -1 where none does. Valid is what is valid for encoding/json, whose own
// test takes several times as long. depth counts the objects and arrays around it.
func valid(raw []byte, i, depth int) int {
	if i == len(raw) {
		return -1
	}
	switch c := raw[i]; c {
	case '{', '[':
		if depth == deepest {
			return -1
		}
		return validMembers(raw, i, depth+1)
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

// validMembers is valid of an object or an array.
func validMembers(raw []byte, i, depth int) int {
	opening := raw[i]
	closing := opening + 2 // in ASCII
	if i = space(raw, i+1); i < len(raw) && raw[i] == closing {
		return i + 1
	}
	for {
		if opening == '{' {
			if i == len(raw) || raw[i] != '"' {
				return -1
			}
			if i = validText(raw, i); i < 0 {
				return -1
			}
			if i = space(raw, i); i == len(raw) || raw[i] != ':' {
				return -1
			}
			i = space(raw, i+1)
		}
		if i = valid(raw, i, depth); i < 0 {
			return -1
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

// stops are the bytes that do not stand for themselves in a string.
var stops = func() (stops [256]bool) {
	for c := range ' ' {
		stops[c] = true
	}
	stops['"'], stops['\\'] = true, true
	return stops
}()

func validText(raw []byte, i int) int {
	for i++; i < len(raw); i++ {
		if !stops[raw[i]] {
			continue
		}
		if raw[i] == '"' {
			return i + 1
		}
		if i++; raw[i-1] != '\\' || i == len(raw) {
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
	return -1
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

// validDigits wants at least one digit.
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
