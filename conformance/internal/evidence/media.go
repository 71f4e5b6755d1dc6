package evidence

import (
	"bytes"
	"slices"
)

// media are what requests with an image, and with audio, contain as the server writes them.
var media = [][]byte{[]byte(`"type":"image"`), []byte(`"type":"audio"`)}

// Shows reports whether the request has an image.
func (r *Round) Shows() bool { return bytes.Contains(r.Raw, media[0]) }

// runMedia is what a run shows of a client and media.
type runMedia struct {
	served  [2]bool  // It asked its model about each of [media].
	images  [2]bool  // It did so about an image in a request without tools, and in one with them.
	refused [2][]int // The codes with which it refused valid requests with them.
}

// ServesImages reports whether the client asked its model about an image in some session of the run (see [NoteRun]).
func (s *Session) ServesImages() bool { return s.media != nil && s.media.served[0] }

// ServesImagesLike reports whether the client asked its model about an image in some session of the run, in a request
// that offers tools as this one does, or does not (see [NoteRun]). A host's model for images may take no tools.
func (s *Session) ServesImagesLike(r *Round) bool {
	return s.media != nil && s.media.images[withTools(r)]
}

func withTools(r *Round) int {
	if r.Params != nil && len(r.Params.Tools) > 0 {
		return 1
	}
	return 0
}

// RefusesMedia reports whether the request has an image or audio, the client refuses all of that kind in the run, and
// the code is one with which it does so.
func (s *Session) RefusesMedia(r *Round, code int) bool {
	for i, kind := range media {
		if s.media != nil && !s.media.served[i] && slices.Contains(s.media.refused[i], code) &&
			bytes.Contains(r.Raw, kind) {
			return true
		}
	}
	return false
}

// noteMedia notes in the sessions of a run which media the client serves, and with which codes it refuses the others.
func noteMedia(sessions []*Session) {
	var noted runMedia
	for _, s := range sessions {
		for r := range s.rounds() {
			for i, kind := range media {
				switch {
				case !bytes.Contains(r.Raw, kind):
				case len(r.Model) > 0:
					noted.served[i] = true
					noted.images[withTools(r)] = noted.images[withTools(r)] || i == 0
				case !r.Hostile && len(r.Answers) > 0 && r.Answers[0].Err != nil:
					noted.refused[i] = append(noted.refused[i], r.Answers[0].Err.Code)
				}
			}
		}
	}
	for _, s := range sessions {
		s.media = &noted
	}
}
