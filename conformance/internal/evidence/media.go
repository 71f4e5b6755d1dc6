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
	served  bool     // It asked its model about an image.
	refused [2][]int // The codes with which it refused valid requests because of each of [media], as it may.
}

// ServesImages reports whether the client asked its model about an image in some session of the run (see [NoteRun]).
func (s *Session) ServesImages() bool { return s.media != nil && s.media.served }

// RefusesMedia reports whether the code is that with which the client refused other requests of the run because of an
// image, or because of audio, and the request has one.
func (s *Session) RefusesMedia(r *Round, code int) bool {
	for i, kind := range media {
		if s.media != nil && slices.Contains(s.media.refused[i], code) && bytes.Contains(r.Raw, kind) {
			return true
		}
	}
	return false
}

// noteMedia notes which media the client serves, and how it refuses others.
func noteMedia(sessions []*Session) {
	var noted runMedia
	for _, s := range sessions {
		s.Any(func(r *Round) bool {
			noted.served = noted.served || r.Shows() && len(r.Model) > 0
			if r.Hostile || len(r.Model) > 0 || len(r.Answers) == 0 || r.Answers[0].Err == nil {
				return false
			}
			for i, kind := range media {
				if bytes.Contains(r.Raw, kind) {
					noted.refused[i] = append(noted.refused[i], r.Answers[0].Err.Code)
				}
			}
			return false
		})
	}
	for _, s := range sessions {
		s.media = &noted
	}
}
