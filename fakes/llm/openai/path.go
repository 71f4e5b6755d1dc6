package openai

import "strconv"

// paths are where a message of a request, and what is in it, stands.
type paths struct {
	message, content string
	calls            [4]string // the first of them
}

func pathsOf(i int) paths {
	p := paths{message: at("messages", i)}
	p.content = p.message + ".content"
	for j := range p.calls {
		p.calls[j] = at(p.message+".tool_calls", j)
	}
	return p
}

// at is the path of an element.
func at(path string, i int) string { return path + "[" + strconv.Itoa(i) + "]" }

// call is the path of the i-th call.
func (p *paths) call(i int) string {
	if i < len(p.calls) {
		return p.calls[i]
	}
	return at(p.message+".tool_calls", i)
}

// usual are the paths that are asked for all the time, which take no memory anew.
var usual = func() (all [32]paths) {
	for i := range all {
		all[i] = pathsOf(i)
	}
	return all
}()

// messagePaths are the paths of the i-th message.
func messagePaths(i int) *paths {
	if i < len(usual) {
		return &usual[i]
	}
	p := pathsOf(i)
	return &p
}
