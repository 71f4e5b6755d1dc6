package yamlfile

import (
	"cmp"
	"encoding"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/mcp-conform/mcp-conform/internal/words"
)

// Members are the members of a mapping in the order of the file.
type Members []Member

// Member is a member of a mapping. Its value is a text as it is written, a bool, nil, a []any of such, or Members.
type Member struct {
	Name  string
	Value any
}

// Our words for kinds of values.
const (
	aText, aList, aMapping  = "a text", "a list", "a mapping"
	aWhole, aNumber, aTruth = "a whole number", "a number", "true or false"
	nothing                 = "nothing"
)

func kindOf(n *yaml.Node) string {
	switch n.Kind {
	case yaml.SequenceNode:
		return aList
	case yaml.MappingNode:
		return aMapping
	}
	switch n.ShortTag() {
	case "!!int":
		return aWhole
	case "!!float":
		return aNumber
	case "!!bool":
		return aTruth
	case "!!null":
		return nothing
	}
	return aText
}

// resolved follows an alias.
func resolved(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

type member struct{ name, value *yaml.Node }

// membersOf returns the members of a mapping, and after them those that it merges with <<.
func membersOf(n *yaml.Node) []member {
	var own, merged []member
	add := func(from *yaml.Node) {
		for _, m := range membersOf(from) {
			if !slices.ContainsFunc(append(own, merged...), func(o member) bool { return o.name.Value == m.name.Value }) {
				merged = append(merged, m)
			}
		}
	}
	if n.Kind != yaml.MappingNode {
		return nil
	}
	var merges []*yaml.Node
	for i := 0; i < len(n.Content); i += 2 {
		if name, value := n.Content[i], resolved(n.Content[i+1]); name.ShortTag() == "!!merge" {
			merges = append(merges, value)
		} else {
			own = append(own, member{resolved(name), n.Content[i+1]})
		}
	}
	for _, value := range merges {
		if value.Kind == yaml.SequenceNode {
			for _, one := range value.Content {
				add(resolved(one))
			}
			continue
		}
		add(value)
	}
	return append(own, merged...)
}

// decoder decodes a document into a value of the type root.
type decoder struct{ root reflect.Type }

func (d *decoder) value(n *yaml.Node, v reflect.Value) error {
	n = resolved(n)
	if kindOf(n) == nothing {
		return nil
	}
	if v.Kind() == reflect.Pointer {
		v.Set(reflect.New(v.Type().Elem()))
		return d.value(n, v.Elem())
	}
	into := v.Addr().Interface()
	if free, ok := into.(*any); ok {
		*free = plain(n)
		return nil
	}
	want := kindOfType(v.Type())
	text, isText := into.(encoding.TextUnmarshaler)
	if isText {
		want = aText
	}
	if is := n.Kind == yaml.ScalarNode; kindOf(n) != want && (!is || want == aList || want == aMapping || want == aTruth) {
		return at(n, "expected %s, found %s", want, kindOf(n))
	}
	if isText {
		return orAt(n, text.UnmarshalText([]byte(n.Value)))
	}
	switch v.Kind() {
	case reflect.Struct:
		return d.members(n, v)
	case reflect.Map:
		return d.entries(n, v)
	case reflect.Slice:
		return d.items(n, v)
	}
	return scalar(n, v)
}

// orAt gives an error a place.
func orAt(n *yaml.Node, err error) error {
	if err != nil {
		err = at(n, "%w", err)
	}
	return err
}

func (d *decoder) items(n *yaml.Node, v reflect.Value) error {
	if members, ok := v.Addr().Interface().(*Members); ok {
		*members = asWritten(n).(Members)
		return nil
	}
	v.Set(reflect.MakeSlice(v.Type(), len(n.Content), len(n.Content)))
	for i, item := range n.Content {
		if err := d.value(item, v.Index(i)); err != nil {
			return err
		}
	}
	return nil
}

func (d *decoder) entries(n *yaml.Node, v reflect.Value) error {
	v.Set(reflect.MakeMap(v.Type()))
	for _, m := range membersOf(n) {
		value := reflect.New(v.Type().Elem()).Elem()
		if err := d.value(m.value, value); err != nil {
			return err
		}
		v.SetMapIndex(reflect.ValueOf(m.name.Value), value)
	}
	return nil
}

func (d *decoder) members(n *yaml.Node, v reflect.Value) error {
	for _, m := range membersOf(n) {
		field := slices.IndexFunc(reflect.VisibleFields(v.Type()), func(f reflect.StructField) bool {
			return nameOf(f) == m.name.Value && f.IsExported()
		})
		if field < 0 {
			return d.unknown(m.name)
		}
		if err := d.value(m.value, v.Field(field)); err != nil {
			return err
		}
	}
	return nil
}

// unknown is the error of a member that its mapping does not have.
func (d *decoder) unknown(name *yaml.Node) error {
	known, owners := membersOfType(d.root, "", nil, nil)
	if i := slices.Index(known, name.Value); i >= 0 {
		return at(name, "unknown field %q here: it belongs to %s", name.Value, owners[i])
	}
	if near := words.DidYouMean(name.Value, known); near != "" {
		return at(name, "unknown field %q; %s", name.Value, near)
	}
	return at(name, "unknown field %q", name.Value)
}

// nameOf returns the name of a field in a file; "" if it has none.
func nameOf(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
	return name
}

// membersOfType adds the names of the members of a type and of what it holds, and what they are members of.
func membersOfType(t reflect.Type, owner string, found, owners []string) ([]string, []string) {
	switch t.Kind() {
	case reflect.Pointer:
		return membersOfType(t.Elem(), owner, found, owners)
	case reflect.Slice, reflect.Map:
		return membersOfType(t.Elem(), "an element of "+owner, found, owners)
	case reflect.Struct:
		for i := range t.NumField() {
			name := nameOf(t.Field(i))
			if name == "" || slices.Contains(found, name) {
				continue
			}
			found, owners = membersOfType(t.Field(i).Type, name, append(found, name),
				append(owners, cmp.Or(owner, "the file")))
		}
	}
	return found, owners
}

func kindOfType(t reflect.Type) string {
	if t == reflect.TypeFor[Members]() {
		return aMapping
	}
	switch t.Kind() {
	case reflect.String:
		return aText
	case reflect.Bool:
		return aTruth
	case reflect.Slice:
		return aList
	case reflect.Struct, reflect.Map:
		return aMapping
	case reflect.Float64:
		return aNumber
	}
	return aWhole
}

// scalar decodes one value. A number in quotes is a number where one is expected.
func scalar(n *yaml.Node, v reflect.Value) (err error) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(n.Value)
	case reflect.Bool:
		v.SetBool(strings.EqualFold(n.Value, "true"))
	case reflect.Float64:
		var number float64
		number, err = strconv.ParseFloat(n.Value, 64)
		v.SetFloat(number)
	default:
		var number int64
		number, err = strconv.ParseInt(n.Value, 0, v.Type().Bits())
		v.SetInt(number)
	}
	if err != nil {
		found := kindOf(n)
		if want := kindOfType(v.Type()); found == want {
			found = n.Value
		}
		return at(n, "expected %s, found %s", kindOfType(v.Type()), found)
	}
	return nil
}

// plain returns a value as JSON has it. A day is a text.
func plain(n *yaml.Node) any {
	n = resolved(n)
	switch n.Kind {
	case yaml.SequenceNode:
		list := make([]any, len(n.Content))
		for i, item := range n.Content {
			list[i] = plain(item)
		}
		return list
	case yaml.MappingNode:
		all := map[string]any{}
		for _, m := range membersOf(n) {
			all[m.name.Value] = plain(m.value)
		}
		return all
	}
	if kindOf(n) == aText {
		return n.Value
	}
	var v any
	if err := n.Load(&v); err != nil { // the document was loaded
		panic(err)
	}
	return v
}

// asWritten returns a value for [Member].
func asWritten(n *yaml.Node) any {
	n = resolved(n)
	switch kindOf(n) {
	case aList:
		list := make([]any, len(n.Content))
		for i, item := range n.Content {
			list[i] = asWritten(item)
		}
		return list
	case aMapping:
		all := Members{}
		for _, m := range membersOf(n) {
			all = append(all, Member{m.name.Value, asWritten(m.value)})
		}
		return all
	case aTruth:
		return strings.EqualFold(n.Value, "true")
	case nothing:
		return nil
	}
	return n.Value
}
