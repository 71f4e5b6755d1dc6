// Package always has the rules that hold for every message of every case, and the comparison of what the server sent
// with what the model received. Chapters use it. It uses check and evidence, and knows no chapter.
package always
