package compare

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/harness/report"
)

// heads are the kinds as reports show them, in this order.
var heads = []struct {
	kind Kind
	head string
}{{Worse, "WORSE"}, {Otherwise, "OTHERWISE"}, {Better, "BETTER"}}

// Text encodes a comparison for people: what is worse first. With onlyWorse, the rest is only counted.
func Text(c *Comparison, onlyWorse bool) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "before  %s\nafter   %s\n", described(c.Before), described(c.After))
	for _, h := range heads {
		for i := range c.Changes {
			d := &c.Changes[i]
			if d.Kind != h.kind || onlyWorse && d.Kind != Worse {
				continue
			}
			fmt.Fprintf(&b, "\n%-9s  %s\n", h.head, d.title("%s   %s   %s → %s"))
			if d.Kind != Better || d.Check == "" {
				fmt.Fprintf(&b, "           %s\n", d.Message)
			}
			if d.Was != "" {
				fmt.Fprintf(&b, "           before: %s\n", d.Was)
			}
			if f := d.Differs; f != nil {
				fmt.Fprintf(&b, "           first difference: %s\n             before  %s\n             after   %s\n", f.where(),
					f.Before, f.After)
			}
		}
	}
	fmt.Fprintf(&b, "\n%s\n", c.Summary())
	return b.Bytes()
}

// Markdown encodes a comparison for a pull request.
func Markdown(c *Comparison, onlyWorse bool) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "### mcp-conform: %s\n\nbefore: %s, after: %s\n", c.Summary(), described(c.Before), described(c.After))
	for _, h := range heads {
		for i := range c.Changes {
			d := &c.Changes[i]
			if d.Kind != h.kind || onlyWorse && d.Kind != Worse {
				continue
			}
			fmt.Fprintf(&b, "\n- **%s** %s", d.Kind, d.title("`%s` (%s): %s → %s"))
			if d.Kind != Better || d.Check == "" {
				fmt.Fprintf(&b, "\n  %s", report.Escape(d.Message))
			}
			if d.Kind == Better || d.Check == "" {
				fmt.Fprintf(&b, "\n  before: %s", report.Escape(cmp.Or(d.Was, d.Message)))
			}
			if f := d.Differs; f != nil {
				fmt.Fprintf(&b, "\n  first difference: %s\n\n      before  %s\n      after   %s", report.Escape(f.where()),
					f.Before, f.After)
			}
			b.WriteByte('\n')
		}
	}
	return b.Bytes()
}

// title formats the check, the revision and both verdicts. A change of a whole revision has only its name.
func (c *Change) title(format string) string {
	if c.Check == "" {
		return c.Revision
	}
	return fmt.Sprintf(format, c.Check, c.Revision, plain(c.Before), plain(c.After))
}

func plain(v report.Verdict) string { return strings.ReplaceAll(string(v), "_", " ") }

func (d *Difference) where() string {
	if d.Path == "" {
		return fmt.Sprintf("%s (%s)", d.Message, d.Case)
	}
	return fmt.Sprintf("%s, %s (%s)", d.Message, d.Path, d.Case)
}

// Summary counts the changes.
func (c *Comparison) Summary() string {
	var parts []string
	for _, h := range heads {
		if n := c.Count(h.kind); n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, h.kind))
		}
	}
	if parts == nil {
		parts = append(parts, "nothing changed")
	}
	parts = append(parts, fmt.Sprintf("%d alike", c.Alike))
	for _, one := range []struct {
		n    int
		only string
	}{{c.OnlyBefore, "before"}, {c.OnlyAfter, "after"}} {
		if one.n > 0 {
			parts = append(parts, fmt.Sprintf("%d judged only %s", one.n, one.only))
		}
	}
	return strings.Join(parts, ", ")
}

// described names a run: its client, and the version of the program that judged it.
func described(r Run) string {
	words := slices.DeleteFunc([]string{r.Name, r.Results.Client, r.Results.Tool}, func(w string) bool { return w == "" })
	return strings.Join(words, " · ")
}
