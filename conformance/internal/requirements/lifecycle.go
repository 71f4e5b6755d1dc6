package requirements

import (
	"github.com/mcp-conform/mcp-conform/fakes/server"
)

var lifecycle20251125 = page{server.V20251125, "lifecycle", "basic/lifecycle", []Statement{
	should("01", "timeouts", "ed627495b5aa", "every request that is sent has a timeout").excluded(ownPace),
	should("02", "timeouts", "72c909200102", "who waited in vain cancels the request and stops waiting"),
	should("03", "timeouts", "6a2cad29576f",
		"timeouts can be set for each request").excluded("a matter of a library's interface, which no wire shows"),
	may("04", "timeouts", "00e1c8e2b64d", "progress may start the clock again").excluded(permission),
	should("05", "timeouts", "6c2d1fea748e", "there is a longest wait, whatever the progress").excluded(ownPace),
	must("operation", "operation", "", "both sides keep to the version that was agreed on"),
	should("negotiation", "version-negotiation", "", "a client that does not speak the version of the server's answer disconnects"),
	should("shutdown", "stdio", "", "a client that ends closes the server's input, waits, and only then ends the process"),
}}

var ping20251125 = page{server.V20251125, "ping", "basic/utilities/ping", []Statement{
	must("01", "behavior-requirements", "2a241dfe298b", "a ping is answered at once, with an empty result"),
	may("02", "behavior-requirements", "33d7b53bab0c", "who pinged in vain may give the connection up").excluded(permission),
	should("03", "implementation-considerations", "2f7b0a44b169", "pings are sent from time to time").excluded(notSampling),
	should("04", "implementation-considerations", "64779e4b2124", "how often can be set").excluded(notSampling),
	should("05", "implementation-considerations", "9b75d03be2d0", "timeouts are fit for the network").excluded(notSampling),
	should("06", "implementation-considerations", "93045941cd44", "there are not too many pings").excluded(notSampling),
	should("07", "error-handling", "136ccfef8e96", "a ping in vain is taken for a lost connection").excluded(notSampling),
	may("08", "error-handling", "46699a41db4f", "several in vain may end the connection").excluded(permission),
	should("09", "error-handling", "335ae7457759", "pings in vain are logged").excluded(insideOnly),
}}
