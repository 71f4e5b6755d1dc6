package main

import (
	"context"
	"fmt"
	"io"
	"os"
)

// Invalid flags give exit code 2, with the reason on standard error.
func Example() {
	fmt.Println(run(context.Background(), []string{"run", "-j", "0"}, streams{os.Stdout, io.Discard}))
	fmt.Println(run(context.Background(), []string{"list", "--requirements", "--revision", "1999-01-01"},
		streams{os.Stdout, io.Discard}))
	// Output:
	// 2
	// 2
}
