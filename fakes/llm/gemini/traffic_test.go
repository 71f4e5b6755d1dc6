package gemini

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/llm/internal/codectest"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
	"github.com/mcp-conform/mcp-conform/internal/sharedtest"
)

// deviations are known differences from recordings: members that only one side has, the prefix of the recordings'
// names, and the reason.
var deviations = []struct{ member, in, why string }{
	{"usageMetadata.trafficType", "ai__", "Vertex AI's: by which contract a project pays"},
	{"createTime", "ai__", "Vertex AI's"},
	{"usageMetadata.candidatesTokensDetails", "ai__", "Vertex AI's"},
	{"candidates.index", "ai__", "Vertex AI leaves out an index of 0"},
	{"usageMetadata.promptTokenCount", "ai__", "Vertex AI counts in the last chunk only"},
	{"usageMetadata.candidatesTokenCount", "ai__", "Vertex AI counts in the last chunk only"},
	{"usageMetadata.totalTokenCount", "ai__", "Vertex AI counts in the last chunk only"},
	{"usageMetadata.promptTokensDetails", "ai__", "Vertex AI counts in the last chunk only"},
	{"usageMetadata.thoughtsTokenCount", "", "how much a model thinks is its own affair"},
	{"candidates.content.parts.functionCall.id", "ai__", "the third generation has no ids on Vertex AI"},
	{"candidates.content.parts.functionCall.id", "llm-gemini__",
		"the third generation had no ids in its streams at first"},
	{"candidates.content.parts.functionCall.willContinue", "ai__",
		"arguments come in pieces on Vertex AI only, and where streamFunctionCallArguments asks for it"},
	{"candidates.content.parts.functionCall.args", "ai__", "ours are whole, for the same reason"},
}

// alike returns both lists of members without known differences.
func alike(name string, theirs, ours []string, needed map[string]bool) (want, got []string) {
	may := func(own, other []string) []string {
		return slices.DeleteFunc(slices.Clone(own), func(member string) bool {
			for _, d := range deviations {
				if strings.HasPrefix(name, d.in) && (member == d.member || strings.HasPrefix(member, d.member+".")) {
					if !slices.Contains(other, member) {
						needed[d.member+d.in] = true
					}
					return true
				}
			}
			return false
		})
	}
	return may(theirs, ours), may(ours, theirs)
}

// events are chunks as the API sends them.
func events(chunks []string) string {
	var out strings.Builder
	for _, chunk := range chunks {
		out.WriteString("data: " + chunk + "\r\n\r\n")
	}
	return out.String()
}

func TestCodecImitatesRecordedTraffic(t *testing.T) {
	all := sharedtest.Needed(t, "gemini")
	needed := map[string]bool{}
	for _, r := range all {
		t.Run(r.Name, func(t *testing.T) {
			to := pro + streamGenerate + "?alt=sse"
			req := decode(t, to, body(user, ""))
			if r.URL != "" {
				u, err := url.Parse(r.URL)
				require.NoError(t, err)
				to = u.RequestURI()
				req = decode(t, to, r.Request)
				require.Nil(t, GenerateContent.Check(req), "the key aside, which the recorders took out")
			}
			if r.Status != 200 {
				ours := GenerateContent.EncodeError(imitated(t, r))
				require.Equal(t, r.Status, ours.Status)
				require.Equal(t, keys(t, r.Answer), keys(t, string(join(ours))))
				return
			}
			// Our codec must imitate the recorded answers.
			if r.IsChunks() {
				r.Answer = events(strings.Split(r.Answer, "\n"))
			}
			theirs := shape(t, r.Answer)
			if strings.Contains(r.Answer, "willContinue") {
				_, err := GenerateContent.DecodeReply([]byte(r.Answer))
				require.ErrorContains(t, err, "pieces")
			} else {
				codectest.Reads(t, GenerateContent, r.Answer, theirs.reply())
			}
			ours := shape(t, string(join(GenerateContent.Encode(req, theirs.reply()))))
			require.Equal(t, theirs.kinds, ours.kinds)
			for kind, members := range theirs.members {
				want, got := alike(r.Name, members, ours.members[kind], needed)
				require.Equal(t, want, got, kind)
			}
			require.Equal(t, theirs.framing, ours.framing)
			require.Equal(t, theirs.text, ours.text)
			for i, call := range theirs.calls {
				if call.ID == "" {
					ours.calls[i].ID = ""
				}
				if call.Args == nil { // on Vertex AI, where arguments come in pieces
					ours.calls[i].Args = nil
				}
			}
			require.Equal(t, theirs.calls, ours.calls)
			require.Equal(t, theirs.finish, ours.finish)
			require.Equal(t, theirs.message, ours.message)
		})
	}
	for _, d := range deviations {
		require.True(t, needed[d.member+d.in], "no recording deviates in %s %s", d.in, d.member)
	}
}

// imitated returns the error of a recording as a script would have it.
func imitated(t *testing.T, r sharedtest.Exchange) *dialect.Error {
	t.Helper()
	e := &dialect.Error{Status: r.Status, Message: "m"}
	if strings.Contains(r.Answer, "API_KEY_INVALID") {
		e.Code = "API_KEY_INVALID"
	}
	return e
}

// shaped is the structure of an answer.
type shaped struct {
	framing         []string            // between its chunks
	kinds           []string            // of its chunks; repeats count once
	members         map[string][]string // by kind: every member's path
	text            string
	finish, message string
	calls           []wireCall
	signatures      []string
	thoughts        string
	model           string
	partial         string // arguments in pieces; these recordings have one string each
}

// reply returns the scripted reply with the same content.
func (s *shaped) reply() *dialect.Reply {
	reply := &dialect.Reply{Model: s.model}
	if s.thoughts != "" {
		reply.Content = append(reply.Content, dialect.Block{Type: dialect.Thinking, Text: s.thoughts})
	}
	if s.text != "" {
		b := says(s.text)
		if len(s.calls) == 0 {
			b.Signature = strings.Join(s.signatures, "")
		}
		reply.Content = append(reply.Content, b)
	}
	for i, call := range s.calls {
		b := asks(call.Name, string(call.Args))
		b.Signature, b.ID = s.signatures[i], call.ID
		reply.Content = append(reply.Content, b)
	}
	return reply
}

func shape(t *testing.T, text string) *shaped {
	t.Helper()
	s := &shaped{members: map[string][]string{}}
	var responses []string
	switch {
	case strings.HasPrefix(text, "data:"):
		s.framing = []string{"data: ", "\r\n\r\n"}
		for _, event := range strings.Split(strings.TrimSuffix(text, "\r\n\r\n"), "\r\n\r\n") {
			data, isData := strings.CutPrefix(event, "data: ")
			require.True(t, isData && !strings.ContainsAny(data, "\r\n"), "%q", event)
			responses = append(responses, data)
		}
	case strings.HasPrefix(text, "["):
		rest, closed := strings.CutSuffix(strings.TrimPrefix(text, "["), "\n]")
		require.True(t, closed)
		responses = strings.Split(rest, "\n,\r\n")
		s.framing = []string{"[", "\n,\r\n", "\n]"}
	default:
		require.True(t, strings.HasSuffix(text, "}\n"))
		responses = []string{text}
		s.framing = []string{"\n"}
	}
	for _, r := range responses {
		s.add(t, r)
	}
	return s
}

func (s *shaped) add(t *testing.T, data string) {
	t.Helper()
	var r generateResponse
	require.NoError(t, json.Unmarshal([]byte(data), &r), data)
	s.model = r.ModelVersion
	require.Len(t, r.Candidates, 1)
	c := r.Candidates[0]
	kind := ""
	for _, p := range c.Content.Parts {
		switch {
		case p.FunctionCall != nil && p.FunctionCall.Name != "":
			kind += "call "
			if p.FunctionCall.Args != nil {
				p.FunctionCall.Args = jsonvalue.Marshal(p.FunctionCall.Args)
			}
			s.calls, s.signatures = append(s.calls, *p.FunctionCall), append(s.signatures, p.ThoughtSignature)
		case p.FunctionCall != nil:
			s.piece(t, data)
			return // a further piece of a call; our calls are complete
		case p.Thought:
			kind += "thought "
			s.thoughts += *p.Text
		case *p.Text == "":
			kind += "empty text "
		default:
			kind += "text "
			s.text += *p.Text
			if p.ThoughtSignature != "" {
				s.signatures = append(s.signatures, p.ThoughtSignature)
			}
		}
	}
	if c.FinishReason != "" {
		kind += "finish"
		s.finish, s.message = c.FinishReason, c.FinishMessage
	}
	if kind == "" || len(s.kinds) == 0 || s.kinds[len(s.kinds)-1] != kind {
		s.kinds = append(s.kinds, kind)
	}
	s.members[kind] = keys(t, data)
}

// piece adds a piece of the last call's arguments.
func (s *shaped) piece(t *testing.T, data string) {
	t.Helper()
	var r struct {
		Candidates []struct {
			FinishReason string
			Content      struct {
				Parts []struct {
					FunctionCall struct {
						PartialArgs []struct{ JSONPath, StringValue string }
					}
				}
			}
		}
	}
	require.NoError(t, json.Unmarshal([]byte(data), &r))
	for _, p := range r.Candidates[0].Content.Parts[0].FunctionCall.PartialArgs {
		s.partial += p.StringValue
		s.calls[len(s.calls)-1].Args = jsonvalue.Marshal(map[string]string{strings.TrimPrefix(p.JSONPath, "$."): s.partial})
	}
	if r.Candidates[0].Content.Parts[0].FunctionCall.PartialArgs == nil {
		s.partial = ""
	}
	if r.Candidates[0].FinishReason != "" {
		s.finish = r.Candidates[0].FinishReason
		s.kinds = append(s.kinds, "empty text finish") // ours replaces the last piece
	}
}

// keys returns the path of every member, except inside the arguments of a call.
func keys(t *testing.T, text string) []string {
	t.Helper()
	return codectest.Members(t, text, ".args", func(path string, _ any) []string { return []string{path} })
}
