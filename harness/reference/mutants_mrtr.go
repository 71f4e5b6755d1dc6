package reference

import (
	"maps"
	"slices"
	"strings"
)

// mrtrMutants are broken where the server asks for input in a result.
var mrtrMutants = []Mutant{
	inRounds("one-input-at-most", "hands a result that asks for two things to its caller", roundFaults{oneAtMost: true}, []string{"mrtr/retried"}),
	inRounds("forgets-a-key", "answers all input requests of a result but one", roundFaults{retry: onResponses(func(responses map[string]any) {
		if len(responses) > 1 {
			delete(responses, slices.Max(slices.Collect(maps.Keys(responses))))
		}
	})}, []string{"mrtr/every-key"}, "consent/burst", "consent/declined-mrtr", "loop/concurrent"),
	inRounds("samples-only", "leaves out of a retry what is no sample", roundFaults{retry: func(s *said) {
		for key, asked := range s.result.InputRequests {
			if asked.Method != "sampling/createMessage" {
				delete(s.retry["inputResponses"].(map[string]any), key)
			}
		}
	}}, []string{"mrtr/every-key"}),
	inRounds("wraps-answers", "wraps each answer as if it were a JSON-RPC response, where there are several", roundFaults{retry: onResponses(func(responses map[string]any) {
		for key, answer := range responses {
			if len(responses) > 1 {
				responses[key] = map[string]any{"result": answer}
			}
		}
	})}, []string{"mrtr/answers-valid"}),
	inRounds("forgets-the-state", "leaves the state out of every retry but the first", roundFaults{retry: func(s *said) {
		if s.rounds > 0 {
			delete(s.retry, "requestState")
		}
	}}, []string{"mrtr/state-echoed", "mrtr/rounds"}, "mrtr/endless", "basic/include-context"),
	inRounds("ascii-state", "puts question marks in the place of what is not ASCII in a state", roundFaults{retry: onState(func(state string) string {
		return strings.Map(func(r rune) rune {
			if r > 0x7e {
				return '?'
			}
			return r
		}, state)
	})}, []string{"mrtr/state-echoed"}),
	inRounds("trims-the-state", "trims a state, as if it were a word", roundFaults{retry: onState(func(state string) string {
		return strings.Join(strings.Fields(state), " ")
	})}, []string{"mrtr/state-echoed"}),
	inRounds("short-state", "keeps the first 4,096 bytes of a state", roundFaults{retry: onState(func(state string) string {
		return state[:min(len(state), 4096)]
	})}, []string{"mrtr/state-echoed"}),
	inRounds("first-state-for-all", "sends the first state of a call in all of its retries", roundFaults{retry: func(s *said) {
		if s.states[0] != nil && s.retry["requestState"] != nil {
			s.retry["requestState"] = *s.states[0]
		}
	}}, []string{"mrtr/state-echoed", "mrtr/rounds"}, "mrtr/endless", "basic/include-context"),
	inRounds("omits-empty-state", "leaves a state out that is empty", roundFaults{retry: func(s *said) {
		if s.retry["requestState"] == "" {
			delete(s.retry, "requestState")
		}
	}}, []string{"mrtr/state-empty"}),
	inRounds("empty-for-no-state", "sends an empty state where none came", roundFaults{retry: func(s *said) {
		if s.retry["requestState"] == nil {
			s.retry["requestState"] = ""
		}
	}}, []string{"mrtr/no-state-invented"}),
	inRounds("null-for-no-state", "sends null where no state came", roundFaults{retry: func(s *said) {
		if s.retry["requestState"] == nil {
			s.retry["requestState"] = nil
		}
	}}, []string{"mrtr/no-state-invented"}),
	inRounds("keeps-the-state", "sends the state of an earlier round where none came", roundFaults{retry: func(s *said) {
		if latest := s.latest(); s.retry["requestState"] == nil && latest != nil {
			s.retry["requestState"] = *latest
		}
	}}, []string{"mrtr/no-state-invented"}),
	inRounds("reuses-the-id", "sends a retry under the id of the call", roundFaults{reusesID: true}, []string{"mrtr/new-id"}, "mrtr/prompts-and-resources"),
	inRounds("other-arguments", "sends a retry with other arguments than the call", roundFaults{retry: func(s *said) {
		if s.retry["arguments"] != nil {
			s.retry["arguments"] = map[string]any{"again": true}
		}
	}}, []string{"mrtr/same-params"}),
	inRounds("retries-twice", "makes each retry twice", roundFaults{retriesTwice: true}, []string{"mrtr/retries-once"}),
	inRounds("three-rounds", "gives up on a call after three rounds", roundFaults{stopsAfter: 4}, []string{"mrtr/rounds"}, "mrtr/endless", "basic/include-context"),
	inRounds("never-gives-up", "makes a request again as often as it is asked to", roundFaults{neverGivesUp: true}, []string{"mrtr/endless"}),
	inRounds("not-without-input", "makes no retry where only a state came", roundFaults{needsInput: true}, []string{"mrtr/state-only"}),
	inRounds("leaks-between-rounds", "puts input and state of a call into another request", roundFaults{leaks: true}, []string{"mrtr/isolation"}),
	inRounds("tools-alone", "takes the results of prompts/get as they are", roundFaults{ignores: []string{"prompts/get"}}, []string{"mrtr/prompts-and-resources"}),
	inRounds("resources-as-they-are", "takes the results of resources/read as they are", roundFaults{ignores: []string{"resources/read"}}, []string{"mrtr/prompts-and-resources"}),
	inRounds("looks-for-input", "takes a result without a type for one that asks for input where it has input requests", roundFaults{takesUntyped: true}, []string{"mrtr/missing-result-type"}),
	inRounds("wants-a-type", "refuses a result without a type", roundFaults{refusesUntyped: true}, []string{"mrtr/missing-result-type"}),
	inRounds("takes-any-type", "takes a result of an unknown type to be complete", roundFaults{takesUnknown: true}, []string{"mrtr/unknown-result-type"}),
	inRounds("fulfils-any-type", "takes a result of an unknown type for one that asks for input where it has input requests", roundFaults{fulfilsUnknown: true},
		[]string{"mrtr/unknown-result-type"}),
	inRounds("answers-direct-requests", "answers a sampling request that comes as a request", roundFaults{answersDirect: true},
		[]string{"mrtr/direct-request-unanswered", "mrtr/no-responses"}),
	inRounds("answers-pings", "answers a ping, which this era does not have", roundFaults{answersPing: true}, []string{"mrtr/no-responses"}),
	inRounds("gives-roots-to-all", "answers input requests that it did not declare", roundFaults{fulfilsUndeclared: true}, []string{"mrtr/undeclared-input"}),
	inRounds("dies-of-null-input", "panics at an input request that is null", roundFaults{panicsOnNull: true}, []string{"mrtr/bad-input"}, "client/ends-cleanly"),
	inRounds("fractions-for-ids", "sends its requests for lists with the id 1.5", roundFaults{fractions: true}, []string{"mrtr/request-ids"}),
}

// inRounds is a mutant of the second era whose fault is on the wire to the server.
func inRounds(name, doc string, broken roundFaults, kills []string, also ...string) Mutant {
	return Mutant{Name: name, Doc: doc, Kills: kills, Also: also, Wire: true, Era: "modern", broken: faults{rounds: broken}}
}

// onResponses edits the input of a retry.
func onResponses(edit func(map[string]any)) func(*said) {
	return func(s *said) {
		if responses, ok := s.retry["inputResponses"].(map[string]any); ok {
			edit(responses)
		}
	}
}

// onState edits the state of a retry, where there is one.
func onState(edit func(string) string) func(*said) {
	return func(s *said) {
		if state, ok := s.retry["requestState"].(string); ok {
			s.retry["requestState"] = edit(state)
		}
	}
}
