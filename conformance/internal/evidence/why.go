package evidence

import (
	"fmt"
)

// why says what became of the n-th round.
func (ev *Case) WhyNoResult(n int) string {
	if n < 1 || n > len(ev.Rounds) {
		return ""
	}
	r := ev.Rounds[n-1]
	why := fmt.Sprintf(": the handler could not continue from the response to request %d", n)
	if len(r.Answers) == 0 {
		why = fmt.Sprintf(": no response to request %d%s", n, ev.Died())
	} else if a := r.Answers[0]; a.Err != nil {
		why = fmt.Sprintf(": error response to request %d: %q (code %d)", n, Clip(a.Err.Message), a.Err.Code)
	}
	if x := r.LastExchange(); x != nil && x.End.Refused+x.End.Miss != "" {
		why += fmt.Sprintf("; the model refused its request: %s", Clip(x.End.Refused+x.End.Miss))
	}
	return why
}

// died says that the client came to a bad end before the case was over; "" where it did not. A client that hung is still waiting for
// something, which is what the verdict is about.
func (ev *Case) Died() string {
	s := ev.Session
	if ev.Over || s.Ended == nil || s.Ended.Clean() || s.Ended.Deadline || s.Ended.Leak != "" {
		return ""
	}
	return "; " + s.Ending()
}
