package llm

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

// Conversation returns a request as readable lines, without ids: the system prompt, what each side says, tool uses, and
// tool results under the names of their tools. It is the same for all dialects:
//
//	system: Be brief.
//	user: Weather in Paris?
//	assistant uses get_weather {"city":"Paris"}
//	result of get_weather: 18°C
func Conversation(r *Request) []string {
	var lines []string
	say := func(who, text string) { lines = append(lines, who+": "+strings.ReplaceAll(text, "\n", "\n\t")) }
	if r.System != "" {
		say("system", r.System)
	}
	names := map[string]string{} // of tools by the id of their use
	for _, m := range r.Messages {
		for _, b := range m.Content {
			switch b.Type {
			case dialect.Text:
				say(string(m.Role), b.Text)
			case dialect.Thinking:
				say(string(m.Role)+" thinks", b.Text)
			case dialect.ToolUse:
				names[b.ID] = b.Name
				lines = append(lines, fmt.Sprintf("%s uses %s %s", m.Role, b.Name, b.Input))
			case dialect.ToolResult:
				what := "result of "
				if b.IsError {
					what = "error of "
				}
				say(what+cmp.Or(b.Name, names[b.ID]), b.PlainText())
			default:
				say(string(m.Role)+" shows "+string(b.Type), b.MimeType)
			}
		}
	}
	return lines
}

// AssertConversation fails the test if the request is not the conversation of these lines: see [Conversation]. The
// failure shows the lines that differ.
func AssertConversation(t TB, r *Request, want ...string) {
	t.Helper()
	if got := Conversation(r); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("the conversation differs (- expected, + found):\n%s", difference(want, got))
	}
}

// difference returns all lines of both texts, those of one text only with - or + before them.
func difference(a, b []string) string {
	common := make([][]int, len(a)+1) // the number of common lines after each pair of places
	for i := range common {
		common[i] = make([]int, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if common[i][j] = max(common[i+1][j], common[i][j+1]); a[i] == b[j] {
				common[i][j] = common[i+1][j+1] + 1
			}
		}
	}
	var out strings.Builder
	for i, j := 0, 0; i < len(a) || j < len(b); {
		switch {
		case i < len(a) && j < len(b) && a[i] == b[j]:
			out.WriteString("  " + a[i] + "\n")
			i, j = i+1, j+1
		case j == len(b) || i < len(a) && common[i+1][j] >= common[i][j+1]:
			out.WriteString("- " + a[i] + "\n")
			i++
		default:
			out.WriteString("+ " + b[j] + "\n")
			j++
		}
	}
	return out.String()
}
