#!/usr/bin/env bash
# The step of action.yml: builds mcp-conform from the action's own checkout and runs it. CI runs it, too.
set -euo pipefail

bin=${RUNNER_TEMP:?}/mcp-conform
(cd "${GITHUB_ACTION_PATH:?}" && GOWORK=off go build -trimpath -o "$bin" ./cmd/mcp-conform)

cd "${FOLDER:-.}"
reports=${REPORTS:-mcp-conform-reports}
words=(run --report "junit=$reports/{name}.xml,html=$reports/{name}.html")
words+=(--report "markdown=$reports/{name}.md,json=$reports/{name}.json")
# shellcheck disable=SC2206 # the inputs are lists of words
words+=(${FLAGS:-})
if [ -n "${CLIENTS:-}" ]; then
	# shellcheck disable=SC2206
	words+=($CLIENTS)
else
	words+=(--all)
fi
code=0
"$bin" "${words[@]}" || code=$?
{
	echo "exit-code=$code"
	echo "reports=$PWD/$reports"
} >>"${GITHUB_OUTPUT:?}"
exit "$code"
