// Package relay connects a server in this process to a client under test that launches its server over stdio. The
// client launches this program again; the new process only copies its standard streams over loopback to the [Listener].
// What speaks a protocol does not belong here.
//
// Importing the package is enough: a process whose first argument is [Argument] becomes a relay in an init function,
// before main. That needs nothing from a user's TestMain, and works when the client clears its server's environment, as
// some SDKs do. It costs one comparison at the start of each process. Packages that are initialized earlier must not
// write to standard output.
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
	syscall.Exit(code) // os.Exit writes coverage, and waits a second with the race detector
}

// connectTimeout limits the dial and the first line of a connection.
const connectTimeout = 10 * time.Second

// flushTimeout limits how long a reader may take for the last bytes after the session.
const flushTimeout = 2 * time.Second

// copyBytes copies between the standard streams and the listener until that closes the connection. The end of in only
// ends that direction.
func copyBytes(path string, in io.Reader, out, log io.Writer) error {
	raw, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("the session is over: %w", err)
	}
	address, token, ok := strings.Cut(strings.TrimSpace(string(raw)), " ")
	if !ok {
		return fmt.Errorf("%s has no address and token", path)
	}
	id := rand.Text()
	life, err := dial(address, hello(token, lifeLine, id)) // first, so that it comes whenever the other one does
	if err != nil {
		return err
	}
	data, err := dial(address, hello(token, dataLine, id))
	if err != nil {
		return err
	}
	defer data.Close()
	go func() {
		copyPlainly(data, in) // when this fails, the relay is about to end
		_, _ = life.Write([]byte{inputEnded})
		_ = data.(*net.TCPConn).CloseWrite()
	}()
	copied := make(chan struct{})
	go func() {
		defer close(copied)
		copyPlainly(out, data)
	}()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		copyPlainly(log, life)
	}()
	select {
	case <-copied:
	case <-ended:
	}
	flush := time.After(flushTimeout) // the copies do not end if the client does not read
	for _, one := range []chan struct{}{copied, ended} {
		select {
		case <-one:
		case <-flush:
			return nil
		}
	}
	return nil
}

// copyPlainly copies until a stream ends or fails. It hides the streams' types from io.Copy: between a connection and a
// blocking pipe, that would call splice(2) in a loop that keeps a core busy while there is nothing to copy (Go 1.26).
func copyPlainly(to io.Writer, from io.Reader) {
	_, _ = io.Copy(struct{ io.Writer }{to}, struct{ io.Reader }{from})
}

// inputEnded is what a relay writes on its life line when its input has ended, before it closes the data line. A killed
// relay writes nothing.
const inputEnded = '.'

// The two connections of a relay. The data line has the bytes. The life line ends when the listener has gone, even
// while the client reads nothing; its bytes go to standard error.
const (
	dataLine = "data"
	lifeLine = "life"
)

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
