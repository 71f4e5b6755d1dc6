// Package relay lets a process that somebody else starts, and that can only copy bytes, stand for a server in this one: a client under
// test launches its server over stdio, and what it launches is this program again, which hands the bytes on over loopback.
//
// Whoever imports the package has it in the program: a process whose first argument is [Argument] is a relay before main begins, in an
// init function. That is the only way that needs nothing of a user's TestMain, and that also works where the client gives its
// server a clean environment, as some SDKs do. It costs a comparison at the start of each process. The packages that are
// initialized earlier must not write to standard output.
package relay

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
	"time"
)

// Argument is the first argument of a relay. The second is the path of a file with an address and a token.
const Argument = "mcp-conform:relay"

func init() {
	if len(os.Args) != 3 || os.Args[1] != Argument {
		return
	}
	code := 0
	if err := copyBytes(os.Args[2], os.Stdin, os.Stdout, os.Stderr); err != nil {
		fmt.Fprintf(os.Stderr, "mcp-conform: the relay to the server under test: %v\n", err)
		code = 1
	}
	syscall.Exit(code) // not os.Exit, which waits a second where the race detector is on, and writes coverage
}

// connectTimeout is how long the other end may take to answer the dial.
const connectTimeout = 10 * time.Second

// flushTimeout is how long a reader may take with the last bytes once the session is over.
const flushTimeout = 2 * time.Second

// copyBytes copies between the standard streams and the other end until that one closes: the end of in only ends what is written to it.
func copyBytes(path string, in io.Reader, out, log io.Writer) error {
	raw, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("the session is over: %w", err)
	}
	address, token, ok := strings.Cut(strings.TrimSpace(string(raw)), " ")
	if !ok {
		return fmt.Errorf("%s holds no address and token", path)
	}
	id := rand.Text()
	life, err := dial(address, hello(token, lifeLine, id)) // first, so that it comes wherever the other one does; it ends with the process
	if err != nil {
		return err
	}
	data, err := dial(address, hello(token, dataLine, id))
	if err != nil {
		return err
	}
	defer data.Close()
	go func() {
		_, _ = io.Copy(data, in) // where the other end is gone we are about to end
		_, _ = life.Write([]byte{inputEnded})
		_ = data.(*net.TCPConn).CloseWrite()
	}()
	copied := make(chan struct{})
	go func() {
		defer close(copied)
		_, _ = io.Copy(out, data) // ends with either of them
	}()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = io.Copy(log, life)
	}()
	select {
	case <-copied:
	case <-ended:
	}
	flush := time.After(flushTimeout) // with a reader that does not read, no copying would ever end
	for _, one := range []chan struct{}{copied, ended} {
		select {
		case <-one:
		case <-flush:
			return nil
		}
	}
	return nil
}

// inputEnded is what a relay says on its life line when its input has ended, before it passes that on. One that is killed says nothing.
const inputEnded = '.'

// The two connections of a relay: one for the bytes, and one that ends when the other end has gone, also while nobody takes the bytes. What
// comes on the latter goes to standard error.
const (
	dataLine = "data"
	lifeLine = "life"
)

// hello is the first line of a connection.
func hello(token, kind, id string) string { return token + " " + kind + " " + id + "\n" }

func dial(address, hello string) (net.Conn, error) {
	c, err := net.DialTimeout("tcp", address, connectTimeout)
	if err != nil {
		return nil, fmt.Errorf("the session is over: %w", err)
	}
	if _, err := io.WriteString(c, hello); err != nil {
		return nil, fmt.Errorf("the session is over: %w", errors.Join(err, c.Close()))
	}
	return c, nil
}
