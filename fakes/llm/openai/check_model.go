package openai

import (
	"regexp"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

// fixedTemperature matches models that accept only temperature 1. Later GPT-5 models accept others at some efforts.
var fixedTemperature = regexp.MustCompile(`^(o[134]|gpt-5)($|-)`)

var withoutStop = regexp.MustCompile(`^(o[34]|gpt-5)($|-)`)

// chatModel matches models that do not reason, although they have the name of a reasoning model.
var chatModel = regexp.MustCompile(`-chat($|-)`)

// checkModel refuses what reasoning models do not accept: max_tokens, temperature, stop sequences.
func checkModel(q *request) *dialect.Error {
	if !q.style.isOpenAI || !reasoning(q.model) || chatModel.MatchString(q.model) {
		return nil
	}
	switch {
	case q.maxTokens != nil:
		return invalid("max_tokens", "unsupported_parameter",
			"max_tokens is set, which the model %s does not take: want max_completion_tokens", q.model)
	case dialect.Outside(q.temperature, 1, 1) && fixedTemperature.MatchString(q.model):
		return invalid("temperature", "unsupported_value", "temperature is %v: the model %s takes only 1, the default",
			*q.temperature, q.model)
	case len(q.stop) > 0 && withoutStop.MatchString(q.model):
		return invalid("stop", "unsupported_parameter", "stop is set, which the model %s does not take", q.model)
	}
	return nil
}

// checkModel is the same rule for Responses.
func (q *responsesRequest) checkModel() *dialect.Error {
	if dialect.Outside(q.temperature, 1, 1) && fixedTemperature.MatchString(q.model) && !chatModel.MatchString(q.model) {
		return invalid("temperature", "", "temperature is %v, which the model %s does not take", *q.temperature, q.model)
	}
	return nil
}
