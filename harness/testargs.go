package harness

import (
	"flag"
	"slices"
	"strings"
)

// ownArgs returns the arguments without those of package testing, except -test.short, which tests depend on.
func ownArgs(args []string, flags *flag.FlagSet) []string {
	var own []string
	for len(args) > 0 {
		arg := args[0]
		if len(arg) < 2 || arg[0] != '-' || arg == "--" {
			return append(own, args...) // the end of the flags
		}
		name, _, hasValue := strings.Cut(strings.TrimLeft(arg, "-"), "=")
		n := 1
		if !hasValue && !isBool(flags.Lookup(name)) {
			n = min(2, len(args)) // the next argument is its value
		}
		if !strings.HasPrefix(name, "test.") || name == "test.short" {
			own = append(own, args[:n]...)
		}
		args = args[n:]
	}
	return slices.Clip(own)
}

func isBool(f *flag.Flag) bool {
	if f == nil {
		return true
	}
	b, ok := f.Value.(interface{ IsBoolFlag() bool })
	return ok && b.IsBoolFlag()
}
