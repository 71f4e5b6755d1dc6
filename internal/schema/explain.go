package schema

import (
	"slices"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// violation is a leaf of the validator's report: a value, and the keyword that it violates.
type violation struct {
	at     location
	value  any
	kind   jsonschema.ErrorKind
	causes []*jsonschema.ValidationError // of an anyOf, one for each branch
}

func explain(message any, found *jsonschema.ValidationError) *Error {
	return explainer{message}.first(explainer{message}.leaves(found))
}

type explainer struct{ message any }

// leaves flattens groups such as references and allOf. An anyOf is a leaf, because its branches are alternatives.
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

func (x explainer) first(violations []violation) *Error {
	v := slices.MinFunc(violations, func(a, b violation) int { return a.at.compare(b.at) })
	if _, choice := v.kind.(*kind.AnyOf); choice {
		return x.choice(v)
	}
	_, required := v.kind.(*kind.Required)
	return &Error{v.at.String(), describe(v), required}
}

// branch has the violations of a value as one of several alternatives.
type branch []violation

// choice explains why a value is none of several alternatives. It judges the value as the alternative of its tag.
func (x explainer) choice(v violation) *Error {
	branches := x.branches(v)
	typed := slices.DeleteFunc(slices.Clone(branches), func(b branch) bool { return b.typeError(v) != nil })
	if len(typed) == 0 {
		return &Error{v.at.String(), wantTypes(v, branches), false}
	}
	tagged := slices.DeleteFunc(slices.Clone(typed), func(b branch) bool { return b.otherTag(v) != nil })
	if len(tagged) == 0 {
		tag := typed[0].otherTag(v)
		return &Error{tag.at.String(), wantTags(v, tag.value, typed), false}
	}
	for _, b := range tagged {
		if b.missing(v) == nil {
			return x.first(b)
		}
	}
	return &Error{v.at.String(), wantProperties(v, tagged), true}
}

// branches returns the alternatives, including those of a nested choice about the same value.
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

// typeError returns the violation that excludes the branch because the value has another type.
func (b branch) typeError(v violation) *kind.Type {
	for _, w := range b {
		if k, ok := w.kind.(*kind.Type); ok && len(w.at) == len(v.at) {
			return k
		}
	}
	return nil
}

// tags are the properties by which the protocol distinguishes alternatives.
var tags = []string{"type", "method", "mode"}

// otherTag returns the violation that excludes the branch because the value has another tag.
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

// missing returns the required properties that the value does not have.
func (b branch) missing(v violation) []string {
	var names []string
	for _, w := range b {
		if k, ok := w.kind.(*kind.Required); ok && len(w.at) == len(v.at) {
			names = append(names, k.Missing...)
		}
	}
	return names
}
