package check

// Or returns the verdict, or the other one if it is nil.
func (v *Verdict) Or(other Verdict) Verdict {
	if v != nil {
		return *v
	}
	return other
}

// Instead returns the verdict of a precondition that does not hold.
func Instead(v Verdict) *Verdict { return &v }
