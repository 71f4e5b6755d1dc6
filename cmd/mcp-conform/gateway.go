package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/mcp-conform/mcp-conform/conformance"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/proof/play"
)

// gatewayFlags are the flags for a gateway between the built-in client and the fake server.
type gatewayFlags struct {
	Gateway bool     `help:"${run_gateway}"`
	Path    string   `default:"/mcp" placeholder:"PATH" help:"The path of the gateway's MCP endpoint, if it listens."`
	Header  []string `sep:"none" placeholder:"NAME=VALUE" help:"${run_header}"`
}

const defaultPath = "/mcp"

func (c *runCommand) validateGateway() error {
	if !c.Gateway {
		if len(c.Header) > 0 || c.Path != defaultPath {
			return errors.New("--path and --header: expected --gateway beside them")
		}
		return nil
	}
	if err := c.besideGateway(); err != nil {
		return err
	}
	for _, header := range c.Header {
		if name, _, ok := strings.Cut(header, "="); !ok || strings.TrimSpace(name) != name || name == "" {
			return fmt.Errorf("--header: expected NAME=VALUE, such as 'Authorization=Bearer KEY', found %q", header)
		}
	}
	return nil
}

// besideGateway refuses flags that say how a client is reached, which a gateway does itself.
func (c *runCommand) besideGateway() error {
	switch {
	case c.Stdio || c.Agent || c.Shard != "" || len(c.Stdin)+len(c.Answer) > 0 || c.Ready != "" || c.PTY || c.OwnHome:
		return errors.New("--gateway: expected no --stdio, --agent, --shard, --stdin, --stdin-after, --answer, --pty and " +
			"--own-home beside it: the placeholders of the command say how the gateway is reached")
	case isHost(c.Builtin):
		return errors.New("--gateway: expected a client that calls tools by itself, such as builtin:reference, found a host")
	case !strings.HasPrefix(c.Path, "/"):
		return fmt.Errorf("--path: expected a path such as /mcp, found %q", c.Path)
	}
	return nil
}

// builtinName is the built-in client of the run.
func (c *runCommand) builtinName() string {
	if c.Builtin == "" {
		return builtinPrefix + "reference"
	}
	return c.Builtin
}

// gateway is the gateway to judge, with the built-in client before it.
func (c *runCommand) gateway() (harness.Client, error) {
	if len(c.Command) == 0 {
		return harness.Client{}, errors.New("--gateway: expected the gateway's command after --")
	}
	run, err := builtin(c.builtinName())
	if err != nil {
		return harness.Client{}, err
	}
	setup, err := c.setup()
	if err != nil {
		return harness.Client{}, err
	}
	header := http.Header{}
	for _, one := range c.Header {
		name, value, _ := strings.Cut(one, "=")
		header.Add(name, value)
	}
	client := harness.Gateway(run, harness.GatewayProgram{Argv: c.Command, Templates: setup.Templates, Path: c.Path,
		Header: header, Ready: c.Timeout})
	client.Has = c.Has
	return client, nil
}

// play plays and judges: a client, or a gateway beside the run without it.
func (c *runCommand) play(ctx context.Context, s streams, suite *conformance.Suite,
) (*report.Results, []*trace.Trace, error) {
	if !c.Gateway {
		return suite.Run(ctx)
	}
	if err := suite.Valid(); err != nil {
		return nil, nil, err
	}
	fmt.Fprintf(s.err, "mcp-conform: judging a gateway, %s, with the client %s\n", suite.Client.Pair(), c.builtinName())
	notes, failed, err := c.reach(ctx, suite)
	if err != nil {
		return nil, nil, err
	}
	if suite.Direct, err = c.withoutGateway(ctx, suite); err != nil {
		return nil, nil, fmt.Errorf("playing without the gateway: %w", err)
	}
	rs, traces, err := suite.Run(ctx)
	if rs == nil {
		return nil, nil, err
	}
	rs.Notes = append(rs.Notes, notes...)
	rs.Results = append(rs.Results, failed...)
	rs.Count()
	return rs, traces, err
}

// reach keeps the revisions of the suite in which a call comes through the gateway, and notes the others. It is a
// failure if the gateway speaks them to the server. A revision that the command line names must be one of the first.
func (c *runCommand) reach(
	ctx context.Context, suite *conformance.Suite,
) (notes []string, failed []report.Result, err error) {
	revisions := suite.Revisions
	if revisions == nil {
		revisions = server.DefaultRevisions()
	}
	suite.Revisions = nil
	var first error
	for _, revision := range revisions {
		r := harness.Runner{Client: suite.Client, Revision: revision, Seed: suite.Seed, Timeout: suite.Timeout,
			Tool: suite.Tool, Dialect: suite.Dialect}
		err := r.Reach(ctx)
		var unreached *harness.ReachError
		if err == nil {
			suite.Revisions = append(suite.Revisions, revision)
			continue
		}
		if !errors.As(err, &unreached) {
			return nil, nil, err
		}
		if first == nil {
			first = err
		}
		if unreached.Spoken {
			failed = append(failed, c.unreached(unreached))
			continue
		}
		notes = append(notes, fmt.Sprintf("%s is not judged: no call of a tool comes through the gateway: %s", revision,
			unreached.Why))
	}
	if len(suite.Revisions) == 0 || len(c.Revision) > 0 {
		return nil, nil, first
	}
	return notes, failed, nil
}

// unreached is the failure of a gateway that speaks a revision in which no call comes through.
func (c *runCommand) unreached(err *harness.ReachError) report.Result {
	return report.Result{Scenario: "gateway", Check: "calls", Revision: string(err.Revision), Level: report.Robust,
		Verdict: report.Fail,
		Message: "no call of a tool comes through, although the gateway speaks the revision to the server: " + err.Why,
		Fix: "Pass on all headers and messages of the revision. If the gateway does not support it, refuse it with an " +
			"error, or name the revisions to judge with --revision.",
		Reproduce: c.commandLine("--scenario", "basic/question", "--revision", string(err.Revision))}
}

// withoutGateway plays the same with the client alone, in process and in virtual time.
func (c *runCommand) withoutGateway(ctx context.Context, suite *conformance.Suite) (*report.Results, error) {
	run, err := builtin(c.builtinName())
	if err != nil {
		return nil, err
	}
	alone := *suite
	alone.Client, alone.Bubble = suite.Client.WithoutGateway(run), play.InVirtualTime
	alone.Progress, alone.Checkpoint, alone.Reproduce, alone.Keep = nil, nil, nil, ""
	rs, _, err := alone.Run(ctx)
	return rs, err
}

func (c *runCommand) gatewayWords() []string {
	if !c.Gateway {
		return nil
	}
	words := []string{"--gateway"}
	if c.Path != defaultPath {
		words = append(words, "--path", c.Path)
	}
	for _, header := range c.Header {
		words = append(words, "--header", header)
	}
	return words
}
