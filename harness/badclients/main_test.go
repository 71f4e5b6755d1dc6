package badclients

import (
	"os"
	"testing"
)

// TestMain turns the binary into a bad client where it is started as one.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "bad" {
		os.Exit(Main(os.Args[2], os.Args[3:]))
	}
	if err := os.Setenv("GORACE", "atexit_sleep_ms=0"); err != nil { // or each client takes a second to end, with -race
		panic(err)
	}
	os.Exit(m.Run())
}
