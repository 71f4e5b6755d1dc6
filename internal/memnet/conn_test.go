package memnet

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// connect returns both ends of a connection.
func connect(t testing.TB) (dialled, accepted net.Conn) {
	n := New()
	l := listen(t, n, ":0")
	dialled = dial(t, n, l)
	accepted, err := l.Accept()
	require.NoError(t, err)
	t.Cleanup(func() {
		_ = l.Close()
		_ = dialled.Close()
		_ = accepted.Close()
	})
	return dialled, accepted
}

func closeWrite(t testing.TB, c net.Conn) error {
	half, ok := c.(interface{ CloseWrite() error })
	require.True(t, ok, "net/http looks for CloseWrite")
	return half.CloseWrite()
}

func TestBytesArriveInOrderBothWays(t *testing.T) {
	client, server := connect(t)
	for _, size := range []int{1, 100, capacity - 1, capacity, capacity + 1, 5*capacity + 7} {
		for _, way := range [][2]net.Conn{{client, server}, {server, client}} {
			sent := make([]byte, size)
			for i := range sent {
				sent[i] = byte(i * 31 / 7)
			}
			wrote := make(chan error, 1)
			go func() {
				_, err := way[0].Write(sent)
				wrote <- err
			}()
			got := make([]byte, size)
			_, err := io.ReadFull(way[1], got)
			require.NoError(t, err)
			require.NoError(t, <-wrote)
			require.True(t, bytes.Equal(sent, got), "%d bytes changed", size)
		}
	}
}

func TestBothEndsMayWriteFirst(t *testing.T) {
	client, server := connect(t) // net.Pipe would deadlock
	for _, c := range []net.Conn{client, server} {
		_, err := c.Write(make([]byte, capacity))
		require.NoError(t, err)
	}
}

func TestConcurrentWritesDoNotMix(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, server := connect(t)
		const writers, size = 4, capacity + 1000 // each must wait half-way
		for i := range writers {
			go func() {
				_, err := client.Write(bytes.Repeat([]byte{byte(i)}, size))
				assert.NoError(t, err)
			}()
		}
		synctest.Wait()
		got := make([]byte, writers*size)
		_, err := io.ReadFull(server, got)
		require.NoError(t, err)
		for part := range writers {
			block := got[part*size : (part+1)*size]
			require.Equal(t, size, bytes.Count(block, block[:1]), "block %d mixes two writes", part)
		}
	})
}

func TestConcurrentUseOfOneConnection(t *testing.T) {
	client, server := connect(t)
	var echo, load sync.WaitGroup
	echo.Go(func() {
		_, err := io.Copy(server, server)
		assert.NoError(t, err)
		assert.NoError(t, server.Close())
	})
	sent, got := make([]byte, 3<<20), make([]byte, 3<<20)
	random := rand.NewChaCha8([32]byte{1})
	_, _ = random.Read(sent)
	load.Go(func() {
		for rest := sent; len(rest) > 0; {
			n := min(len(rest), 1+int(random.Uint64()%9000))
			_, err := client.Write(rest[:n])
			assert.NoError(t, err)
			rest = rest[n:]
		}
		assert.NoError(t, closeWrite(t, client))
	})
	load.Go(func() {
		for range 1000 { // deadlines that move and never pass
			assert.NoError(t, client.SetDeadline(time.Now().Add(time.Hour)))
		}
	})
	_, err := io.ReadFull(client, got)
	require.NoError(t, err)
	load.Wait()
	echo.Wait()
	_, err = client.Read(make([]byte, 1))
	require.ErrorIs(t, err, io.EOF)
	require.True(t, bytes.Equal(sent, got))
}

// readOne, writeOne and setDeadline are the calls of TestClose that may fail.
func readOne(c net.Conn) error {
	_, err := c.Read(make([]byte, 1))
	return err
}

func writeOne(c net.Conn) error {
	_, err := c.Write(make([]byte, 1))
	return err
}

func setDeadline(c net.Conn) error { return c.SetDeadline(time.Now()) }

// whileWaiting runs act while do waits, and returns the error of do.
func whileWaiting(t *testing.T, do func() error, act func() error) error {
	done := make(chan error)
	go func() { done <- do() }()
	synctest.Wait()
	require.NoError(t, act())
	return <-done
}

type closing struct {
	name string
	act  func(t *testing.T, client, server net.Conn) error
	want error
}

func (c *closing) run(t *testing.T) {
	t.Run(c.name, func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			client, server := connect(t)
			require.ErrorIs(t, c.act(t, client, server), c.want)
		})
	})
}

func TestClose(t *testing.T) {
	after := func(act, then func(client, server net.Conn) error) func(*testing.T, net.Conn, net.Conn) error {
		return func(t *testing.T, client, server net.Conn) error {
			require.NoError(t, act(client, server))
			return then(client, server)
		}
	}
	onClient := func(f func(net.Conn) error) func(client, server net.Conn) error {
		return func(client, _ net.Conn) error { return f(client) }
	}
	peer := func(_, server net.Conn) error { return server.Close() }
	own := onClient(net.Conn.Close)
	half := onClient(func(c net.Conn) error { return closeWrite(t, c) })
	for _, c := range []closing{
		{"read after the peer's close", after(peer, onClient(readOne)), io.EOF},
		{"write after the peer's close", after(peer, onClient(writeOne)), syscall.EPIPE},
		{"write after its own close", after(own, onClient(writeOne)), net.ErrClosed},
		{"close after close", after(own, own), net.ErrClosed},
		{"deadline after close", after(own, onClient(setDeadline)), net.ErrClosed},
		{"half close after close", after(own, half), net.ErrClosed},
		{"write after its own half close", after(half, onClient(writeOne)), syscall.EPIPE},
		{"read with data after its own close", func(t *testing.T, client, server net.Conn) error {
			require.NoError(t, writeOne(server))
			require.NoError(t, client.Close())
			return readOne(client)
		}, net.ErrClosed},
	} {
		c.run(t)
	}
}

func TestCloseOfAConnectionInUse(t *testing.T) {
	for _, c := range []closing{
		{"EOF follows the data", func(t *testing.T, client, server net.Conn) error {
			_, err := server.Write([]byte("bye"))
			require.NoError(t, err)
			require.NoError(t, server.Close())
			text, err := io.ReadAll(client)
			require.NoError(t, err)
			require.Equal(t, "bye", string(text))
			return readOne(client)
		}, io.EOF},
		{"peer's close during a write", func(t *testing.T, client, server net.Conn) error {
			return whileWaiting(t, func() error {
				n, err := client.Write(make([]byte, 2*capacity))
				assert.Equal(t, capacity, n)
				return err
			}, server.Close)
		}, syscall.EPIPE},
		{"its own close during a read", func(t *testing.T, client, _ net.Conn) error {
			return whileWaiting(t, func() error { return readOne(client) }, client.Close)
		}, net.ErrClosed},
		{"half close during the peer's read", func(t *testing.T, client, server net.Conn) error {
			return whileWaiting(t, func() error { return readOne(server) },
				func() error { return closeWrite(t, client) })
		}, io.EOF},
		{"half close leaves the other direction open", func(t *testing.T, client, server net.Conn) error {
			_, err := client.Write([]byte("question"))
			require.NoError(t, err)
			require.NoError(t, closeWrite(t, client))
			question, err := io.ReadAll(server)
			require.NoError(t, err)
			require.Equal(t, "question", string(question))
			_, err = server.Write([]byte("answer"))
			require.NoError(t, err)
			require.NoError(t, server.Close())
			answer, err := io.ReadAll(client)
			require.NoError(t, err)
			require.Equal(t, "answer", string(answer))
			return readOne(client)
		}, io.EOF},
	} {
		c.run(t)
	}
}

func TestErrorNamesTheConnection(t *testing.T) {
	client, server := connect(t)
	require.NoError(t, server.Close())
	require.EqualError(t, writeOne(client), "write tcp 127.0.0.1:49152->127.0.0.1:1: broken pipe")
}

func TestFullBufferBlocksTheWriter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, server := connect(t)
		var wrote int
		go func() {
			for {
				n, err := client.Write(make([]byte, 1000))
				wrote += n
				if err != nil {
					return
				}
			}
		}()
		for read := 0; read < 3*capacity; {
			synctest.Wait()
			require.InDelta(t, read+capacity, wrote, 1000, "the writer is ahead by the buffer")
			n, err := server.Read(make([]byte, 100_000))
			require.NoError(t, err)
			read += n
		}
		require.NoError(t, client.Close())
		synctest.Wait()
	})
}

func TestDeadlines(t *testing.T) {
	fill := func(c net.Conn) error {
		_, err := c.Write(make([]byte, capacity+1))
		return err
	}
	in := func(d time.Duration) time.Time { return time.Now().Add(d) }
	past := time.Unix(1, 0)
	for _, test := range []struct {
		name string
		set  func(c net.Conn)
		do   func(c net.Conn) error
		want time.Duration // until do times out
	}{
		{"read in the past", func(c net.Conn) { c.SetReadDeadline(past) }, readOne, 0},
		{"read now", func(c net.Conn) { c.SetReadDeadline(in(0)) }, readOne, 0},
		{"read in the future", func(c net.Conn) { c.SetReadDeadline(in(time.Minute)) }, readOne, time.Minute},
		{"wall-clock read", func(c net.Conn) { c.SetReadDeadline(in(time.Minute).Round(0)) }, readOne, time.Minute},
		{"write in the past", func(c net.Conn) { c.SetWriteDeadline(past) }, fill, 0},
		{"write in the future", func(c net.Conn) { c.SetWriteDeadline(in(time.Minute)) }, fill, time.Minute},
		{"read, both set", func(c net.Conn) { c.SetDeadline(in(time.Minute)) }, readOne, time.Minute},
		{"write, both set", func(c net.Conn) { c.SetDeadline(in(time.Minute)) }, fill, time.Minute},
		{"the last one counts", func(c net.Conn) {
			c.SetReadDeadline(in(time.Second))
			c.SetReadDeadline(in(time.Hour))
		}, readOne, time.Hour},
		{"moved later during the read", func(c net.Conn) {
			c.SetReadDeadline(in(time.Minute))
			time.AfterFunc(30*time.Second, func() { c.SetReadDeadline(in(time.Hour)) })
		}, readOne, time.Hour + 30*time.Second},
		{"moved into the past during the read", func(c net.Conn) {
			time.AfterFunc(time.Minute, func() { c.SetReadDeadline(past) })
		}, readOne, time.Minute},
		{"moved into the past during the write", func(c net.Conn) {
			time.AfterFunc(time.Minute, func() { c.SetWriteDeadline(past) })
		}, fill, time.Minute},
		{"write that waits for another write", func(c net.Conn) {
			go fill(c)
			synctest.Wait()
			c.SetWriteDeadline(in(time.Minute))
		}, fill, time.Minute},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client, _ := connect(t)
				start := time.Now()
				test.set(client)
				err := test.do(client)
				require.ErrorIs(t, err, os.ErrDeadlineExceeded)
				require.Equal(t, test.want, time.Since(start))
				var network net.Error
				require.True(t, errors.As(err, &network) && network.Timeout(), "net/http asks for Timeout")
			})
		})
	}
}

func TestPassedDeadlinePrecedesData(t *testing.T) {
	client, server := connect(t)
	_, err := server.Write([]byte("text"))
	require.NoError(t, err)
	require.NoError(t, client.SetReadDeadline(time.Unix(1, 0)))
	require.ErrorIs(t, readOne(client), os.ErrDeadlineExceeded)

	require.NoError(t, client.SetReadDeadline(time.Time{}))
	got := make([]byte, 4)
	_, err = io.ReadFull(client, got)
	require.NoError(t, err)
	require.Equal(t, "text", string(got))
}

func TestRemovedDeadlineDoesNotPass(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, server := connect(t)
		require.NoError(t, client.SetDeadline(time.Now().Add(time.Second)))
		require.NoError(t, client.SetDeadline(time.Time{}))
		time.AfterFunc(time.Hour, func() { _, _ = server.Write([]byte("late")) })
		n, err := client.Read(make([]byte, 10))
		require.NoError(t, err)
		require.Equal(t, 4, n)
	})
}

func TestWriteThatTimesOutReturnsItsCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, server := connect(t)
		require.NoError(t, client.SetWriteDeadline(time.Now().Add(time.Second)))
		n, err := client.Write(make([]byte, capacity+5))
		require.ErrorIs(t, err, os.ErrDeadlineExceeded)
		require.Equal(t, capacity, n)
		require.NoError(t, client.Close())
		got, err := io.ReadAll(server)
		require.NoError(t, err)
		require.Len(t, got, capacity)
	})
}
