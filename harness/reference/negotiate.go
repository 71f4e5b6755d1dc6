package reference

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
)

// versionFaults are the ways in which a client can be broken that finds out by itself which revision to speak.
type versionFaults struct {
	insists    bool // on the newest revision, whatever the server has
	inMeta     bool // speaks any revision as if it were of the second era
	keepsFirst bool // the revision that it asked for, whatever was agreed on
	asksOn     bool // until the server speaks its own revision
}

// codeUnsupportedVersion is that of an UnsupportedProtocolVersionError (2026-07-28, basic/index#error-codes).
const codeUnsupportedVersion = -32022

// negotiate finds out what the server speaks, by asking in the second era, and opens the wire of the newest revision that both know
// (2026-07-28, basic/versioning#protocol-version-negotiation). A server that knows nothing of that era is spoken to in the first
// (#backward-compatibility-with-initialization-based-versions).
func negotiate(ctx context.Context, env harness.Env, m *model) (wire, error) {
	broken := &m.config.broken.versions
	env.Revision = server.V20260728
	m.env.Revision = env.Revision
	asking, err := openModern(ctx, env, m)
	if err != nil {
		return nil, err
	}
	raw, err := asking.once(ctx, "server/discover", map[string]any{})
	spoken, told := spokenBy(raw, err)
	var refused *rpcError
	var status *statusCode
	switch {
	case told:
	case errors.As(err, &refused) || errors.As(err, &status):
		spoken = []server.Revision{server.V20251125} // or what it answers with
	default:
		return nil, errors.Join(err, asking.close(ctx))
	}
	if broken.asksOn && !slices.Contains(spoken, env.Revision) {
		<-ctx.Done()
		return nil, errors.Join(ctx.Err(), asking.close(ctx))
	}
	common := slices.DeleteFunc(server.Revisions(), func(r server.Revision) bool { return !slices.Contains(spoken, r) })
	if len(common) == 0 {
		return nil, errors.Join(fmt.Errorf("the server speaks %v, and this client none of them", spoken), asking.close(ctx))
	}
	newest := slices.Max(common)
	if broken.inMeta {
		asking.env.Revision = slices.Min(common)
		return asking, nil
	}
	if newest.Modern() || broken.insists {
		return asking, nil
	}
	if err := asking.close(ctx); err != nil {
		return nil, err
	}
	env.Revision = newest
	m.env.Revision = newest
	return openLegacy(ctx, env, m, true)
}

// spokenBy reads what a server says that it speaks, and reports whether it says so.
func spokenBy(discovered json.RawMessage, err error) ([]server.Revision, bool) {
	var said struct {
		Supported         []server.Revision
		SupportedVersions []server.Revision
	}
	var refused *refusal
	if errors.As(err, &refused) {
		ok := refused.Code == codeUnsupportedVersion && json.Unmarshal(refused.Data, &said) == nil
		return said.Supported, ok
	}
	ok := err == nil && json.Unmarshal(discovered, &said) == nil
	return said.SupportedVersions, ok
}

// agree takes the revision that the server has answered with.
func (l *legacy) agree(on server.Revision) error {
	known := slices.Contains(server.Revisions(), on) && !on.Modern()
	if on != l.env.Revision && !(l.free && known) {
		return fmt.Errorf("the server speaks %s, this client was told to speak %s", on, l.env.Revision)
	}
	if on != l.env.Revision && !l.model.config.broken.versions.keepsFirst {
		l.env.Revision, l.model.env.Revision = on, on
	}
	l.setHeader("Mcp-Protocol-Version", string(l.env.Revision))
	return nil
}
