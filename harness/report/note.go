package report

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/width"
)

// Note writes one result in full: message, evidence, exchange, requirement, likely cause, fix, and the command that
// reproduces it.
func Note(b *bytes.Buffer, r *Result, o TextOptions) {
	head := fmt.Sprintf("%s  %s · %s · %s", paint(signs[r.Verdict], r.Verdict, o), r.Title(), r.Level, r.Revision)
	if len(r.Dialects) > 0 {
		head += " · " + strings.Join(r.Dialects, ", ")
	}
	fmt.Fprintf(b, "%s\n      %s\n", head, indented(r.Message))
	before := b.Len()
	b.WriteByte('\n')
	for i := range r.Evidence {
		line(b, r.Evidence[i].Label, r.Evidence[i].text())
	}
	line(b, "exchange", exchange(r.Around))
	if r.Requirement != nil {
		line(b, "requirement", strings.TrimPrefix(r.Requirement.Text+"\n"+r.Requirement.URL, "\n"))
	}
	line(b, "other cases", strings.Join(others(r.sayings()[1:], 0), "\n"))
	line(b, "same cause as", r.SameAs)
	line(b, "likely cause", r.Cause)
	line(b, "fix", r.Fix)
	line(b, "reproduce", r.Reproduce)
	if b.Len() == before+1 { // only the message
		b.Truncate(before)
	}
}

// text is the place of the evidence, and what was found there.
func (e *Evidence) text() string {
	var place []string
	for _, part := range []string{e.Event, e.Path} {
		if part != "" {
			place = append(place, part)
		}
	}
	if e.Seq != 0 {
		session := e.Case
		if session == "" {
			session = "session"
		}
		place = append(place, fmt.Sprintf("[%s #%d]", session, e.Seq))
	}
	return strings.Trim(strings.Join(place, "  ")+"\n"+e.Text, "\n")
}

func line(b *bytes.Buffer, label, text string) {
	if text != "" {
		rest := "\n" + strings.Repeat(" ", 24)
		fmt.Fprintf(b, "      %-16s  %s\n", label, strings.ReplaceAll(printable(text), "\n", rest))
	}
}

func indented(message string) string { return strings.ReplaceAll(printable(message), "\n", "\n      ") }

// printable escapes control characters in the client's own text, such as the colours of its stderr.
func printable(text string) string {
	var b strings.Builder
	for _, r := range strings.ReplaceAll(text, "\r\n", "\n") {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			fmt.Fprintf(&b, `\x%02x`, r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

const (
	// partyWidth is the width of "server → client", plus one.
	partyWidth = len("server -> client")
	// gap is how far the numbers of two steps may differ with nothing of note between them: the chunks of a stream.
	gap = 40
)

// exchange writes the steps around the evidence, a line each, with the excerpts of those that the verdict rests on.
func exchange(steps []Step) string {
	var b strings.Builder
	for i := range steps {
		s := &steps[i]
		if i > 0 && s.Seq > steps[i-1].Seq+gap {
			b.WriteString("…\n")
		}
		parties := s.From
		if s.To != "" {
			parties += " → " + s.To
		}
		padding := strings.Repeat(" ", max(0, partyWidth-utf8.RuneCountInString(parties)))
		fmt.Fprintf(&b, "#%-3d %s  %s\n", s.Seq, parties+padding, strings.ReplaceAll(s.Text, "\n", " "))
		for j := range s.Excerpts {
			s.Excerpts[j].write(&b)
		}
	}
	return strings.TrimRight(b.String(), "\n")
}

func (x *Excerpt) write(b *strings.Builder) {
	text, note := []rune(x.Text), x.Path
	start := min(x.Start, len(text))
	end := min(start+x.Length, len(text))
	if x.Missing {
		note += " is missing"
	}
	marks := strings.Repeat("^", max(columns(text[start:end]), 1))
	fmt.Fprintf(b, "     %s\n     %s%s %s\n",
		strings.Map(oneLine, x.Text), strings.Repeat(" ", columns(text[:start])), marks, note)
}

func columns(text []rune) int {
	n := len(text)
	for _, r := range text {
		if k := width.LookupRune(r).Kind(); k == width.EastAsianWide || k == width.EastAsianFullwidth {
			n++
		}
	}
	return n
}

func oneLine(r rune) rune {
	if unicode.IsControl(r) {
		return '\ufffd'
	}
	return r
}
