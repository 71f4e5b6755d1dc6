package faults

import (
	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
	"github.com/mcp-conform/mcp-conform/internal/proof/mutants"
)

// learnConditions notes the cases in which each condition may hold.
func (l *lesson) learnConditions(facts map[string][]mutants.Facts) {
	for _, c := range mutants.Conditions() {
		l.holds[c.Name] = map[string]bool{}
		for id, all := range facts {
			for _, f := range all {
				if c.Holds(f) {
					l.holds[c.Name][id] = true
				}
			}
		}
		if len(l.holds[c.Name]) > 0 {
			l.conditions = append(l.conditions, c)
		}
	}
}

// factsIn returns the facts of all messages about samples, by case. They may be more than the wire finds: then a fault
// is played on a case in which it does not fire.
func factsIn(traces []*trace.Trace, streamed bool) map[string][]mutants.Facts {
	found := map[string][]mutants.Facts{}
	for _, t := range traces {
		of := map[string]*sampled{}
		for i := range t.Events {
			e := &t.Events[i]
			if of[e.Case] == nil {
				of[e.Case] = &sampled{open: map[string]bool{}}
			}
			for _, f := range of[e.Case].facts(e) {
				f.Streamed = f.Streamed || streamed
				found[e.Case] = append(found[e.Case], f)
			}
		}
	}
	return found
}

// sampled is what is known of a case so far.
type sampled struct {
	open    map[string]bool // sampling requests without a response, by id
	retries bool
	latest  mutants.Facts
}

// facts are those of one event.
func (s *sampled) facts(e *trace.Event) []mutants.Facts {
	switch {
	case e.Request != nil:
		r, err := llm.Decode(e.Request.Dialect, e.Request.Path, e.Request.Body)
		if err != nil {
			return nil
		}
		f := mutants.ModelFacts(r)
		f.Parallel, f.Retry = f.Parallel || len(s.open) > 1, f.Retry || s.retries
		return []mutants.Facts{f}
	case e.End != nil && e.End.Status != 200:
		s.retries = true
	case e.Frame != nil:
		if o, err := jsonvalue.ReadObject(e.Frame.Raw); err == nil {
			return s.frame(o, e.Frame.Dir == trace.FromClient)
		}
	}
	return nil
}

// frame returns the facts of a message on the wire to the server.
func (s *sampled) frame(o object, fromClient bool) []mutants.Facts {
	params, _ := o["params"].(object)
	result, _ := o["result"].(object)
	id := string(jsonvalue.Marshal(o["id"]))
	switch {
	case !fromClient && o["method"] == "sampling/createMessage":
		s.open[id] = true
		return s.asked(params)
	case !fromClient:
		var all []mutants.Facts
		requests, _ := result["inputRequests"].(object)
		clear(s.open)
		for key := range requests {
			s.open[key] = true
		}
		for _, item := range requests {
			if request, _ := item.(object); request["method"] == "sampling/createMessage" {
				params, _ := request["params"].(object)
				all = append(all, s.asked(params)...)
			}
		}
		return all
	case params["inputResponses"] != nil:
		s.retries = true
		f := s.latest
		f.Retry = true
		responses, _ := params["inputResponses"].(object)
		for _, item := range responses {
			result, _ := item.(object)
			f.Parallel = f.Parallel || len(jsonvalue.OfType(result["content"], "tool_use")) > 1
		}
		return []mutants.Facts{f}
	case s.open[id]:
		delete(s.open, id)
		f := s.latest
		f.Errors = f.Errors || o["error"] != nil
		f.Parallel = f.Parallel || len(jsonvalue.OfType(result["content"], "tool_use")) > 1
		return []mutants.Facts{f}
	}
	return nil
}

// asked returns the facts of a sampling request.
func (s *sampled) asked(params object) []mutants.Facts {
	s.latest = mutants.SampleFacts(params)
	s.latest.Parallel, s.latest.Retry = s.latest.Parallel || len(s.open) > 1, s.retries
	return []mutants.Facts{s.latest}
}
