// Package solid packs similar texts into one small archive. Deflate finds repetitions within 32 KiB only; recordings
// of one conversation in several wire formats repeat each other much further back. So Pack first replaces long
// repetitions,
// at any distance, by references, and deflates the rest.
package solid

import (
	"bufio"
	"bytes"
	"compress/flate"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
)

// The shortest repetitions that become references. Shorter ones are left to deflate.
const (
	shortest = 96 // anywhere in the texts before
	adjacent = 16 // where the last reference would go on
	stride   = 4  // of the places that are looked up
)

// Pack returns an archive of files by name.
func Pack(files map[string][]byte) []byte {
	var index, all []byte
	for _, name := range slices.Sorted(maps.Keys(files)) {
		index = binary.AppendUvarint(index, uint64(len(name)))
		index = append(index, name...)
		index = binary.AppendUvarint(index, uint64(len(files[name])))
		all = append(all, files[name]...)
	}
	var packed bytes.Buffer
	w, err := flate.NewWriter(&packed, flate.BestCompression)
	if err != nil {
		panic(err) // the level is valid
	}
	head := binary.AppendUvarint(nil, uint64(len(files)))
	for _, part := range [][]byte{head, index, references(all)} {
		if _, err := w.Write(part); err != nil {
			panic(err) // a buffer takes everything
		}
	}
	if err := w.Close(); err != nil {
		panic(err)
	}
	return packed.Bytes()
}

// references returns the text as its literals, behind their length, and the references between them: how many literals
// come before, the distance (0: as before) and the length.
func references(text []byte) []byte {
	var literals, out []byte
	places := map[string]int{}
	written, known, distance := 0, 0, 0
	for i := 0; i+shortest <= len(text); {
		from, found := i-distance, distance > 0 && bytes.Equal(text[i-distance:][:adjacent], text[i:][:adjacent])
		if !found {
			from, found = places[string(text[i:][:shortest])]
		}
		if !found {
			i++
		} else {
			begin, end := i, i
			for begin > written && from > 0 && text[from-1] == text[begin-1] {
				begin, from = begin-1, from-1
			}
			same := begin-from == distance
			distance = begin - from
			for end < len(text) && text[end-distance] == text[end] {
				end++
			}
			literals = append(literals, text[written:begin]...)
			out = binary.AppendUvarint(out, uint64(begin-written))
			if same {
				out = append(out, 0)
			} else {
				out = binary.AppendUvarint(out, uint64(distance))
			}
			out = binary.AppendUvarint(out, uint64(end-begin))
			i, written = end, end
		}
		for ; known < i && known+shortest <= len(text); known += stride {
			places[string(text[known:][:shortest])] = known
		}
	}
	literals = append(literals, text[written:]...)
	return slices.Concat(binary.AppendUvarint(nil, uint64(len(literals))), literals, out)
}

// Unpack returns the files of an archive by name.
func Unpack(archive []byte) (map[string][]byte, error) {
	r := &reader{Reader: bufio.NewReader(flate.NewReader(bytes.NewReader(archive)))}
	files, total := r.files()
	text := r.text(total)
	if r.err == nil && len(text) != total {
		r.err = fmt.Errorf("found %d bytes, expected %d", len(text), total)
	}
	if _, err := r.ReadByte(); r.err == nil && !errors.Is(err, io.EOF) {
		r.err = errors.New("no end")
	}
	if r.err != nil {
		return nil, fmt.Errorf("reading the archive: %w", r.err)
	}
	unpacked := map[string][]byte{}
	for _, f := range files {
		unpacked[f.name], text = text[:f.size:f.size], text[f.size:]
	}
	return unpacked, nil
}

// file is what an archive says of a file.
type file struct {
	name string
	size int
}

// files reads the names and sizes of the files, and returns the sum of the sizes.
func (r *reader) files() (files []file, total int) {
	for range r.number() {
		f := file{name: string(r.bytes(r.number()))}
		f.size = r.number()
		total += f.size
		if files = append(files, f); r.err != nil || f.size < 0 || total < 0 {
			break
		}
	}
	return files, total
}

// text reads the text of all files, of at most total bytes.
func (r *reader) text(total int) []byte {
	text, literals := []byte(nil), r.bytes(r.number())
	for distance := 0; r.err == nil && len(text)+len(literals) < total; {
		before, next, length := r.number(), r.number(), r.number()
		if next > 0 {
			distance = next
		}
		if r.err == nil && before <= len(literals) {
			text, literals = append(text, literals[:before]...), literals[before:]
		}
		if r.err == nil && (distance < 1 || distance > len(text) || length > total-len(text)) {
			r.err = errors.New("invalid reference")
		}
		for ; r.err == nil && length > 0; length-- {
			text = append(text, text[len(text)-distance])
		}
	}
	return append(text, literals...)
}

// reader reads until its first error.
type reader struct {
	*bufio.Reader
	err error
}

func (r *reader) number() int {
	if r.err != nil {
		return 0
	}
	n, err := binary.ReadUvarint(r)
	r.err = err
	return int(min(n, 1<<40)) // more than any archive has
}

func (r *reader) bytes(n int) []byte {
	if r.err != nil {
		return nil
	}
	var b bytes.Buffer
	_, r.err = io.CopyN(&b, r, int64(n))
	return b.Bytes()
}
