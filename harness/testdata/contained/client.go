// Package contained is what somebody could have who tests a client of their own.
package contained

import (
	"context"

	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/internal/reference"
)

// Client is right, unless it is broken on purpose: then it crashes where nobody can recover.
func Client(broken bool) harness.Client {
	return harness.InProcess(func(ctx context.Context, env harness.Env) error {
		if broken {
			go panic("crashed on a goroutine of its own")
			<-ctx.Done()
		}
		return reference.Client(reference.Config{})(ctx, env)
	})
}
