package requirements

import (
	"github.com/mcp-conform/mcp-conform/fakes/server"
)

var progress20251125 = page{server.V20251125, "progress", "basic/utilities/progress", []Statement{
	must("01", "progress-flow", "ff5205d8fd64", "a progress token is a string or an integer"),
	must("02", "progress-flow", "78d75997b5f0", "progress tokens are unique among the active requests"),
	may("03", "progress-flow", "f35f8e33a568", "who works on a request may report progress").excluded(permission),
	must("04", "progress-flow", "f2dd691334e9", "progress rises with every notification"),
	may("05", "progress-flow", "d4f29962584b", "progress and total may be fractions").excluded(permission),
	should("06", "progress-flow", "243bdfeecdf6",
		"the message says something a person can use").excluded("what is useful to a person no check can tell"),
	must("07", "behavior-requirements", "ad7f6581a59a",
		"progress names only tokens of requests that are being worked on"),
	may("08", "behavior-requirements", "13794ce85b6f",
		"there may be no progress, at any pace, and without a total").excluded(permission),
	must("09", "behavior-requirements", "2059500475b8", "a task keeps the token of its request to its end"),
	must("10", "behavior-requirements", "d93c2035f874", "progress of a task comes under the token of its request"),
	must("11", "behavior-requirements", "03cdefa5e5c1", "progress of a task stops when the task has ended"),
	should("12", "implementation-notes", "d3c93aad512f", "both sides keep track of active tokens").excluded(insideOnly),
	should("13", "implementation-notes", "99775c9f1ea2", "both sides limit the rate of progress").excluded(noFigure),
	must("14", "implementation-notes", "33001de82fc8", "no progress comes after the end"),
}}

var progress20260728 = page{server.V20260728, "progress", "basic/patterns/progress", []Statement{
	may("01", "", "581e56063c2e", "a server may report progress").excluded(forServers),
	must("02", "progress-flow", "ff5205d8fd64", "a progress token is a string or an integer"),
	must("03", "progress-flow", "ec44f9ea0108", "progress tokens are unique among the active requests"),
	may("04", "progress-flow", "be5fcb0c53b6", "what a server's progress may hold").excluded(forServers),
	must("05", "progress-flow", "f2dd691334e9", "a server's progress rises").excluded(forServers),
	may("06", "progress-flow", "d4f29962584b", "a server's progress may be a fraction").excluded(forServers),
	should("07", "progress-flow", "243bdfeecdf6", "a server's message is for people").excluded(forServers),
	must("08", "behavior-requirements", "ad7f6581a59a",
		"a server's progress names only tokens of active requests").excluded(forServers),
	may("09", "behavior-requirements", "9111de170fa5", "a server may send no progress").excluded(forServers),
	should("10", "implementation-notes", "9d9f6d2a65d6", "both sides keep track of active tokens").excluded(insideOnly),
	should("11", "implementation-notes", "99775c9f1ea2",
		"both sides limit the rate of progress").excluded("a client sends no progress in this revision"),
	must("12", "implementation-notes", "33001de82fc8", "no progress comes after the end").excluded(forServers),
}}
