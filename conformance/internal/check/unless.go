package check

// Unless returns nil if ok is true, and otherwise the verdict, as a [Need] does.
func Unless(ok bool, v Verdict) *Verdict {
	if ok {
		return nil
	}
	return &v
}
