package conformance_test

import (
	"flag"
	"os"
	"testing"
)

// TestMain runs more parallel tests than there are cores, because those with processes mostly wait.
func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", "5"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}
