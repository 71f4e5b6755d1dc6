package leak

// Secrets planted in a run, to see whether the client leaks them. They are fake, and appear nowhere else. They are the
// same in every run, so that a saved run can be judged again.
const (
	// PlantedKey looks like a provider's key. Every client receives it.
	PlantedKey = "sk-planted-T4xWq9Zr2LmKc7VbN1sHy6PdGf3JuE8aRo5i"
	// PlantedAccount looks like the id of a key's account, PlantedCookie like a provider's cookie. Cases may put them
	// into the model's answers.
	PlantedAccount = "org-planted-w7Qm2Rk9ZtXb4VdLs8Hc"
	PlantedCookie  = "planted-Jf5Nq8TzPx3GyUw6.1763740800-Bv0Ke2Sd9Am"
)

// Planted finds the secrets of a run with the key, under the names "the key", "the account" and "the cookie".
func Planted(key string) *Finder {
	return New(Secret{Name: "the key", Value: key, Tail: true},
		Secret{Name: "the account", Value: PlantedAccount}, Secret{Name: "the cookie", Value: PlantedCookie})
}
