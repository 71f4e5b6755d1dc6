package client

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// idleness is why a host called no tool.
type idleness struct {
	what, cause, fix string
}

var (
	// needsTerminal matches what a program writes that finds no terminal.
	needsTerminal = regexp.MustCompile(
		`(?i)(\b(not a|no|requires? an?( interactive)?|needs an?|must be an?|allocate a|` +
			`open a)( new)?|isn't a|without a) (tty|terminal|ptm?y)\b|raw mode is not supported|inappropriate ioctl|/dev/tty|` +
			`stdin is not`,
	)
	// asks matches the end of a line that asks its reader something.
	asks = regexp.MustCompile(`(?i)(\?|\[y/n\]|\(y/n\)|\(yes/no\)|press (enter|any key).*)[ :>]*$`)
	// prompts matches the end of a line after which a program may wait for input.
	prompts = regexp.MustCompile(`[:>$❯›]\s*$`)
)

// whyIdle says why the host of a session called no tool.
func whyIdle(s *evidence.Session) idleness {
	line, question := lastLine(s), asked(s)
	switch used := refusedUse(s); {
	case s.Ended != nil && needsTerminal.MatchString(s.Ended.Stderr+"\n"+s.Ended.Stdout):
		return idleness{"it needs a terminal", "the host runs in an interactive mode",
			"Start the host in its mode for scripts (often -p, exec, run or --print), or give it a terminal with --pty."}
	case question:
		return idleness{fmt.Sprintf("it asks %q", line), "the host waits for a decision of its user",
			"Answer with --answer 'PATTERN=TEXT', or use the host's setting that asks nothing. If it does not " +
				"read the answer, give it a terminal with --pty."}
	case s.RefusedOwn() != nil && used == "":
		return idleness{"its model refused its request: " + evidence.Clip(s.RefusedOwn().Why),
			"the host's request is invalid for the provider", "Correct the request to the model, as the provider's error says."}
	case len(s.Own) == 0 && !s.Asked:
		return idleness{"it asked neither the server nor the model for anything",
			"the host ignores its configuration, or waits for a task",
			"Make the host read {config} (--config-template for its format), use the model's address, and take {prompt} " +
				"as its task."}
	case len(s.Own) == 0:
		return idleness{"its model received no request", "the host asks another model, or got no task",
			"Lead the host to the model's address (OPENAI_BASE_URL and the like, or {model:DIALECT} in --config-template), " +
				"and give it {prompt}."}
	case !slices.ContainsFunc(s.Own, func(r *evidence.OwnRequest) bool { return r.Prompted(s) || r.Request.Host }):
		return idleness{"no request to its model has the task", "the host does not pass its task to the model",
			"Put {prompt} where the host takes a task, or write it to its standard input: --stdin '{prompt}'."}
	case used != "":
		return idleness{used, "the host asks its user before it calls a tool, or does not trust the server",
			"Allow the server's tools in the host's configuration, or answer its question with --answer 'PATTERN=TEXT'."}
	case !s.Connected:
		return idleness{
			"it did not connect to the server before it asked its model",
			"the host does not read the server's " +
				"address from {config}",
			"Write the server into the host's configuration: --config-template FILE with {url}.",
		}
	}
	return idleness{"it did not offer the server's tools to its model", "the host filters the server's tools, or asks " +
		"its model before they are listed", "Allow the tools of the server mcp-conform in the host's configuration."}
}

// refusedUse says which tool the model used that the host did not call, and what the host told its model about it; ""
// if the model used none.
func refusedUse(s *evidence.Session) string {
	what := ""
	for _, r := range s.Own {
		if told := r.LastResult(); what != "" && told != "" {
			return fmt.Sprintf("%s, and told the model %q", what, evidence.Clip(told))
		}
		if name := r.Uses(); what == "" && name != "" {
			what = fmt.Sprintf("it did not call the tool %s that its model used", name)
		}
	}
	return what
}

func lastLine(s *evidence.Session) string {
	if s.Ended == nil {
		return ""
	}
	for _, text := range []string{s.Ended.Stdout, s.Ended.Stderr} {
		lines := strings.Split(strings.TrimSpace(escapes.ReplaceAllString(text, "")), "\n")
		if last := strings.TrimSpace(lines[len(lines)-1]); last != "" {
			return last
		}
	}
	return ""
}

// escapes matches a terminal's control sequences.
var escapes = regexp.MustCompile(`\x1b\[[0-9;?]*[a-zA-Z]|\r`)

// asked reports whether the host ended with a question, or was waiting after a prompt.
func asked(s *evidence.Session) bool {
	line := lastLine(s)
	return asks.MatchString(line) || s.Ended != nil && s.Ended.Deadline && prompts.MatchString(line)
}

// explainIdle adds to a verdict why the host called no tool, and what its model received.
func explainIdle(v check.Verdict, s *evidence.Session) check.Verdict {
	why := whyIdle(s)
	v.Message += ": " + why.what
	if s.Ended != nil && s.Ended.Stdout+s.Ended.Stderr == "" {
		v.Message += "; it wrote nothing"
	}
	v.Message += "; " + s.Ending().Text
	return showModel(v.For(s.Ending().Reason).Because(why.cause, why.fix), s).ShowOutput(s)
}

// showModel adds the first requests of the host to its model.
func showModel(v check.Verdict, s *evidence.Session) check.Verdict {
	const most = 3
	lines := []string{"received no request"}
	for i, r := range s.Own {
		switch {
		case i == most:
			lines = append(lines, fmt.Sprintf("… %d more", len(s.Own)-most))
		case i < most:
			task := " without the task"
			if r.Prompted(s) {
				task = " with the task"
			}
			lines = append(lines, r.String()+task)
		}
	}
	if len(s.Own) > 0 {
		lines = lines[1:]
	}
	return v.Show(evidence.Place{Label: "model"}, "%s", strings.Join(lines, "\n"))
}

// stays reports whether a host waited for something after the last answer of its model, as for its next task.
func stays(s *evidence.Session) bool {
	open, last := latest(s)
	return s.Host() && s.Ended != nil && s.Ended.Deadline && open == nil && last != nil && len(s.Own) > 0 &&
		s.Own[len(s.Own)-1].Uses() == ""
}

// answersOwn returns the failure of a host whose answer to a sampling request is its model's answer to the host's own
// conversation; nil for any other client.
func answersOwn(s *evidence.Session) *check.Verdict {
	for _, c := range s.Trace.Header.Cases {
		for _, r := range s.Case(c.ID).Rounds {
			a := r.Result()
			if a == nil {
				continue
			}
			for _, own := range s.Own {
				if at := s.Order[own.Ref]; own.Request.Host && s.Order[r.Asked.Ref] < at && at < s.Order[a.Ref] {
					return check.Instead(check.Fail("expected the model to receive the sampling request, found a request of the "+
						"host's own conversation").ShowJSON(own.Place, own.Request.Body).ShowResult(a).In(c.ID).
						Because("the host answers the server from its own conversation",
							"Send the model the messages of the sampling request, and nothing of the host's conversation."))
				}
			}
		}
	}
	return nil
}

// Unmarked returns how many requests of hosts belong to no sample.
func Unmarked(sessions []*evidence.Session) int {
	requests := 0
	for _, s := range sessions {
		if s.Host() {
			requests += len(s.Unmarked)
		}
	}
	return requests
}

// Hurried says how many sessions had a short limit, because the client hung in earlier ones.
func Hurried(traces []*trace.Trace) []string {
	n, limit := 0, time.Duration(0)
	for _, t := range traces {
		if t.Header.Hurried {
			n, limit = n+1, max(limit, t.Header.Timeout)
		}
	}
	if n == 0 {
		return nil
	}
	return []string{
		fmt.Sprintf("the client hung in two sessions in the same way, so %d later ones had at most %s", n, limit),
	}
}

// Notes say how many requests of hosts belong to no sample ([Unmarked]). They are not judged.
func Notes(unmarked int) []string {
	switch unmarked {
	case 0:
		return nil
	case 1:
		return []string{"1 model request belongs to no sample; it is not judged"}
	}
	return []string{fmt.Sprintf("%d model requests belong to no sample; they are not judged", unmarked)}
}
