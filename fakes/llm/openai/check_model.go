package openai

import (
	"regexp"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

// hot are the models whose temperature is 1. Later ones of GPT-5 take others beside the right effort.
var hot = regexp.MustCompile(`^(o[134]|gpt-5)($|-)`)

// stopless are the models that are known to take no stop sequences.
var stopless = regexp.MustCompile(`^(o[34]|gpt-5)($|-)`)

// chatting are the models that are called as those that reason, and do not.
var chatting = regexp.MustCompile(`-chat($|-)`)

// checkModel holds what only models refuse that reason: the old name of the limit of tokens, a temperature, stop sequences.
func checkModel(q *request) *dialect.Error {
	if !q.style.isOpenAI || !reasoning(q.model) || chatting.MatchString(q.model) {
		return nil
	}
	switch {
	case q.maxTokens != nil:
		return invalid("max_tokens", "unsupported_parameter", "max_tokens is set, which the model %s does not take: want max_completion_tokens", q.model)
	case q.temperature != nil && *q.temperature != 1 && hot.MatchString(q.model):
		return invalid("temperature", "unsupported_value", "temperature is %v: the model %s takes only 1, the default", *q.temperature, q.model)
	case len(q.stop) > 0 && stopless.MatchString(q.model):
		return invalid("stop", "unsupported_parameter", "stop is set, which the model %s does not take", q.model)
	}
	return nil
}

// checkModel is that of Chat Completions.
func (q *responsesRequest) checkModel() *dialect.Error {
	if q.temperature != nil && *q.temperature != 1 && hot.MatchString(q.model) && !chatting.MatchString(q.model) {
		return invalid("temperature", "", "temperature is %v, which the model %s does not take", *q.temperature, q.model)
	}
	return nil
}
