package leak_test

import (
	"encoding/base64"
	"fmt"

	"github.com/mcp-conform/mcp-conform/internal/leak"
)

func Example() {
	f := leak.New(leak.Secret{Name: "the key", Value: "sk-0123456789abcdef"})
	log := "request failed: " + base64.StdEncoding.EncodeToString([]byte("user:sk-0123456789abcdef"))
	hit, found := f.Find([]byte(log))
	fmt.Println(found, hit.Name, hit.Form)
	// Output: true the key in base64
}
