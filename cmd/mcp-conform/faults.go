package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"

	"github.com/mcp-conform/mcp-conform/internal/proof/faults"
)

func (c *selftestCommand) faults(ctx context.Context, s streams) error {
	r, err := faults.Run(ctx, faults.Options{N: c.Faults, Seed: c.Seed, Only: c.Only, Parallel: runtime.NumCPU()})
	if ctx.Err() != nil {
		return &exitError{exitInterrupted, errors.New("interrupted")}
	}
	if err != nil {
		return err
	}
	if c.Out != "" {
		f := &r.Faults[0]
		if f.Results == nil {
			return usage(fmt.Errorf("--out: fault %d never fired", c.Only))
		}
		dir, err := claim(c.Out, s.err)
		if err == nil {
			err = save(dir, f.Results, f.Traces, 0)
		}
		if err != nil {
			return err
		}
		fmt.Fprintf(s.err, "mcp-conform: wrote %s\n", dir)
	}
	if c.Format == "json" {
		err = s.json(r)
	} else {
		_, err = fmt.Fprint(s.out, r.Text())
	}
	if err == nil && c.Only == 0 && r.Score() < faults.Goal {
		err = &exitError{exitFailed, fmt.Errorf("expected at least %d %% of the faults to be named, found %.1f %%",
			faults.Goal, r.Score())}
	}
	return err
}
