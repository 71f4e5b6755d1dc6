package client

import (
	"cmp"
	"context"
	"errors"
	"io"
	"maps"
	"net"
	"net/http"

	"github.com/mcp-conform/mcp-conform/internal/memnet"
)

// host serves Options.Handler in memory, and makes the client reach it whatever the address is.
func (o *Options) host() (close func() error, err error) {
	network := memnet.New()
	listener, err := network.Listen("127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	server := &http.Server{Handler: o.Handler}
	go func() { _ = server.Serve(listener) }() // returns ErrServerClosed
	o.URL = cmp.Or(o.URL, "http://"+listener.Addr().String()+"/mcp")
	transport := &http.Transport{DialContext: func(ctx context.Context, kind, _ string) (net.Conn, error) {
		return network.DialContext(ctx, kind, listener.Addr().String())
	}}
	o.HTTP = &http.Client{Transport: transport}
	return func() error {
		transport.CloseIdleConnections()
		return server.Close()
	}, nil
}

// once returns a Launch of a connection that exists already.
func once(conn io.ReadWriteCloser) func(context.Context, io.Writer) (io.ReadWriteCloser, error) {
	return func(context.Context, io.Writer) (io.ReadWriteCloser, error) {
		if conn == nil {
			return nil, errors.New("Options.Conn has ended")
		}
		first := conn
		conn = nil
		return first, nil
	}
}

// withHeader returns a client that adds headers to every request.
func withHeader(h *http.Client, header http.Header) *http.Client {
	added := *h
	added.Transport = adding{cmp.Or(h.Transport, http.DefaultTransport), header}
	return &added
}

type adding struct {
	http.RoundTripper
	header http.Header
}

// RoundTrip implements [http.RoundTripper].
func (a adding) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	maps.Copy(r.Header, a.header.Clone())
	return a.RoundTripper.RoundTrip(r)
}
