package openai

import "github.com/mcp-conform/mcp-conform/fakes/llm/dialect"

// paths are the places of a message and its contents in a request.
type paths struct {
	message, content string
	calls            [4]string // the first calls
}

func pathsOf(i int) paths {
	p := paths{message: dialect.At("messages", i)}
	p.content = p.message + ".content"
	for j := range p.calls {
		p.calls[j] = dialect.At(p.message+".tool_calls", j)
	}
	return p
}

func (p *paths) call(i int) string {
	if i < len(p.calls) {
		return p.calls[i]
	}
	return dialect.At(p.message+".tool_calls", i)
}

// cachedPaths holds frequent paths, to avoid allocations.
var cachedPaths = func() (all [32]paths) {
	for i := range all {
		all[i] = pathsOf(i)
	}
	return all
}()

func messagePaths(i int) *paths {
	if i < len(cachedPaths) {
		return &cachedPaths[i]
	}
	p := pathsOf(i)
	return &p
}
