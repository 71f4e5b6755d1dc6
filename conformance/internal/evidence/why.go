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
	why := fmt.Sprintf(": the answer to request %d could not be gone on from", n)
	if len(r.Answers) == 0 {
		why = fmt.Sprintf(": no answer came for request %d%s", n, ev.Died())
	} else if a := r.Answers[0]; a.Err != nil {
		why = fmt.Sprintf(": request %d was answered by the error %q (code %d)", n, Clip(a.Err.Message), a.Err.Code)
	}
	if x := r.LastExchange(); x != nil && x.End.Refused+x.End.Miss != "" {
		why += fmt.Sprintf("; the model had refused what it was asked: %s", Clip(x.End.Refused+x.End.Miss))
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
