// Package mutants holds clients that are wrong in one way each. A mutant is a correct client between whose ends and
// the network stands a man in the middle: the [Wire]. It edits the messages to and from the server and to and from the
// model, so that server and model meet a client with a bug. The few bugs that no edit can express use an option that
// every host sets: the check of a request, the handler of samples, the retry policy.
//
// A [Condition] limits an edit to some samples: only those with tools, only in later rounds, and so on.
//
// The package belongs to the self-test: every check of the catalogue must fail a mutant that was made for it.
// catalogue.txt says what each mutant does wrong, which checks must fail it, and where its bug shows. Its edit is in
// the file of the chapter. The files named wire hold the machinery, and content.go what several chapters share.
package mutants
