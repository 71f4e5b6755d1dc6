package schema

import (
	"slices"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// violation is one leaf of what the validator reports: a value, and a keyword that it breaks.
type violation struct {
	at     location
	value  any
	kind   jsonschema.ErrorKind
	causes []*jsonschema.ValidationError // of an anyOf, one for each branch
}

// explain picks the violation to report from all that the validator found.
func explain(message any, found *jsonschema.ValidationError) *Error {
	return explainer{message}.first(explainer{message}.leaves(found))
}

type explainer struct{ message any }

// leaves takes apart what only groups: references, allOf. An anyOf is a leaf, for its branches are alternatives.
func (x explainer) leaves(e *jsonschema.ValidationError) []violation {
	_, choice := e.ErrorKind.(*kind.AnyOf)
	if !choice && len(e.Causes) > 0 {
		var all []violation
		for _, cause := range e.Causes {
			all = append(all, x.leaves(cause)...)
		}
		return all
	}
	at, value := locate(x.message, e.InstanceLocation)
	return []violation{{at, value, e.ErrorKind, e.Causes}}
}

// first explains the violation that comes first by location.
func (x explainer) first(violations []violation) *Error {
	v := slices.MinFunc(violations, func(a, b violation) int { return a.at.compare(b.at) })
	if _, choice := v.kind.(*kind.AnyOf); choice {
		return x.choice(v)
	}
	return &Error{v.at.String(), describe(v)}
}

// branch is what is wrong with a value when it is taken for one of several things.
type branch []violation

// choice explains why a value is none of several things: it is judged as that which it says it is, by its type.
func (x explainer) choice(v violation) *Error {
	branches := x.branches(v)
	meant := slices.DeleteFunc(slices.Clone(branches), func(b branch) bool { return b.typeError(v) != nil })
	if len(meant) == 0 {
		return &Error{v.at.String(), wantTypes(v, branches)}
	}
	told := slices.DeleteFunc(slices.Clone(meant), func(b branch) bool { return b.otherTag(v) != nil })
	if len(told) == 0 {
		tag := meant[0].otherTag(v)
		return &Error{tag.at.String(), wantTags(v, tag.value, meant)}
	}
	for _, b := range told {
		if b.missing(v) == nil {
			return x.first(b)
		}
	}
	return &Error{v.at.String(), wantProperties(v, told)}
}

// branches lists the alternatives; those of an alternative that is itself a choice about the same value are among them.
func (x explainer) branches(v violation) []branch {
	var all []branch
	for _, cause := range v.causes {
		b := branch(x.leaves(cause))
		if _, nested := b[0].kind.(*kind.AnyOf); nested && len(b) == 1 && len(b[0].at) == len(v.at) {
			all = append(all, x.branches(b[0])...)
		} else {
			all = append(all, b)
		}
	}
	return all
}

// typeError returns the violation that rules the branch out: the value is an array, and should be an object.
func (b branch) typeError(v violation) *kind.Type {
	for _, w := range b {
		if k, ok := w.kind.(*kind.Type); ok && len(w.at) == len(v.at) {
			return k
		}
	}
	return nil
}

// tags are the properties by which the protocol tells apart what may stand in one place.
var tags = []string{"type", "method", "mode"}

// otherTag returns the violation that rules the branch out: the value says that it is something else.
func (b branch) otherTag(v violation) *violation {
	for i, w := range b {
		if len(w.at) != len(v.at)+1 || !slices.Contains(tags, w.at[len(v.at)].name) {
			continue
		}
		switch w.kind.(type) {
		case *kind.Const, *kind.Enum:
			return &b[i]
		}
	}
	return nil
}

// missing returns the properties that the value would have to have.
func (b branch) missing(v violation) []string {
	var names []string
	for _, w := range b {
		if k, ok := w.kind.(*kind.Required); ok && len(w.at) == len(v.at) {
			names = append(names, k.Missing...)
		}
	}
	return names
}
