package mutants

// Go runs f beside the client. [Wire.Context] ends when the client ends, and the run ends after f has returned.
func (w *Wire) Go(f func()) { w.work.Go(f) }
