package requirements

import (
	"github.com/mcp-conform/mcp-conform/fakes/server"
)

var cancellation20251125 = page{server.V20251125, "cancellation", "basic/utilities/cancellation", []Statement{
	must("01", "behavior-requirements", "be1dfef0ed81",
		"a cancel names a request of one's own that is believed to be running"),
	must("02", "behavior-requirements", "0c1f090189f2", "a client does not cancel initialize"),
	must("03", "behavior-requirements", "ff9b023e5c52",
		"a task is cancelled with tasks/cancel, not with a notification").excluded("binds who asked for the task: in sampling, the server"),
	should("04", "behavior-requirements", "e65c4a587ce4",
		"after a cancel: the work stops, resources are freed, no response is sent"),
	may("05", "behavior-requirements", "9fca03c3b390",
		"a cancel may be ignored where the request is unknown, done, or cannot be stopped").excluded(permission),
	should("06", "behavior-requirements", "269126eb703e", "a response that comes after one's own cancel is ignored"),
	must("07", "timing-considerations", "e993277c3def", "a cancel that crosses the response does no harm"),
	should("08", "implementation-notes", "2ef6b51e97bb", "both sides log why something was cancelled").excluded(insideOnly),
	should("09", "implementation-notes", "7c22e45fd809",
		"an interface shows that something is being cancelled").excluded(forInterfaces),
	should("10", "error-handling", "80556bd0d896",
		"an invalid cancel is ignored: of an unknown request, of one that is done, or malformed"),
}}

var cancellation20260728 = page{server.V20260728, "cancellation", "basic/patterns/cancellation", []Statement{
	should("01", "", "981e1de1541c", "a client that gives up a request says so"),
	must("02", "", "e315cd1c0a12", "a server cancels a subscription when it ends its stream").excluded(forServers),
	must("03", "", "68c7d9df8825", "a server sends no other cancel").excluded(forServers),
	must("04", "transport-specific-cancellation", "0ab0e30955dd",
		"a server takes a closed stream for a cancel of its request").excluded(forServers),
	must("05", "transport-specific-cancellation", "e1786eae42c1",
		"on stdio a client cancels with a notification that names the request"),
	should("06", "timeouts", "ed627495b5aa", "every request that is sent has a timeout").excluded(ownPace),
	should("07", "timeouts", "6ae5730d3f54", "who waited in vain cancels the request and stops waiting"),
	should("08", "timeouts", "6a2cad29576f",
		"timeouts can be set for each request").excluded("a matter of a library's interface, which no wire shows"),
	may("09", "timeouts", "1c5889d3783c", "progress may start the clock again").excluded(permission),
	should("10", "timeouts", "6c2d1fea748e", "there is a longest wait, whatever the progress").excluded(ownPace),
	must("11", "behavior-requirements", "be1dfef0ed81",
		"a cancel names a request of the client's own that is believed to be running"),
	must("12", "behavior-requirements", "175e9971daee", "a server's cancel names a subscription").excluded(forServers),
	should("13", "behavior-requirements", "acfdece4202f",
		"after a cancel a server stops, frees resources and does not respond").excluded(forServers),
	may("14", "behavior-requirements", "207266481dec", "a server may ignore a cancel").excluded(forServers),
	should("15", "behavior-requirements", "5bebb3e9691b", "a response that comes after one's own cancel is ignored"),
	must("16", "timing-considerations", "e993277c3def", "a cancel that crosses the response does no harm"),
	should("17", "implementation-notes", "2ef6b51e97bb", "both sides log why something was cancelled").excluded(insideOnly),
	should("18", "implementation-notes", "7c22e45fd809",
		"an interface shows that something is being cancelled").excluded(forInterfaces),
	should("19", "error-handling", "80556bd0d896",
		"an invalid cancel is ignored").
		excluded("a duty of servers: a client is sent a cancel only for its subscriptions, which sampling does not need"),
}}
