package evidence

// isNone reports whether nothing of an answer is in the place of one: it has the shape of an error, or of another method's result, or is empty.
func IsNoAnswer(a *Answer) bool { return a.Member("content") == nil && a.Member("role") == nil }

// noneText names what is in the place of an answer and is none.
func NoAnswerText(a *Answer) string {
	if isError(a) {
		return "an error"
	}
	return "what is no answer"
}
