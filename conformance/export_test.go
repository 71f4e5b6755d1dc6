package conformance

// MakeHostile has the case basic/question played as one that may crash a client.
func MakeHostile() { basic.Cases[0].Hostile = true }
