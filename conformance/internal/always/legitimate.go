package always

import "github.com/mcp-conform/mcp-conform/internal/legitimate"

// Legitimate returns the changes that the check allows; nil for a check without such a list.
func Legitimate(id string) []legitimate.Change {
	switch id {
	case ID + "/" + modelWasGivenCheck.ID:
		return legitimate.On(legitimate.Model)
	case ID + "/" + serverWasGivenCheck.ID:
		return legitimate.On(legitimate.Server)
	}
	return nil
}
