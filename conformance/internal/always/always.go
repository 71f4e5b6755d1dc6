// Package always has the rules that hold for every message of every case, whatever the case is about. Today that is
// one: only JSON-RPC messages over stdio. Chapters use the package; it uses check and evidence, and knows no chapter.
package always
