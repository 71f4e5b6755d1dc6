package conformance

var catalogue = Scenarios()
