package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mcp-conform/mcp-conform/conformance"
	"github.com/mcp-conform/mcp-conform/fakes/server"
)

// runner is a command: a pointer to a struct whose fields are its flags, and its arguments in their order. The tags of
// a field are
//
//	help         what it is for, in which ${NAME} stands for one of vars
//	default      its value if it is not given
//	enum         its values, separated by commas
//	placeholder  how the help names its value
//	name         the flag's name, if not the field's
//	short        the flag's letter
//	env          the variable that holds the default
//	required     the flag cannot be left out
//	arg          an argument: required, unless it also has
//	optional     it may be left out
//	passthrough  what follows belongs to this first argument, flags too
//	sep:"none"   a comma in a value of a list is an ordinary one
//
// A Validate method, if there, checks the values before Run.
type runner interface {
	Run(ctx context.Context, s streams) error
}

// invocation is embedded in a command that looks at how it was called.
type invocation struct {
	words   []string // of the whole command line, after the program's name
	command *cobra.Command
}

func (i *invocation) called(c *cobra.Command, words []string) { i.command, i.words = c, words }

// dashed reports whether -- precedes the arguments.
func (i *invocation) dashed() bool { return i.command.ArgsLenAtDash() >= 0 }

// newCommand returns the command that runs r. words are those of the whole command line.
func newCommand(s streams, words []string, name, help string, r runner) *cobra.Command {
	c, arguments := parserOf(name, help, r)
	c.RunE = func(c *cobra.Command, args []string) error {
		if err := assign(c, r, arguments, words, args); err != nil {
			return usageOf(c, err)
		}
		return r.Run(c.Context(), s)
	}
	return c
}

// parserOf returns a command whose flags are those of r, and the arguments of r.
func parserOf(name, help string, r runner) (*cobra.Command, []*value) {
	c := &cobra.Command{Use: name, Short: help, Args: cobra.ArbitraryArgs}
	c.Flags().SortFlags = false
	var arguments []*value
	for _, v := range valuesOf(reflect.ValueOf(r).Elem()) {
		switch {
		case v.has("arg"):
			arguments = append(arguments, v)
			c.Use += " " + v.summary()
			c.Flags().SetInterspersed(len(arguments) > 1 || !v.has("passthrough"))
			continue
		case v.has("required"):
			c.Use += " --" + v.name + " " + v.Type()
		}
		v.addTo(c, c.Flags())
	}
	c.SetUsageFunc(func(c *cobra.Command) error { return writeUsage(c, arguments) })
	if len(arguments) > 0 {
		c.ValidArgsFunction = arguments[0].completions
	}
	return c, arguments
}

// assign gives r its arguments, after the flags were parsed, and validates all.
func assign(c *cobra.Command, r runner, arguments []*value, words, args []string) error {
	var err error
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if v, ok := f.Value.(*value); ok && v.has("required") && !f.Changed {
			err = errors.Join(err, fmt.Errorf("expected --%s=%s, found none", f.Name, v.Type()))
		}
	})
	for _, v := range arguments {
		n := min(len(args), 1)
		if v.isList() {
			n = len(args)
		}
		if n == 0 && !v.has("optional") {
			err = errors.Join(err, fmt.Errorf("expected %s, found none", v.Type()))
		}
		for _, arg := range args[:n] {
			err = errors.Join(err, v.set(arg))
		}
		args = args[n:]
	}
	if err == nil && len(args) > 0 {
		err = fmt.Errorf("unexpected argument %s", args[0])
	}
	if i, ok := r.(interface {
		called(c *cobra.Command, words []string)
	}); ok {
		i.called(c, words)
	}
	if v, ok := r.(interface{ Validate() error }); ok && err == nil {
		err = v.Validate()
	}
	return err
}

// value is a flag or an argument: a field with its tags. It implements [pflag.Value].
type value struct {
	name  string
	field reflect.Value
	tag   reflect.StructTag
	given bool // the default is gone
}

// valuesOf returns the fields of a struct that have a help, and those of the structs that are embedded in it.
func valuesOf(s reflect.Value) []*value {
	var all []*value
	for i := range s.NumField() {
		field := s.Type().Field(i)
		v := &value{name: cmp.Or(field.Tag.Get("name"), dashes(field.Name)), field: s.Field(i), tag: field.Tag}
		switch {
		case v.has("help"):
			if preset := fillIn(field.Tag.Get("default")); preset != "" {
				if err := v.set(preset); err != nil {
					panic(fmt.Sprintf("the default of %s.%s: %v", s.Type(), field.Name, err))
				}
			}
			if preset := os.Getenv(v.tag.Get("env")); v.has("env") && preset != "" {
				v.field.SetString(preset)
			}
			v.given = false
			all = append(all, v)
		case field.Anonymous:
			all = append(all, valuesOf(s.Field(i))...)
		}
	}
	return all
}

// helpFlag is --help of every command, which package cobra looks for.
func helpFlag() *value {
	return &value{name: "help", field: reflect.ValueOf(new(bool)).Elem(), tag: `short:"h" help:"Show this help."`}
}

// dashes returns the name of a flag: only-worse for OnlyWorse.
func dashes(field string) string {
	var b strings.Builder
	for i, r := range field {
		if i > 0 && r <= 'Z' {
			b.WriteByte('-')
		}
		b.WriteRune(r)
	}
	return strings.ToLower(b.String())
}

func (v *value) has(tag string) bool {
	_, ok := v.tag.Lookup(tag)
	return ok
}

func (v *value) isBool() bool { return v.field.Kind() == reflect.Bool }
func (v *value) isList() bool { return v.field.Kind() == reflect.Slice }
func (v *value) isMap() bool  { return v.field.Kind() == reflect.Map }
func (v *value) help() string { return fillIn(v.tag.Get("help")) }

// commas reports whether a comma separates two values of the flag.
func (v *value) commas() bool {
	_, files := v.field.Interface().(reportFiles)
	return files || v.isList() && v.tag.Get("sep") != "none"
}

func (v *value) enum() []string {
	if !v.has("enum") {
		return nil
	}
	return strings.Split(strings.ReplaceAll(fillIn(v.tag.Get("enum")), " ", ""), ",")
}

// Type returns how the help names a value.
func (v *value) Type() string {
	enum := strings.Join(v.enum(), "|")
	switch _, isTime := v.field.Interface().(time.Duration); {
	case v.isBool():
		return "bool" // pflag leaves this name out
	case v.has("placeholder"):
		return v.tag.Get("placeholder")
	case isTime:
		return "DURATION"
	case v.field.CanInt() || v.field.CanUint():
		return "N"
	case enum != "" && len(enum) <= len("text|json|markdown"):
		return enum
	}
	return strings.ToUpper(v.name)
}

// summary returns an argument in the line of the usage.
func (v *value) summary() string {
	text := v.Type()
	if v.isList() && !strings.Contains(text, " ") {
		text += "..."
	}
	if v.has("optional") {
		text = "[" + text + "]"
	}
	return text
}

func (v *value) String() string {
	if !v.field.IsValid() || v.field.IsZero() && !v.isBool() || v.has("placeholder") {
		return ""
	}
	return fmt.Sprint(v.field.Interface())
}

// words are those of a command line that give the flag its value.
func (v *value) words() []string {
	var all []string
	switch {
	case v.isList():
		for i := range v.field.Len() {
			all = append(all, v.word("", v.field.Index(i).String()))
		}
	case v.isMap():
		for _, key := range v.field.MapKeys() {
			all = append(all, v.word(key.String(), v.field.MapIndex(key).String()))
		}
	default:
		all = []string{v.word("", fmt.Sprint(reflect.Indirect(v.field)))}
	}
	return all
}

// word is the word for one value of the flag; key is that of a map, or "".
func (v *value) word(key, text string) string {
	if v.commas() {
		text = strings.ReplaceAll(text, ",", `\,`)
	}
	if key != "" {
		text = key + "=" + text
	}
	return fmt.Sprintf("--%s=%s", v.name, text)
}

// Set takes one occurrence of the flag.
func (v *value) Set(text string) error {
	if !v.commas() {
		return v.set(text)
	}
	var err error
	for _, part := range atCommas(text) {
		err = errors.Join(err, v.set(part))
	}
	return err
}

// atCommas splits a text at its commas, of which a backslash makes an ordinary one.
func atCommas(text string) []string {
	parts := strings.Split(strings.ReplaceAll(text, `\,`, "\x00"), ",")
	for i, part := range parts {
		parts[i] = strings.ReplaceAll(part, "\x00", ",")
	}
	return parts
}

func (v *value) set(text string) error {
	if !v.given && (v.isList() || v.isMap()) {
		v.field.SetZero()
	}
	v.given = true
	if known := v.enum(); known != nil && !slices.Contains(known, text) {
		return notOne(text, slices.DeleteFunc(known, func(name string) bool { return name == "" }))
	}
	switch target := v.field.Addr().Interface().(type) {
	case *string:
		*target = text
	case *[]string:
		*target = append(*target, text)
	case *map[string]string:
		key, rest, ok := strings.Cut(text, "=")
		if !ok {
			return fmt.Errorf("expected %s, found %q", v.Type(), text)
		}
		if *target == nil {
			*target = map[string]string{}
		}
		(*target)[key] = rest
	case *reportFiles:
		return target.add(text)
	default:
		return setParsed(target, text)
	}
	return nil
}

func setParsed(target any, text string) error {
	switch target := target.(type) {
	case *bool:
		return parsed(target, text, "true or false", strconv.ParseBool)
	case *time.Duration:
		return parsed(target, text, "a duration such as 30s", time.ParseDuration)
	case *int:
		return parsed(target, text, "a whole number", strconv.Atoi)
	case **int:
		*target = new(int)
		return parsed(*target, text, "a whole number", strconv.Atoi)
	case *int64:
		return parsed(target, text, "a whole number", func(t string) (int64, error) { return strconv.ParseInt(t, 10, 64) })
	case *uint64:
		return parsed(target, text, "a whole number from 0", func(t string) (uint64, error) {
			return strconv.ParseUint(t, 10, 64)
		})
	}
	panic(fmt.Sprintf("no flag has the type %T", target))
}

func parsed[T any](target *T, text, expected string, parse func(string) (T, error)) error {
	found, err := parse(text)
	if err != nil {
		return fmt.Errorf("expected %s, found %q", expected, text)
	}
	*target = found
	return nil
}

func (v *value) addTo(c *cobra.Command, flags *pflag.FlagSet) {
	f := flags.VarPF(v, v.name, v.tag.Get("short"), v.help())
	if v.isBool() {
		f.NoOptDefVal = "true"
	}
	if err := c.RegisterFlagCompletionFunc(v.name, v.completions); err != nil {
		panic(err) // a flag that is there, once
	}
}

// completions returns the values that a shell offers. Where nobody knows them, it offers files.
func (v *value) completions(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	known := v.enum()
	switch v.name {
	case "scenario", "skip":
		for _, s := range conformance.Scenarios() {
			known = append(append(known, s.ID), s.Cases...)
		}
	case "revision":
		known = revisionNames(server.AllRevisions())
	}
	if known == nil {
		return nil, cobra.ShellCompDirectiveDefault
	}
	return known, cobra.ShellCompDirectiveNoFileComp
}
