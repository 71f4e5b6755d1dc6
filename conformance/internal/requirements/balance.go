package requirements

var Balance = []string{"2025-11-25/sampling/08", "2026-07-28/sampling/09"}
