package harness

import "github.com/mcp-conform/mcp-conform/internal/leak"

// What is planted in a run, to see whether the client gives it away: each is made up, and to be found nowhere else. They are the same in every
// run, so that a saved one can be judged again.
const (
	// PlantedKey looks like a provider's key and is none. Every client is told it.
	PlantedKey = "sk-planted-0123456789abcdef0123456789abcdef"
	// PlantedAccount looks like the id of the account that a key belongs to, and PlantedCookie like a cookie of the provider's. Cases may
	// have the model say them.
	PlantedAccount = "org-planted-w7Qm2Rk9ZtXb4VdLs8Hc"
	PlantedCookie  = "planted-Jf5Nq8TzPx3GyUw6.1763740800-Bv0Ke2Sd9Am"
)

// Planted finds what was planted in a run with the key, under the names "the key", "the account" and "the cookie".
func Planted(key string) *leak.Finder {
	return leak.New(leak.Secret{Name: "the key", Value: key}, leak.Secret{Name: "the account", Value: PlantedAccount},
		leak.Secret{Name: "the cookie", Value: PlantedCookie})
}
