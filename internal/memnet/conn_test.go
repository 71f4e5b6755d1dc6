package memnet

import (
	"bytes"
	"context"
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

// connect returns both ends of a connection: the one that dialled and the one that was accepted.
func connect(t testing.TB) (dialled, accepted net.Conn) {
	n := New()
	l, err := n.Listen("127.0.0.1:0")
	require.NoError(t, err)
	dialled, err = n.DialContext(context.Background(), "tcp", l.Addr().String())
	require.NoError(t, err)
	accepted, err = l.Accept()
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
	require.True(t, ok, "net/http and others look for CloseWrite")
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
			require.True(t, bytes.Equal(sent, got), "%d bytes came through changed", size)
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

func TestWritesAtOnceDoNotMix(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, server := connect(t)
		const writers, size = 4, capacity + 1000 // each has to wait half way
		for i := range writers {
			go func() {
				_, err := client.Write(bytes.Repeat([]byte{byte(i)}, size))
				assert.NoError(t, err)
			}()
		}
		synctest.Wait() // all of them are waiting now, one in the middle of its bytes
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
		for range 1000 { // deadlines that move all the time, and never pass
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

func TestClosing(t *testing.T) {
	one := make([]byte, 1)
	for _, test := range []struct {
		name string
		act  func(t *testing.T, client, server net.Conn) error
		want error
	}{
		{"the peer's close ends a read with EOF", func(t *testing.T, client, server net.Conn) error {
			require.NoError(t, server.Close())
			_, err := client.Read(one)
			return err
		}, io.EOF},
		{"EOF comes after what was written", func(t *testing.T, client, server net.Conn) error {
			_, err := server.Write([]byte("bye"))
			require.NoError(t, err)
			require.NoError(t, server.Close())
			text, err := io.ReadAll(client)
			require.NoError(t, err)
			require.Equal(t, "bye", string(text))
			_, err = client.Read(one)
			return err
		}, io.EOF},
		{"a write after the peer's close is a broken pipe", func(t *testing.T, client, server net.Conn) error {
			require.NoError(t, server.Close())
			_, err := client.Write(one)
			return err
		}, syscall.EPIPE},
		{"the peer's close ends a write that waits", func(t *testing.T, client, server net.Conn) error {
			wrote := make(chan error)
			go func() {
				n, err := client.Write(make([]byte, 2*capacity))
				assert.Equal(t, capacity, n)
				wrote <- err
			}()
			synctest.Wait()
			require.NoError(t, server.Close())
			return <-wrote
		}, syscall.EPIPE},
		{"an own close ends a read that waits", func(t *testing.T, client, server net.Conn) error {
			read := make(chan error)
			go func() {
				_, err := client.Read(one)
				read <- err
			}()
			synctest.Wait()
			require.NoError(t, client.Close())
			return <-read
		}, net.ErrClosed},
		{"a read after an own close", func(t *testing.T, client, server net.Conn) error {
			_, err := server.Write(one)
			require.NoError(t, err)
			require.NoError(t, client.Close())
			_, err = client.Read(one)
			return err
		}, net.ErrClosed},
		{"a write after an own close", func(t *testing.T, client, server net.Conn) error {
			require.NoError(t, client.Close())
			_, err := client.Write(one)
			return err
		}, net.ErrClosed},
		{"closing twice", func(t *testing.T, client, server net.Conn) error {
			require.NoError(t, client.Close())
			return client.Close()
		}, net.ErrClosed},
		{"a deadline on a closed connection", func(t *testing.T, client, server net.Conn) error {
			require.NoError(t, client.Close())
			return client.SetDeadline(time.Now())
		}, net.ErrClosed},
		{"a half close on a closed connection", func(t *testing.T, client, server net.Conn) error {
			require.NoError(t, client.Close())
			return closeWrite(t, client)
		}, net.ErrClosed},
		{"a write after an own half close", func(t *testing.T, client, server net.Conn) error {
			require.NoError(t, closeWrite(t, client))
			_, err := client.Write(one)
			return err
		}, syscall.EPIPE},
		{"a half close ends the peer's read that waits", func(t *testing.T, client, server net.Conn) error {
			read := make(chan error)
			go func() {
				_, err := server.Read(one)
				read <- err
			}()
			synctest.Wait()
			require.NoError(t, closeWrite(t, client))
			return <-read
		}, io.EOF},
		{"a half close ends the peer's read, and nothing else", func(t *testing.T, client, server net.Conn) error {
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
			_, err = client.Read(one)
			return err
		}, io.EOF},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client, server := connect(t)
				require.ErrorIs(t, test.act(t, client, server), test.want)
			})
		})
	}
}

func TestAnErrorSaysWhichConnection(t *testing.T) {
	client, server := connect(t)
	require.NoError(t, server.Close())
	_, err := client.Write([]byte("x"))
	require.EqualError(t, err, "write tcp 127.0.0.1:49152->127.0.0.1:1: broken pipe")
}

func TestAFullBufferHoldsTheWriterBack(t *testing.T) {
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
			require.InDelta(t, read+capacity, wrote, 1000, "the writer runs ahead by the buffer, no less and no more")
			n, err := server.Read(make([]byte, 100_000))
			require.NoError(t, err)
			read += n
		}
		require.NoError(t, client.Close())
		synctest.Wait()
	})
}

func TestDeadlines(t *testing.T) {
	read := func(c net.Conn) error {
		_, err := c.Read(make([]byte, 10))
		return err
	}
	fill := func(c net.Conn) error {
		_, err := c.Write(make([]byte, capacity+1))
		return err
	}
	for _, test := range []struct {
		name string
		set  func(c net.Conn)
		do   func(c net.Conn) error
		want time.Duration // after which do gives up
	}{
		{"read, in the past", func(c net.Conn) { c.SetReadDeadline(time.Unix(1, 0)) }, read, 0},
		{"read, now", func(c net.Conn) { c.SetReadDeadline(time.Now()) }, read, 0},
		{"read, in the future", func(c net.Conn) { c.SetReadDeadline(time.Now().Add(time.Minute)) }, read, time.Minute},
		{"read, a wall-clock time", func(c net.Conn) { c.SetReadDeadline(time.Now().Add(time.Minute).Round(0)) }, read, time.Minute},
		{"write, in the past", func(c net.Conn) { c.SetWriteDeadline(time.Unix(1, 0)) }, fill, 0},
		{"write, in the future", func(c net.Conn) { c.SetWriteDeadline(time.Now().Add(time.Minute)) }, fill, time.Minute},
		{"both, read", func(c net.Conn) { c.SetDeadline(time.Now().Add(time.Minute)) }, read, time.Minute},
		{"both, write", func(c net.Conn) { c.SetDeadline(time.Now().Add(time.Minute)) }, fill, time.Minute},
		{"the last one counts", func(c net.Conn) {
			c.SetReadDeadline(time.Now().Add(time.Second))
			c.SetReadDeadline(time.Now().Add(time.Hour))
		}, read, time.Hour},
		{"moved forward while the read waits", func(c net.Conn) {
			c.SetReadDeadline(time.Now().Add(time.Minute))
			time.AfterFunc(30*time.Second, func() { c.SetReadDeadline(time.Now().Add(time.Hour)) })
		}, read, time.Hour + 30*time.Second},
		{"moved into the past while the read waits", func(c net.Conn) {
			time.AfterFunc(time.Minute, func() { c.SetReadDeadline(time.Unix(1, 0)) })
		}, read, time.Minute},
		{"moved into the past while the write waits", func(c net.Conn) {
			time.AfterFunc(time.Minute, func() { c.SetWriteDeadline(time.Unix(1, 0)) })
		}, fill, time.Minute},
		{"a write that waits for another one", func(c net.Conn) {
			go fill(c)
			synctest.Wait()
			c.SetWriteDeadline(time.Now().Add(time.Minute))
		}, fill, time.Minute},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client, _ := connect(t)
				start := time.Now()
				test.set(client)
				err := test.do(client)
				require.ErrorIs(t, err, os.ErrDeadlineExceeded)
				require.Equal(t, test.want, time.Since(start)) // the bubble's clock: exact
				var network net.Error
				require.True(t, errors.As(err, &network) && network.Timeout(), "net/http asks for Timeout")
			})
		})
	}
}

func TestAPassedDeadlineGoesBeforeData(t *testing.T) {
	client, server := connect(t)
	_, err := server.Write([]byte("text"))
	require.NoError(t, err)
	require.NoError(t, client.SetReadDeadline(time.Unix(1, 0)))
	_, err = client.Read(make([]byte, 4))
	require.ErrorIs(t, err, os.ErrDeadlineExceeded)

	require.NoError(t, client.SetReadDeadline(time.Time{})) // the connection is as good as before
	got := make([]byte, 4)
	_, err = io.ReadFull(client, got)
	require.NoError(t, err)
	require.Equal(t, "text", string(got))
}

func TestADeadlineThatWasTakenBackNeverPasses(t *testing.T) {
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

func TestAWriteThatTimesOutSaysHowFarItGot(t *testing.T) {
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
