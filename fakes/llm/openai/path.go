package openai

import "strconv"

// paths are the places of a message and its contents in a request.
type paths struct {
	message, content string
	calls            [4]string // the first calls
}

func pathsOf(i int) paths {
	p := paths{message: at("messages", i)}
	p.content = p.message + ".content"
	for j := range p.calls {
		p.calls[j] = at(p.message+".tool_calls", j)
	}
	return p
}

func at(path string, i int) string { return path + "[" + strconv.Itoa(i) + "]" }

// call returns the path of call i.
func (p *paths) call(i int) string {
	if i < len(p.calls) {
		return p.calls[i]
	}
	return at(p.message+".tool_calls", i)
}

// usual holds frequent paths, to avoid allocations.
var usual = func() (all [32]paths) {
	for i := range all {
		all[i] = pathsOf(i)
	}
	return all
}()

// messagePaths returns the paths of message i.
func messagePaths(i int) *paths {
	if i < len(usual) {
		return &usual[i]
	}
	p := pathsOf(i)
	return &p
}
