package main

import (
	"io"
	"os"
)

// terminal reports whether to write colours and progress: to a terminal, unless NO_COLOR is set
// (https://no-color.org).
func terminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok || os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb" {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
