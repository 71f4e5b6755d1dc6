// Package contained is an example of a user's package that tests a client.
package contained

import (
	"context"

	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/internal/proof/reference"
)

// Client is correct, or crashes on a goroutine where nothing can recover.
func Client(broken bool) harness.Client {
	return harness.InProcess(func(ctx context.Context, env harness.Env) error {
		if broken {
			go panic("crashed on a goroutine of its own")
			<-ctx.Done()
		}
		return reference.Client(reference.Config{})(ctx, env)
	})
}
