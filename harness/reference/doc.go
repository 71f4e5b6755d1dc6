// Package reference is a correct sampling client on a wire of its own, in both eras, small enough to be right in every detail and
// to be broken in any one. [Client] is the correct one; [Mutants] are copies that are each wrong in one way, and with which the
// checks are proven: a check that no mutant fails could not fail.
package reference
