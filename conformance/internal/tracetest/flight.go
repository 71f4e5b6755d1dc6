package tracetest

import (
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/fakes/server"
)

// AskingForFlight returns the request of the first round.
func AskingForFlight() *server.CreateMessageParams {
	return Asking("Book a flight from Zürich to Tokyo.", story.BookFlight, story.ListAirports)
}

// Booked returns a result with a tool use of [story.BookFlight]; with [story.Booking] if no input is given.
func Booked(input ...string) string {
	return Wanting([3]string{"call_1", "book_flight", append(input, story.Booking)[0]})
}

// Uses is the first round, in which the model books a flight, answered with a result.
func Uses(result string) func(*Story) {
	return func(s *Story) {
		s.Asks(AskingForFlight()).Prompts(AskingForFlight()).UsesTool("book_flight", story.Booking).Answers(result)
	}
}

// OtherwiseAnswers appends another call, which the client answers.
func (s *Story) OtherwiseAnswers() *Story {
	return s.Calls().Asks(AskingForFlight()).Answers(Booked())
}
