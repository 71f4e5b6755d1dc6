package evidence

import (
	"math"
	"slices"
	"strings"
)

// Setting is a parameter of a sampling request that a client may leave out of its requests to the model.
type Setting string

// The settings, by their names in the params.
const (
	SystemPrompt  Setting = "systemPrompt"
	Temperature   Setting = "temperature"
	StopSequences Setting = "stopSequences"
)

var settings = []Setting{SystemPrompt, Temperature, StopSequences}

// rounding is more than what a number of 32 bits loses.
const rounding = 1e-6

// PlainTemperature reports whether every provider takes the temperature, or none is given.
func PlainTemperature(t *float64) bool { return t == nil || *t <= 1 }

// PlainStops reports whether every provider takes the stop sequences: few, and none of them blank.
func PlainStops(stops []string) bool {
	const most = 4
	return len(stops) <= most &&
		!slices.ContainsFunc(stops, func(stop string) bool { return strings.TrimSpace(stop) == "" })
}

// passes reports whether the round asks for the setting, with a value that every provider takes, and whether the
// request to the model has it. One that the client replaced by another value does not count.
func (r *Round) passes(setting Setting, x *Exchange) (asked, passed bool) {
	if x.Request == nil {
		return false, false
	}
	switch setting {
	case SystemPrompt:
		return passesSystem(r.Params.System, x)
	case Temperature:
		return passesWarmth(r.Params.Temperature, x.Request.Temperature)
	}
	return passesStops(r.Params.StopSequences, x.Request.StopSequences)
}

func passesSystem(sent string, x *Exchange) (asked, passed bool) {
	if strings.TrimSpace(sent) == "" {
		return false, false
	}
	passed = strings.Contains(x.Request.System, sent) || x.Says(sent)
	return passed || strings.TrimSpace(x.Request.System) == "", passed
}

func passesWarmth(sent, given *float64) (asked, passed bool) {
	if sent == nil || !PlainTemperature(sent) {
		return false, false
	}
	passed = given != nil && math.Abs(*given-*sent) < rounding
	return passed || given == nil, passed
}

func passesStops(sent, given []string) (asked, passed bool) {
	if len(sent) == 0 || !PlainStops(sent) {
		return false, false
	}
	return true, !slices.ContainsFunc(sent, func(stop string) bool { return !slices.Contains(given, stop) })
}

// omission is a setting that the client left out of a request to a model.
type omission struct {
	setting Setting
	model   string
	from    string
}

// noteSettings notes which settings the client passes on to a model in some requests of the run only.
func noteSettings(sessions []*Session) {
	passed := map[Setting][]string{}
	var omitted []omission
	for _, s := range sessions {
		for _, c := range s.Trace.Header.Cases {
			for _, ev := range s.Calls[c.ID] {
				for _, r := range ev.Rounds {
					omitted = append(omitted, r.omissions(ev, passed)...)
				}
			}
		}
	}
	partly := map[Setting]string{}
	for _, o := range omitted {
		if partly[o.setting] == "" && slices.Contains(passed[o.setting], o.model) {
			partly[o.setting] = o.from
		}
	}
	for _, s := range sessions {
		s.OmittedFrom = partly
	}
}

// omissions returns the settings that the round's requests to the model lack, and adds those that they have to passed.
func (r *Round) omissions(ev *Case, passed map[Setting][]string) []omission {
	if r.Hostile || r.Params == nil || !ev.Alone(r) {
		return nil
	}
	var omitted []omission
	for _, x := range r.Model {
		for _, setting := range settings {
			switch asked, yes := r.passes(setting, x); {
			case yes:
				passed[setting] = append(passed[setting], x.Request.Model)
			case asked:
				omitted = append(omitted, omission{setting, x.Request.Model, r.shape()})
			}
		}
	}
	return omitted
}

// shape is what sets the request of a round apart from a plain question.
func (r *Round) shape() string {
	switch history := len(r.Params.Messages) > 1; {
	case history && len(r.Params.Tools) > 0:
		return "a request with tools and a history"
	case history:
		return "a request with a history"
	case len(r.Params.Tools) > 0:
		return "a request with tools"
	}
	return "another request"
}
