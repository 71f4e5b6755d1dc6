package relay_test

import (
	"fmt"
	"io"
	"os/exec"
	"strings"

	"github.com/mcp-conform/mcp-conform/internal/relay"
)

// A function of this process serves a client that launches its server as a process.
func ExampleListen() {
	l, err := relay.Listen(func(c *relay.Conn) {
		defer c.Close()
		input, _ := io.ReadAll(c)
		fmt.Fprintf(c, "%d bytes", len(input))
	})
	if err != nil {
		panic(err)
	}
	defer l.Close()

	server := exec.Command(l.Command()[0], l.Command()[1:]...)
	server.Stdin = strings.NewReader("hello")
	output, err := server.Output()
	fmt.Println(string(output), err)
	// Output: 5 bytes <nil>
}
