package llm

import (
	"go/ast"
	"go/parser"
	"go/token"
	"reflect"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

// go doc shows of an alias only its comment, which must name all fields.
func TestCommentsOfAliasesNameTheFields(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "request.go", nil, parser.ParseComments)
	require.NoError(t, err)
	comments := map[string]string{}
	ast.Inspect(file, func(n ast.Node) bool {
		if spec, ok := n.(*ast.TypeSpec); ok && spec.Assign.IsValid() {
			comments[spec.Name.Name] = spec.Doc.Text()
		}
		return true
	})
	for _, of := range []reflect.Type{reflect.TypeFor[Request](), reflect.TypeFor[Message](), reflect.TypeFor[Block](),
		reflect.TypeFor[Usage](), reflect.TypeFor[Tool](), reflect.TypeFor[Answer](), reflect.TypeFor[Error]()} {
		for i := range of.NumField() {
			if name := of.Field(i).Name; name != "Decoded" { // the codec's own form
				require.Regexp(t, `\b`+regexp.QuoteMeta(name)+`\b`, comments[of.Name()], "%s.%s", of.Name(), name)
			}
		}
	}
}
