package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"
)

const schemaPath = "../../docs/config.schema.json"

// The members of the configuration are the flags of run: the schema for editors is made of them.
func TestTheSchemaOfTheConfigurationFitsTheFlags(t *testing.T) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	require.NoError(t, enc.Encode(configSchema(runFlags())))
	if *update {
		require.NoError(t, os.WriteFile(schemaPath, b.Bytes(), 0o644))
	}
	want, err := os.ReadFile(schemaPath)
	require.NoError(t, err)
	require.Equal(t, string(want), b.String(), "go test ./cmd/mcp-conform -run Schema -update accepts it")
}

func runFlags() *pflag.FlagSet {
	c, _ := parserOf("run", "", &runCommand{})
	return c.Flags()
}

type object = map[string]any

func configSchema(flags *pflag.FlagSet) object {
	members := object{"command": object{"type": "array", "items": object{"type": "string"}, "minItems": 1,
		"description": "The client's command. No word is split, and no shell runs it."}}
	flags.VisitAll(func(f *pflag.Flag) {
		if slices.Contains(notConfigured, f.Name) {
			return
		}
		flag := f.Value.(*value)
		member := object{"type": "string"}
		kind := flag.field.Kind()
		switch {
		case flag.field.Type() == reflect.TypeFor[time.Duration]():
			member["pattern"] = `^([0-9.]+(ms|s|m|h))+$`
		case flag.isBool():
			member["type"] = "boolean"
		case flag.isList():
			member = object{"anyOf": []object{{"type": "string"}, {"type": "array", "items": object{"type": "string"}}}}
		case flag.isMap():
			files := object{}
			for _, name := range formatNames() {
				files[name] = object{"type": "string"}
			}
			member = object{"type": "object", "properties": files, "additionalProperties": false}
		case kind == reflect.Int || kind == reflect.Int64 || kind == reflect.Pointer:
			member["type"] = "integer"
		case flag.enum() != nil:
			member["enum"] = flag.enum()
		}
		member["description"] = f.Usage
		members[f.Name] = member
	})
	client := object{"type": "object", "properties": members, "additionalProperties": false}
	return object{
		"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "mcp-conform.yaml", "type": "object",
		"required": []string{"clients"}, "additionalProperties": false,
		"properties": object{
			"defaults": object{"$ref": "#/$defs/client", "description": "For every client that does not say otherwise."},
			"clients": object{"type": "object", "minProperties": 1, "description": "Clients by name.",
				"additionalProperties": object{"$ref": "#/$defs/client"}},
		},
		"$defs": object{"client": client},
	}
}

// valid reports whether a configuration fits the schema.
func valid(t *testing.T, text string) bool {
	raw, err := os.ReadFile(schemaPath)
	require.NoError(t, err)
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	require.NoError(t, err)
	compiler := jsonschema.NewCompiler()
	require.NoError(t, compiler.AddResource("config.json", doc))
	schema, err := compiler.Compile("config.json")
	require.NoError(t, err)
	return schema.Validate(asJSON(t, text)) == nil
}

func TestTheSchemaAcceptsWhatRunAccepts(t *testing.T) {
	const head = "clients:\n  mine:\n    command: [node, client.js]\n"
	for text, ok := range map[string]bool{
		head: true,
		head + "    stdio: true\n    timeout: 1m30s\n    scenario: [basic]\n    skip: time\n    explore: 3\n": true,
		head + "    report: {junit: out.xml}\n":  true,
		head + "    report: {junt: out.xml}\n":   false,
		head + "    stdio: often\n":              false,
		head + "    timeout: soon\n":             false,
		head + "    senario: [basic]\n":          false,
		head + "    all: true\n":                 false,
		"clients:\n  mine:\n    command: node\n": false,
		"defaults: {strict: true}\n":             false,
	} {
		require.Equal(t, ok, valid(t, text), text)
		path := filepath.Join(t.TempDir(), configName)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
		file, err := readConfig(path)
		if err == nil {
			var words []string
			if words, err = file.arguments("mine", runFlags(), nil); err == nil {
				_, err = parseRun(words[1:])
			}
		}
		require.Equal(t, ok, err == nil, "%s: %v", text, err)
	}
}

// The configurations in the pages fit the schema.
func TestThePagesShowValidConfigurations(t *testing.T) {
	found := 0
	for path, text := range pages(t) {
		for _, block := range configBlock.FindAllStringSubmatch(text, -1) {
			require.True(t, valid(t, block[1]), path)
			found++
		}
	}
	require.Positive(t, found)
}

var configBlock = regexp.MustCompile("(?s)```yaml\n([^`]*?\nclients:\n[^`]*)```")
