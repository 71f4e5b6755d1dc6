package client

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/mcp-conform/mcp-conform/fakes/server"
)

// codeUnsupportedVersion is that of an UnsupportedProtocolVersionError (2026-07-28, basic/index#error-codes).
const codeUnsupportedVersion = -32022

// negotiate asks the server in a modern revision which revisions it speaks, and connects in the newest that both know
// (2026-07-28, basic/versioning#protocol-version-negotiation). A server that does not know the question gets initialize
// on the same connection (#backward-compatibility-with-initialization-based-versions). If it ended at the question, it
// is launched again.
func (c *Client) negotiate() (wire, error) {
	c.setRevision(defaultRevision(true))
	asking, err := c.openStateless()
	if err != nil {
		return nil, err
	}
	raw, err := asking.once(c.ctx, "server/discover", map[string]any{})
	spoken, ok := discovered(raw, err)
	if !ok {
		var refused *Error
		var status *statusError
		if !errors.As(err, &refused) && !errors.As(err, &status) && !c.relaunches(err) {
			closed := asking.close()
			if errors.Is(closed, err) { // the server ended, and close says how
				return nil, closed
			}
			return nil, errors.Join(err, closed)
		}
		spoken = []server.Revision{defaultRevision(false)} // or the one that initialize is answered with
	}
	known := slices.DeleteFunc(server.AllRevisions(), func(r server.Revision) bool { return !slices.Contains(spoken, r) })
	if len(known) == 0 {
		err := fmt.Errorf("the server speaks %v, this client %v", spoken, server.AllRevisions())
		return nil, errors.Join(err, asking.close())
	}
	newest := slices.Max(known)
	if newest.Modern() {
		c.setRevision(newest)
		asking.revision = newest
		return asking, nil
	}
	c.setRevision(newest)
	opened, err := c.openSession(true, asking)
	if c.relaunches(err) {
		return c.openSession(true, nil)
	}
	return opened, err
}

// relaunches reports whether an error means that the server ended, so that another one can be launched.
func (c *Client) relaunches(err error) bool {
	return errors.Is(err, errServerEnded) && c.options.Conn == nil
}

// defaultRevision returns the modern or the legacy one of [server.DefaultRevisions].
func defaultRevision(modern bool) server.Revision {
	all := server.DefaultRevisions()
	return all[slices.IndexFunc(all, func(r server.Revision) bool { return r.Modern() == modern })]
}

// discovered returns the revisions of the answer to server/discover. It reports false if the answer has none.
func discovered(result json.RawMessage, err error) ([]server.Revision, bool) {
	var answer struct {
		Supported         []server.Revision // of an error
		SupportedVersions []server.Revision // of a result
	}
	var refused *Error
	if errors.As(err, &refused) {
		ok := refused.Code == codeUnsupportedVersion && json.Unmarshal(refused.Data, &answer) == nil
		return answer.Supported, ok
	}
	ok := err == nil && json.Unmarshal(result, &answer) == nil
	return answer.SupportedVersions, ok
}
