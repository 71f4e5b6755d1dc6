package reports_test

import (
	"bytes"
	"encoding/json"
	"html"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/conformance"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/report"
	page "github.com/mcp-conform/mcp-conform/harness/report/html"
	"github.com/mcp-conform/mcp-conform/internal/proof/mutants"
	"github.com/mcp-conform/mcp-conform/internal/proof/reference"
	"github.com/mcp-conform/mcp-conform/interop/need"
)

// probe uses the page as a reader does, and leaves what it saw in the document.
const probe = `
const seen = { errors: [] };
addEventListener("error", (e) => seen.errors.push(String(e.message)));
addEventListener("securitypolicyviolation", (e) => seen.errors.push(e.blockedURI));
const count = (what) => [...document.querySelectorAll(what)].filter((e) => e.getClientRects().length).length;
const key = (key) => {
  (document.activeElement || document.body).dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
};
const wait = () => new Promise((done) => setTimeout(done, 50));
addEventListener("load", async () => {
  seen.findings = count(".finding"); seen.scenarios = count("tbody");
  document.getElementById("unfold").click();
  seen.checks = count("tr.check");
  document.getElementById("differ").click();
  seen.differ = count("tr.check");
  key("j"); key("j"); key("k");
  seen.focused = document.activeElement.parentElement.id === document.querySelector(".finding").id;
  key("/");
  seen.search = document.activeElement.id;
  const query = document.getElementById("query");
  query.value = "results-REACH-model"; query.dispatchEvent(new Event("input"));
  seen.found = count(".finding");
  document.querySelector("tr.check button.cell").click();
  seen.cleared = query.value === "";
  const is = (f) => f.textContent.includes("parallel/results-reach-model");
  const reach = [...document.querySelectorAll(".finding")].find(is);
  reach.open = true;
  await wait();
  reach.querySelectorAll(".step.marked").forEach((s) => s.open = true);
  await wait();
  seen.digits = reach.querySelector(".step.marked pre").textContent.includes("9007199254740993.0");
  seen.page = [...reach.querySelectorAll("dd a")].map((a) => a.href).filter((a) => a.includes("/docs/")).join();
  seen.arrows = reach.querySelectorAll(".arrow").length;
  seen.marks = [...reach.querySelectorAll(".step mark")].map((m) => m.textContent.replace(/\s+/g, " "));
  const light = getComputedStyle(document.body).backgroundColor;
  document.getElementById("theme").click();
  seen.theme = getComputedStyle(document.body).backgroundColor !== light;
  seen.wide = document.documentElement.scrollWidth > innerWidth;
  document.body.style.width = "360px";
  seen.cut = [...document.querySelectorAll("summary")].some((s) => s.scrollWidth > s.clientWidth);
  document.body.style.width = "";
  const client = document.getElementById("client");
  client.value = "1"; client.dispatchEvent(new Event("change"));
  seen.columns = count("thead tr:last-child th") - 1;
  dispatchEvent(new Event("beforeprint"));
  const out = document.createElement("pre");
  out.id = "seen"; out.textContent = JSON.stringify(seen);
  document.body.append(out);
});`

func TestABrowserShowsTheMatrix(t *testing.T) {
	need.Program(t, "chromium", "apt-get install chromium")
	var runs []page.Run
	for _, name := range []string{"first-result-only", "role-user-with-tools"} {
		client := harness.InProcess(mutants.Find(name).Client(reference.Config{Plain: true}, nil), harness.Loopback())
		client.Name = name
		rs, traces, err := (&conformance.Suite{Client: client, Only: []string{"parallel/two-cities"}}).Run(t.Context())
		require.NoError(t, err)
		for _, one := range traces {
			for i := range one.Events {
				if f := one.Events[i].Frame; f != nil {
					f.Raw = bytes.Replace(f.Raw, []byte("{"), []byte(`{"_long":9007199254740993.0,`), 1)
				}
			}
		}
		runs = append(runs, page.Run{Results: rs, Traces: traces})
	}
	path := filepath.Join(t.TempDir(), "page.html")
	text := strings.Replace(string(page.Encode(runs, false)), "<header>", "<script>"+probe+"</script><header>", 1)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	dom, err := exec.CommandContext(t.Context(), "chromium", "--headless", "--no-sandbox", "--disable-gpu",
		"--user-data-dir="+t.TempDir(), "--window-size=1300,900", "--virtual-time-budget=5000", "--dump-dom",
		"file://"+path).Output()
	require.NoError(t, err)
	found := regexp.MustCompile(`<pre id="seen">(.*?)</pre>`).FindSubmatch(dom)
	require.NotNil(t, found, "the page did not get to its end")
	var seen struct {
		Errors                                              []string
		Findings, Scenarios, Checks, Differ, Found, Columns int
		Focused, Cleared, Theme, Wide, Cut, Digits          bool
		Search, Page                                        string
		Arrows                                              int
		Marks                                               []string
	}
	require.NoError(t, json.Unmarshal([]byte(html.UnescapeString(string(found[1]))), &seen))
	require.Empty(t, seen.Errors)
	require.Positive(t, seen.Findings)
	require.Equal(t, 3, seen.Scenarios)
	require.Greater(t, seen.Checks, seen.Differ)
	require.Positive(t, seen.Differ)
	require.True(t, seen.Focused, "j and k move between findings")
	require.Equal(t, "query", seen.Search)
	require.Equal(t, 1, seen.Found)
	require.True(t, seen.Cleared, "a cell of the overview shows its finding, whatever the filters are")
	require.Equal(t, report.CheckPages("")+"parallel.md#results-reach-model", seen.Page)
	require.GreaterOrEqual(t, seen.Arrows, 4)
	require.Contains(t, strings.Join(seen.Marks, "\n"), "eighteen degrees", "the results that the server sent are marked")
	require.True(t, seen.Digits, "a number is shown as it was on the wire")
	require.True(t, seen.Theme)
	require.False(t, seen.Wide, "the page is no wider than the window")
	require.False(t, seen.Cut, "a finding fits a phone")
	require.Equal(t, 2, seen.Columns, "the overview shows the columns of the selected client")
}
