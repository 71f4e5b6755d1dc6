//go:build !unix

package badclients

// processes need signals and process groups.
var processes []Client
