package evidence

import (
	"bytes"
	"slices"
)

// media are what requests with an image, and with audio, contain as the server writes them.
var media = [][]byte{[]byte(`"type":"image"`), []byte(`"type":"audio"`)}

// Shows reports whether the request has an image.
func (r *Round) Shows() bool { return bytes.Contains(r.Raw, media[0]) }

// mediaRefusals are the codes with which a client refused valid requests because of each of [media], as it may.
type mediaRefusals [2][]int

// RefusesMedia reports whether the code is that with which the client refused other requests of the run because of an
// image, or because of audio, and the request has one.
func (s *Session) RefusesMedia(r *Round, code int) bool {
	for i, kind := range media {
		if s.mediaRefusals != nil && slices.Contains(s.mediaRefusals[i], code) && bytes.Contains(r.Raw, kind) {
			return true
		}
	}
	return false
}

// noteMedia notes how the client refuses media.
func noteMedia(sessions []*Session) {
	var refused mediaRefusals
	for _, s := range sessions {
		s.Any(func(r *Round) bool {
			if r.Hostile || len(r.Model) > 0 || len(r.Answers) == 0 || r.Answers[0].Err == nil {
				return false
			}
			for i, kind := range media {
				if bytes.Contains(r.Raw, kind) {
					refused[i] = append(refused[i], r.Answers[0].Err.Code)
				}
			}
			return false
		})
	}
	for _, s := range sessions {
		s.mediaRefusals = &refused
	}
}
